package io.streamproof;

import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A method that Spark's generated code calls itself, as it calls the getters of an encoded class.
 *
 * <p>A user-defined function would box and convert every argument and the result, for every row. No argument may be null where the
 * method takes a number: Spark would leave the call out, and give null.
 */
final class Called {
  private Called() {}

  /** The call as a column, not deterministic: Spark neither copies it nor moves it. */
  static Column column(Object target, String method, DataType returns, Column... arguments) {
    return call(target, method, returns, false, false, arguments);
  }

  /** The same of a method that gives the same for the same arguments: Spark may copy and move it. */
  static Column pure(Object target, String method, DataType returns, Column... arguments) {
    return call(target, method, returns, false, true, arguments);
  }

  /** The same of a method that can return null. */
  static Column nullable(Object target, String method, DataType returns, Column... arguments) {
    return call(target, method, returns, true, false, arguments);
  }

  private static Column call(Object target, String method, DataType returns, boolean nullable, boolean pure, Column... arguments) {
    List<Expression> given = List.of(arguments).stream().map(ExpressionUtils::expression).toList();
    Seq<Expression> expressions = CollectionConverters.asScala(given).toSeq();
    Literal self = new Literal(target, new ObjectType(target.getClass()));
    return ExpressionUtils.column(new Invoke(self, method, returns, expressions, none(), false, nullable, pure));
  }

  @SuppressWarnings("unchecked")
  private static Seq<AbstractDataType> none() {
    return (Seq<AbstractDataType>) (Seq<?>) Nil$.MODULE$;
  }
}
