package io.streamproof;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;

/**
 * What a SQL metric counts, each task once (R15).
 *
 * <p>Spark adds up what every finished attempt of a task has counted: a map stage that runs again, since an executor or a file of its shuffle
 * was lost, counts its records again. Until it is closed this one stands in the metric's place in Spark's register, where the scheduler looks
 * for whom an update is.
 */
final class CountedByTask extends ToldOfTasks implements AutoCloseable {
  private final AccumulatorV2<Object, Object> metric;
  private final Map<Task, Long> counts = new HashMap<>();

  CountedByTask(SQLMetric metric) {
    this.metric = metric;
    metadata_$eq(metric.metadata());
    register(this);
  }

  /** An attempt takes the place of an earlier one of the same task. */
  @Override
  synchronized void told(int rdd, int partition, long count) {
    counts.put(new Task(rdd, partition), count);
  }

  synchronized long count() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What comes later is for the metric again. */
  @Override
  public void close() {
    register(metric);
    super.close();
  }

  private static void register(AccumulatorV2<?, ?> accumulator) {
    AccumulatorContext.remove(accumulator.id());
    AccumulatorContext.register(accumulator);
  }

  // What Spark itself shows is the metric's own sum.

  @Override
  public void merge(AccumulatorV2<Object, Object> update) {
    super.merge(update);
    metric.merge(update);
  }

  @Override
  public AccumulableInfo toInfo(Option<Object> update, Option<Object> value) {
    return metric.toInfo(update, value);
  }

  @Override
  public Object value() {
    return metric.value();
  }

  @Override
  public boolean isZero() {
    return metric.isZero();
  }

  @Override
  public AccumulatorV2<Object, Object> copy() {
    return metric.copy();
  }

  @Override
  public void reset() {
    metric.reset();
  }

  @Override
  public void add(Object more) {
    metric.add(more);
  }

  /** A stage that is made anew for output that was lost has another number, and computes partitions of the same data set. */
  private record Task(int rdd, int partition) {}
}
