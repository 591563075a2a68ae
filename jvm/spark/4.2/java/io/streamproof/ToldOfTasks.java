package io.streamproof;

import java.util.Properties;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.util.AccumulatorV2;
import org.apache.spark.util.LastAttemptAccumulator;
import org.apache.spark.util.LastAttemptMap;
import org.apache.spark.util.LastAttemptRDDVals;
import org.slf4j.Logger;
import scala.Option;
import scala.reflect.ClassTag;

/**
 * An accumulator of which the scheduler says from which task each update is, in its own thread and before the job is done.
 *
 * <p>Spark does so for accumulators of last attempts alone. What that trait remembers by itself is not asked for, since it leaves updates of
 * zero out; all that is below is what a class has to have for it, and nobody calls it.
 */
abstract class ToldOfTasks extends AccumulatorV2<Object, Object> implements LastAttemptAccumulator<Object, Object, Object> {
  /** What a task has counted; the same task can be told again. */
  abstract void told(int rdd, int partition, long count);

  @Override
  public void mergeLastAttempt(
      AccumulatorV2<?, ?> update, RDD<?> rdd, TaskInfo task, int stage, int stageAttempt, Properties properties) {
    told(rdd.id(), task.partitionId(), (Long) update.value());
  }

  @Override
  public void merge(AccumulatorV2<Object, Object> update) {}

  /** Waits until the tasks of all updates are known: here they are. */
  void settle() {}

  public void close() {}

  @Override
  public boolean accumulatorStoresUserData() {
    return false;
  }

  @Override
  public Object partialMergeVal() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void partialMerge(Object other) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isMergeable(AccumulatorV2<?, ?> other) {
    return false;
  }

  @Override
  public boolean lastAttemptAccumulatorInvalid() {
    return true;
  }

  @Override
  public void lastAttemptAccumulatorInvalid_$eq(boolean invalid) {}

  @Override
  public boolean lastAttemptAccumulatorInitialized() {
    return false;
  }

  @Override
  public void lastAttemptAccumulatorInitialized_$eq(boolean initialized) {}

  @Override
  public LastAttemptMap<Object, LastAttemptRDDVals<Object>> org$apache$spark$util$LastAttemptAccumulator$$lastAttemptRddsMap() {
    return null;
  }

  @Override
  public void org$apache$spark$util$LastAttemptAccumulator$$lastAttemptRddsMap_$eq(
      LastAttemptMap<Object, LastAttemptRDDVals<Object>> map) {}

  @Override
  public ClassTag<Object> org$apache$spark$util$LastAttemptAccumulator$$partialClassTag() {
    return null;
  }

  @Override
  public void org$apache$spark$util$LastAttemptAccumulator$$partialClassTag_$eq(ClassTag<Object> tag) {}

  @Override
  public Option<Object> org$apache$spark$util$LastAttemptAccumulator$$lastAttemptDirectDriverValue() {
    return Option.empty();
  }

  @Override
  public void org$apache$spark$util$LastAttemptAccumulator$$lastAttemptDirectDriverValue_$eq(Option<Object> value) {}

  @Override
  public Logger org$apache$spark$internal$Logging$$log_() {
    return null;
  }

  @Override
  public void org$apache$spark$internal$Logging$$log__$eq(Logger logger) {}
}
