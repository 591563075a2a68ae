package io.streamproof;

import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/**
 * Which ends of windows are asked for: those above one instant and up to another, microseconds.
 *
 * <p>The two travel with each task. In the plan, they would be part of the generated code, which would be compiled anew for each batch.
 */
public final class Ends implements Serializable {
  private static final long serialVersionUID = 1L;

  private long above;
  private long upTo;

  void are(long above, long upTo) {
    this.above = above;
    this.upTo = upTo;
  }

  long above() {
    return above;
  }

  long upTo() {
    return upTo;
  }

  /** Whether an end (bigint) is asked for, as a column (boolean). */
  Column column(Column end) {
    return Called.column(this, "has", DataTypes.BooleanType, end);
  }

  public boolean has(long end) {
    return end > above && end <= upTo;
  }

  @Override
  public String toString() {
    return "ends";
  }
}
