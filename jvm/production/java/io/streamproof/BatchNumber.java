package io.streamproof;

import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/** The number of the running batch; it is asked for once per task. */
public final class BatchNumber implements Serializable {
  private transient boolean read;
  private transient long number;

  /** The call as a column (bigint): another batch, another value. */
  public Column column() {
    return Called.column(this, "number", DataTypes.LongType);
  }

  public long number() {
    if (!read) {
      number = TaskScope.batch(TaskScope.task());
      read = true;
    }
    return number;
  }

  @Override
  public String toString() {
    return "batch number";
  }
}
