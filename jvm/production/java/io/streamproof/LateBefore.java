package io.streamproof;

import java.io.IOException;
import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/**
 * The first event time, in microseconds, that is not late in the running batch.
 *
 * <p>The late bound is the watermark of the batch before, from the offset log; batch 0 has 1970-01-01T00:00:00Z (R10). A row is late
 * when its event time is at or below the bound; where its tumbling window decides, when the window ends at or below it. The latter
 * is so for every event time before the start of the window that the bound lies in: a constant of the task, while the window of each
 * row would have to be computed. It is read once per task.
 */
public final class LateBefore implements Serializable {
  private final String checkpoint;
  private final long windowMicros;
  private transient boolean read;
  private transient long instant;

  /** windowMicros is 0 where the event time itself decides. */
  public LateBefore(String checkpoint, long windowMicros) {
    this.checkpoint = checkpoint;
    this.windowMicros = windowMicros;
  }

  /** The call as a column (bigint): another batch, another value. */
  public Column column() {
    return Called.column(this, "instant", DataTypes.LongType);
  }

  public long instant() throws IOException {
    if (!read) {
      long batch = TaskScope.batch(TaskScope.task());
      long bound = batch == 0 ? 0L : OffsetLog.milliseconds(checkpoint, batch - 1, "batchWatermarkMs") * 1000L;
      instant = windowMicros == 0 ? bound + 1 : Math.floorDiv(bound, windowMicros) * windowMicros;
      read = true;
    }
    return instant;
  }

  @Override
  public String toString() {
    return "late bound";
  }
}
