package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The operators of a streaming plan, as the analyser has left it. */
public final class Operators {
  /** What makes the same of a list in whatever order it is. */
  private static final Set<String> OF_ANY_ORDER = Set.of("sort_array", "array_sort", "size", "array_max", "array_min");

  private static final Set<String> BY_ORDER = Set.of("First", "Last", "AnyValue", "CollectList", "CollectSet", "ListAgg");

  private Operators() {}

  /**
   * Their names from the top, a line each, of those that read the stream: nothing is said of a table that it is joined with. After {@code
   * Generate} stands the name of its function; a join with another stream, or with the same one again, is one {@code of streams}. (Spark itself
   * refuses a subquery that reads a stream.)
   */
  public static String ofStream(Dataset<?> rows) {
    List<String> found = new ArrayList<>();
    visit(rows.queryExecution().analyzed(), found);
    return String.join("\n", found);
  }

  /** Whether the aggregation of a plan calls a function of Python. */
  public static boolean aggregatesInPython(Dataset<?> rows) {
    return aggregatesInPython(rows.queryExecution().analyzed());
  }

  private static boolean aggregatesInPython(LogicalPlan plan) {
    boolean found = plan instanceof Aggregate && CollectionConverters.asJava(plan.expressions()).stream().anyMatch(Operators::isPython);
    return found || CollectionConverters.asJava(plan.children()).stream().anyMatch(Operators::aggregatesInPython);
  }

  private static boolean isPython(Expression expression) {
    return expression.getClass().getSimpleName().equals("PythonUDAF")
        || CollectionConverters.asJava(expression.children()).stream().anyMatch(Operators::isPython);
  }

  /** The columns of an aggregation whose values depend on the order in which rows are aggregated, a line each. */
  public static String dependingOnOrder(Dataset<?> aggregated) {
    List<String> found = new ArrayList<>();
    LogicalPlan plan = aggregated.queryExecution().analyzed();
    while (!(plan instanceof Aggregate) && !plan.children().isEmpty()) {
      plan = plan.children().head();
    }
    if (plan instanceof Aggregate aggregate) {
      for (NamedExpression column : CollectionConverters.asJava(aggregate.aggregateExpressions())) {
        if (dependsOnOrder((Expression) column)) {
          found.add(column.name());
        }
      }
    }
    return String.join("\n", found);
  }

  /** By the names of Spark's classes: since Spark 3.1 it calls these aggregates deterministic, as they are for rows in one order. */
  private static boolean dependsOnOrder(Expression expression) {
    if (OF_ANY_ORDER.contains(expression.prettyName())) {
      return false;
    }
    return (expression instanceof AggregateFunction && BY_ORDER.contains(expression.getClass().getSimpleName()))
        || CollectionConverters.asJava(expression.children()).stream().anyMatch(Operators::dependsOnOrder);
  }

  private static void visit(LogicalPlan plan, List<String> found) {
    if (!plan.isStreaming()) {
      return;
    }
    found.add(name(plan));
    for (Iterator<LogicalPlan> children = plan.children().iterator(); children.hasNext(); ) {
      visit(children.next(), found);
    }
  }

  private static String name(LogicalPlan plan) {
    String name = plan.getClass().getSimpleName();
    if (plan instanceof Generate generate) {
      return name + " " + ((Expression) generate.generator()).prettyName();
    }
    boolean streams = plan instanceof Join join && join.left().isStreaming() && join.right().isStreaming();
    return streams ? name + " of streams" : name;
  }
}
