package io.streamproof;

import java.io.IOException;
import org.apache.spark.sql.api.java.UDF0;

/**
 * The running batch's own timestamp in microseconds, from the offset log: the same when the batch runs again (R13).
 *
 * <p>Spark's {@code current_timestamp()} is the same instant, but it is written into the generated code, which is then compiled anew
 * for every batch.
 */
public final class BatchClock implements UDF0<Long> {
  private final String checkpoint;
  private transient Long instant;

  public BatchClock(String checkpoint) {
    this.checkpoint = checkpoint;
  }

  @Override
  public Long call() throws IOException {
    if (instant == null) {
      instant = OffsetLog.milliseconds(checkpoint, TaskScope.batch(TaskScope.task()), "batchTimestampMs") * 1000L;
    }
    return instant;
  }
}
