package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.StreamSourceAwareSparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.streaming.StreamingQuery;
import scala.collection.Iterator;

/** What the executed plan of a running query says of its newest batch: rows read, duplicates dropped, doors in the plan. */
public final class Execution {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern DOOR = Pattern.compile("divert_([^(]+)\\(");

  private Execution() {}

  /** Metric sums by name, as JSON: {@code input} and {@code duplicate}; and {@code door:NAME}, how often each divert occurs. */
  public static String ofNewestBatch(SparkSession spark, String name) throws JsonProcessingException {
    Map<String, Long> found = new TreeMap<>();
    for (StreamingQuery query : spark.streams().active()) {
      if (name.equals(query.name()) && query instanceof StreamingQueryWrapper wrapper) {
        SparkPlan plan = wrapper.streamingQuery().lastExecution().executedPlan();
        visit(plan, found);
      }
    }
    return JSON.writeValueAsString(found);
  }

  private static void visit(SparkPlan plan, Map<String, Long> found) {
    if (plan instanceof StreamSourceAwareSparkPlan source && source.getStream().isDefined()) { // not a table that it is joined with
      add(found, "input", plan, "numOutputRows");
    }
    add(found, "duplicate", plan, "numDroppedDuplicateRows");
    Matcher doors = DOOR.matcher(plan.expressions().toString());
    while (doors.find()) {
      found.merge("door:" + doors.group(1), 1L, Long::sum);
    }
    Iterator<SparkPlan> children = plan.children().iterator();
    while (children.hasNext()) {
      visit(children.next(), found);
    }
  }

  private static void add(Map<String, Long> found, String key, SparkPlan plan, String metric) {
    scala.Option<SQLMetric> value = plan.metrics().get(metric);
    if (value.isDefined()) {
      found.merge(key, value.get().value(), Long::sum);
    }
  }
}
