package io.streamproof;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionRef;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.With;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An aggregate that a user declares by expressions: what its buffer starts as, takes in, merges and ends as.
 *
 * <p>Spark compiles it into the loop of the aggregation as it does its own; the buffer is columns of the state. The expressions come
 * analysed, as projections of relations that have the buffer's fields and the row's columns: here only the columns are put in their places.
 */
public final class Accumulator extends DeclarativeAggregate {
  private final Seq<Expression> inputs;
  private final Declared declared;
  private final List<AttributeReference> buffer = new ArrayList<>();

  public Accumulator(Seq<Expression> inputs, Declared declared) {
    this.inputs = inputs;
    this.declared = declared;
    for (Expression first : declared.zero.made) {
      // With ids of its own, as in Spark's aggregates: a copy is another aggregate.
      buffer.add(attribute("buffer" + buffer.size(), first.dataType()));
    }
  }

  /**
   * The aggregate as a column.
   *
   * @param zero projection of any relation, a column for each field of the buffer
   * @param add the same of a relation of the buffer's fields and then the row's columns
   * @param merge the same of a relation of the fields of one buffer and then those of another
   * @param result one column of a relation of the buffer's fields
   */
  public static Column column(Dataset<?> zero, Dataset<?> add, Dataset<?> merge, Dataset<?> result) {
    Declared declared = new Declared(new Template(zero), new Template(add), new Template(merge), new Template(result));
    Seq<Expression> inputs = seq(map(declared.read(), read -> ExpressionUtils.expression(functions.col(quoted(read.name())))));
    return ExpressionUtils.column(new Accumulator(inputs, declared).toAggregateExpression());
  }

  /**
   * Why columns cannot stand in an accumulator, in a word or two: a line for each column, which is empty where it can.
   *
   * <p>Where an expression has an aggregate in it, Spark makes no projection; then there is one line for all.
   */
  public static String unfit(Dataset<?> projection) {
    LogicalPlan plan = projection.queryExecution().analyzed();
    if (!(plan instanceof Project)) {
      return "aggregate";
    }
    return new Template(projection).made.stream().map(Accumulator::unfitOfColumn).collect(Collectors.joining("\n"));
  }

  private static String unfitOfColumn(Expression made) {
    boolean fixed = made.deterministic() && !made.containsPattern(TreePattern.CURRENT_LIKE()); // the clock's are replaced in plans only
    return fixed ? unfit(made) : "not deterministic";
  }

  private static String unfit(Expression expression) {
    if (expression.getClass().getSimpleName().startsWith("Python")) {
      return "python";
    }
    if (expression instanceof Unevaluable && !(expression instanceof Attribute)) {
      return "Spark cannot compute " + expression.prettyName() + " inside an aggregate";
    }
    return list(expression.children()).stream().map(Accumulator::unfit).filter(why -> !why.isEmpty()).findFirst().orElse("");
  }

  private static AttributeReference attribute(String name, DataType type) {
    return new AttributeReference(name, type, true, Metadata.empty(), NamedExpression.newExprId(), seq(List.of()));
  }

  private static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  @Override
  public Seq<AttributeReference> aggBufferAttributes() {
    return seq(buffer);
  }

  @Override
  public Seq<Expression> initialValues() {
    return seq(declared.zero.made);
  }

  @Override
  public Seq<Expression> updateExpressions() {
    Map<Attribute, Expression> places = new HashMap<>();
    fill(places, declared.add.columns, buffer);
    fill(places, declared.read(), list(inputs));
    return seq(declared.add.in(places));
  }

  @Override
  public Seq<Expression> mergeExpressions() {
    List<Expression> both = new ArrayList<>(buffer);
    both.addAll(list(inputAggBufferAttributes()));
    return seq(declared.merge.in(fill(new HashMap<>(), declared.merge.columns, both)));
  }

  @Override
  public Expression evaluateExpression() {
    return declared.result.in(fill(new HashMap<>(), declared.result.columns, buffer)).get(0);
  }

  private static Map<Attribute, Expression> fill(
      Map<Attribute, Expression> places, List<Attribute> columns, List<? extends Expression> with) {
    for (int place = 0; place < with.size(); place++) {
      places.put(columns.get(place), with.get(place));
    }
    return places;
  }

  @Override
  public DataType dataType() {
    return declared.result.made.get(0).dataType();
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public Seq<Expression> children() {
    return inputs;
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new Accumulator(children.toSeq(), declared);
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? inputs : declared;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Accumulator;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Accumulator
        && ((Accumulator) other).declared == declared
        && ((Accumulator) other).inputs.equals(inputs);
  }

  @Override
  public int hashCode() {
    return inputs.hashCode();
  }

  private static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }

  private static <T> List<T> list(scala.collection.Seq<T> values) {
    return new ArrayList<>(CollectionConverters.asJava(values));
  }

  private static <A, B> List<B> map(List<A> values, Function<A, B> function) {
    List<B> mapped = new ArrayList<>();
    values.forEach(value -> mapped.add(function.apply(value)));
    return mapped;
  }

  /** The four templates. */
  public static final class Declared implements Serializable {
    final Template zero;
    final Template add;
    final Template merge;
    final Template result;

    Declared(Template zero, Template add, Template merge, Template result) {
      this.zero = zero;
      this.add = add;
      this.merge = merge;
      this.result = result;
    }

    /** The columns of the row that are read, in their order. */
    List<Attribute> read() {
      List<Attribute> columns = new ArrayList<>(add.columns.subList(zero.made.size(), add.columns.size()));
      columns.retainAll(add.mentioned());
      return columns;
    }

    @Override
    public String toString() {
      return String.valueOf(result.made.get(0));
    }
  }

  /** Analysed expressions, and the columns that stand in them until others take their places. */
  static final class Template implements Serializable {
    final List<Expression> made = new ArrayList<>();
    final List<Attribute> columns;

    Template(Dataset<?> projection) {
      Project project = (Project) projection.queryExecution().analyzed();
      for (NamedExpression column : list(project.projectList())) {
        made.add(evaluable(column instanceof Alias ? ((Alias) column).child() : (Expression) column, new HashMap<>()));
      }
      columns = list(((LogicalPlan) project.child()).output());
    }

    List<Expression> in(Map<Attribute, Expression> places) {
      Map<Object, Expression> byId = new HashMap<>();
      places.forEach((column, with) -> byId.put(column.exprId(), with));
      return map(made, one -> replaced(one, byId));
    }

    List<Attribute> mentioned() {
      Map<Object, Attribute> found = new LinkedHashMap<>();
      made.forEach(one -> collect(one, found));
      return new ArrayList<>(found.values());
    }

    private static void collect(Expression expression, Map<Object, Attribute> found) {
      if (expression instanceof Attribute) {
        found.put(((Attribute) expression).exprId(), (Attribute) expression);
      }
      list(expression.children()).forEach(below -> collect(below, found));
    }

    private static Expression replaced(Expression expression, Map<Object, Expression> byId) {
      if (expression instanceof Attribute) {
        return byId.getOrDefault(((Attribute) expression).exprId(), expression);
      }
      return onChildren(expression, below -> replaced(below, byId));
    }

    /** What Spark's optimizer would do: it does not look into an aggregate. */
    private static Expression evaluable(Expression expression, Map<Object, Expression> common) {
      if (expression instanceof RuntimeReplaceable) {
        return evaluable(((RuntimeReplaceable) expression).replacement(), common);
      }
      if (expression instanceof CommonExpressionRef) {
        return common.get(((CommonExpressionRef) expression).id());
      }
      if (expression instanceof With) {
        for (CommonExpressionDef one : list(((With) expression).defs())) {
          common.put(one.id(), evaluable(one.child(), common));
        }
        return evaluable(((With) expression).child(), common);
      }
      return onChildren(expression, below -> evaluable(below, common));
    }

    private static Expression onChildren(Expression expression, Function<Expression, Expression> function) {
      List<Expression> below = list(expression.children());
      return below.isEmpty() ? expression : expression.withNewChildren(seq(map(below, function)));
    }
  }
}
