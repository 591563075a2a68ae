package io.streamproof;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.StreamSourceAwareSparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.Iterator;

/** What the executed plan of a batch says of it, from here to its close: rows read, duplicates dropped, doors in the plan. */
final class Execution implements AutoCloseable {
  private static final Pattern DOOR = Pattern.compile("divert_([^(]+)\\(|tally_([^.]+)\\.add|counted_([\\w.*+%-]+)\\.leave");

  private final Map<String, List<CountedByTask>> counted = new TreeMap<>();
  private final Map<String, Long> doors = new TreeMap<>();

  Execution(SparkPlan plan) {
    visit(plan);
  }

  /** Sums by name: {@code input} and {@code duplicate}, of a join {@code held}, {@code met} and {@code dropped}; and {@code door:NAME}, how often each door occurs. */
  Map<String, Long> sums() throws InterruptedException {
    Map<String, Long> found = new TreeMap<>(doors);
    for (List<CountedByTask> metrics : counted.values()) {
      for (CountedByTask metric : metrics) {
        metric.settle();
      }
    }
    counted.forEach((name, metrics) -> found.put(name, metrics.stream().mapToLong(CountedByTask::count).sum()));
    return found;
  }

  Map<String, Long> doors() {
    return doors;
  }

  @Override
  public void close() {
    counted.values().forEach(metrics -> metrics.forEach(CountedByTask::close));
  }

  private void visit(SparkPlan plan) {
    if (plan instanceof StreamSourceAwareSparkPlan source && source.getStream().isDefined()) { // not a table that it is joined with
      count("input", plan, "numOutputRows");
    }
    count("duplicate", plan, "numDroppedDuplicateRows");
    if (plan.getClass().getSimpleName().equals("StreamingSymmetricHashJoinExec")) { // its package differs between versions of Spark
      count("held", plan, "numTotalStateRows");
      count("met", plan, "numOutputRows");
      count("dropped", plan, "numRowsDroppedByWatermark");
    }
    Matcher found = DOOR.matcher(plan.expressions().toString());
    while (found.find()) {
      doors.merge("door:" + name(found), 1L, Long::sum);
    }
    Iterator<SparkPlan> children = plan.children().iterator();
    while (children.hasNext()) {
      visit(children.next());
    }
  }

  /** A door as the plan names it: its name has what a user has written, brackets too. */
  static String plain(String door) {
    return URLEncoder.encode(door, StandardCharsets.UTF_8);
  }

  private static String name(Matcher found) {
    String written = found.group(1) != null ? found.group(1) : found.group(2) != null ? found.group(2) : found.group(3);
    return URLDecoder.decode(written, StandardCharsets.UTF_8);
  }

  private void count(String name, SparkPlan plan, String metric) {
    scala.Option<SQLMetric> found = plan.metrics().get(metric);
    if (found.isDefined()) {
      counted.computeIfAbsent(name, key -> new ArrayList<>()).add(new CountedByTask(found.get()));
    }
  }
}
