package io.streamproof;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.Dataset;
import scala.collection.Iterable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Which columns of a query's sources each column of its output is made of, by the analysed plan.
 *
 * <p>What decides which rows there are (a filter, a key) is no origin. A column that a function over rows has made, such as one in Python over
 * batches or keyed state, has none that a plan knows.
 */
public final class ColumnOrigins {
  private static final int IDENTITY = 0;
  private static final int TRANSFORMATION = 1;
  private static final int AGGREGATION = 2;
  private static final List<String> SAID = List.of("IDENTITY", "TRANSFORMATION", "AGGREGATION");

  /** How an attribute is made: of which others, by what; or by a step that hides it. */
  private record Made(Set<Long> of, int by, String hiddenBy) {}

  /** What a column of the output is made of: by a column of a source, "source column", by what at most; and the steps that hide more. */
  private record Origins(Map<String, Integer> of, Set<String> hiddenBy) {}

  private final Map<Long, String> ofSources = new HashMap<>();
  private final Map<Long, Made> made = new HashMap<>();
  private final Map<Long, Origins> known = new HashMap<>();

  private ColumnOrigins() {}

  /**
   * By column of the output a line for each column that it is made of, "IDENTITY source column", and "HIDDEN step" where a step hides what it
   * is made of.
   *
   * @param sources by name the rows of each source, of which the output was made
   */
  public static Map<String, String> of(Dataset<?> rows, Map<String, Dataset<?>> sources) {
    ColumnOrigins found = new ColumnOrigins();
    sources.forEach(
        (name, read) -> {
          for (Attribute column : each(read.queryExecution().analyzed().output())) {
            found.ofSources.put(column.exprId().id(), name + " " + column.name());
          }
        });
    LogicalPlan plan = rows.queryExecution().analyzed();
    found.learn(plan);
    Map<String, String> said = new LinkedHashMap<>();
    for (Attribute column : each(plan.output())) {
      Origins origins = found.origins(column.exprId().id());
      List<String> lines = new ArrayList<>();
      origins.of().forEach((name, by) -> lines.add(SAID.get(by) + " " + name));
      origins.hiddenBy().forEach(step -> lines.add("HIDDEN " + step));
      said.put(column.name(), String.join("\n", lines));
    }
    return said;
  }

  private void learn(LogicalPlan plan) {
    Set<Long> coming = new LinkedHashSet<>();
    for (LogicalPlan child : each(plan.children())) {
      learn(child);
      each(child.output()).forEach(column -> coming.add(column.exprId().id()));
    }
    for (Expression expression : each(plan.expressions())) {
      if (expression instanceof Alias alias) {
        made.put(alias.exprId().id(), new Made(ids(alias.references().toSeq()), by(alias.child()), null));
      }
    }
    List<Attribute> output = list(plan.output());
    for (int place = 0; place < output.size(); place++) {
      long id = output.get(place).exprId().id();
      if (plan instanceof Union) {
        Set<Long> parts = new LinkedHashSet<>();
        for (LogicalPlan child : each(plan.children())) {
          parts.add(list(child.output()).get(place).exprId().id());
        }
        parts.remove(id);
        Made before = made.get(id);
        if (before != null) {
          parts.addAll(before.of());
        }
        if (!parts.isEmpty() && !ofSources.containsKey(id)) {
          made.put(id, new Made(parts, before == null ? IDENTITY : before.by(), before == null ? null : before.hiddenBy()));
        } else if (!parts.isEmpty()) {
          united.put(id, parts);
        }
      } else if (!coming.contains(id) && !made.containsKey(id)) {
        made.put(id, new Made(Set.of(), TRANSFORMATION, plan.nodeName()));
      }
    }
  }

  /** Of a union whose first part comes from a source as it is, the columns of the others: its output has the ids of the first. */
  private final Map<Long, Set<Long>> united = new HashMap<>();

  private Origins origins(long id) {
    Origins before = known.get(id);
    if (before != null) {
      return before;
    }
    Origins found = new Origins(new TreeMap<>(), new LinkedHashSet<>());
    known.put(id, found);
    String source = ofSources.get(id);
    if (source != null) {
      found.of().put(source, IDENTITY);
      united.getOrDefault(id, Set.of()).forEach(part -> add(found, origins(part), IDENTITY));
      return found;
    }
    Made how = made.get(id);
    if (how == null) {
      return found;
    }
    if (how.hiddenBy() != null) {
      found.hiddenBy().add(how.hiddenBy());
    }
    how.of().forEach(part -> add(found, origins(part), how.by()));
    return found;
  }

  private static void add(Origins to, Origins from, int by) {
    from.of().forEach((name, before) -> to.of().merge(name, Math.max(before, by), Math::max));
    to.hiddenBy().addAll(from.hiddenBy());
  }

  private static int by(Expression child) {
    if (child instanceof Attribute) {
      return IDENTITY;
    }
    return has(child) ? AGGREGATION : TRANSFORMATION;
  }

  private static boolean has(Expression expression) {
    if (expression instanceof AggregateExpression) {
      return true;
    }
    for (Expression child : each(expression.children())) {
      if (has(child)) {
        return true;
      }
    }
    return false;
  }

  private static Set<Long> ids(Iterable<Attribute> attributes) {
    Set<Long> ids = new LinkedHashSet<>();
    each(attributes).forEach(attribute -> ids.add(attribute.exprId().id()));
    return ids;
  }

  private static <T> java.lang.Iterable<T> each(Iterable<T> values) {
    return CollectionConverters.asJava(values);
  }

  private static <T> List<T> list(scala.collection.Seq<T> values) {
    return CollectionConverters.asJava(values);
  }
}
