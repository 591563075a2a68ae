package io.streamproof;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.util.AccumulatorV2;
import scala.collection.Iterator;

/**
 * An accumulator of which a listener says from which task each update is: before 4.2 the scheduler tells the update alone.
 *
 * <p>A listener is told later, and can miss a task. So the updates that the scheduler has merged are counted, and {@link #settle} waits for as
 * many.
 */
abstract class ToldOfTasks extends AccumulatorV2<Object, Object> {
  private static final String QUEUE = "streamproof";
  private static final long WITHIN_SECONDS = 60;

  private final transient SparkContext context = SparkContext$.MODULE$.getActive().get();
  private final transient Listener listener = new Listener();
  private long merged;
  private long heard;

  ToldOfTasks() {
    context.listenerBus().addToQueue(listener, QUEUE);
  }

  /** What a task has counted; the same task can be told again. */
  abstract void told(int rdd, int partition, long count);

  @Override
  public synchronized void merge(AccumulatorV2<Object, Object> update) {
    if (!update.isZero()) { // of zeros no listener hears
      merged++;
    }
  }

  /** Waits until the tasks of all updates are known. */
  synchronized void settle() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(WITHIN_SECONDS);
    while (heard < merged) {
      long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
      if (left <= 0) {
        throw new IllegalStateException(
            "Spark has told a listener of " + heard + " of " + merged + " tasks, so whether one was counted twice is not known."
                + " A restart computes the batch again; spark.scheduler.listenerbus.eventqueue.capacity gives the listener more room.");
      }
      wait(left);
    }
  }

  public void close() {
    context.listenerBus().removeListener(listener);
  }

  private synchronized void heard(int rdd, int partition, long count) {
    told(rdd, partition, count);
    heard++;
    notifyAll();
  }

  private final class Listener extends SparkListener {
    private final Map<Integer, Integer> rdds = new HashMap<>();

    /** The first data set of a stage is the one that its tasks compute. */
    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted event) {
      rdds.put(event.stageInfo().stageId(), event.stageInfo().rddInfos().head().id());
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd event) {
      for (Iterator<AccumulableInfo> all = event.taskInfo().accumulables().iterator(); all.hasNext(); ) {
        AccumulableInfo update = all.next();
        if (update.id() == id() && update.update().isDefined()) {
          heard(rdds.get(event.stageId()), event.taskInfo().partitionId(), ((Number) update.update().get()).longValue());
        }
      }
    }
  }
}
