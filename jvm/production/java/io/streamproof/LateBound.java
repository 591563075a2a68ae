package io.streamproof;

import java.io.IOException;
import org.apache.spark.sql.api.java.UDF0;

/**
 * The late bound of the running batch in microseconds: the watermark of the batch before, from the offset log (R10).
 *
 * <p>It is read once per task. Batch 0 has the bound 1970-01-01T00:00:00Z.
 */
public final class LateBound implements UDF0<Long> {
  private final String checkpoint;
  private transient Long bound;

  public LateBound(String checkpoint) {
    this.checkpoint = checkpoint;
  }

  @Override
  public Long call() throws IOException {
    if (bound == null) {
      long batch = TaskScope.batch(TaskScope.task());
      bound = batch == 0 ? 0L : OffsetLog.milliseconds(checkpoint, batch - 1, "batchWatermarkMs") * 1000L;
    }
    return bound;
  }
}
