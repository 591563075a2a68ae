package io.streamproof;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * Counts the rows that pass and sums their hashes, their hidden record counts and their floating-point columns (R4).
 *
 * <p>{@link #add} returns true: it stands in a filter that keeps everything.
 */
public final class Tally implements Serializable {
  private final String door;
  private final int columns;
  private final Reports reports;

  private transient Sums sums;

  public Tally(String door, int columns, Reports reports) {
    this.door = door;
    this.columns = columns;
    this.reports = reports;
  }

  /** The call as a column (boolean): the hash of a row (bigint), its hidden count (bigint), its floats (array of double). */
  public Column column(Column hash, Column records, Column floats) {
    return Called.column(this, "add", DataTypes.BooleanType, hash, records, floats);
  }

  public boolean add(long hash, long records, ArrayData floats) {
    if (sums == null) {
      sums = new Sums();
    }
    sums.add(hash, records, floats);
    return true;
  }

  /** As the plan shows it: {@link Execution} finds the door by it. */
  @Override
  public String toString() {
    return "tally_" + Execution.plain(door);
  }

  private final class Sums implements TaskCompletionListener, TaskFailureListener {
    private final double[] floats = new double[columns];
    private final double[] absolutes = new double[columns];
    private final long batch;
    private long rows;
    private long records;
    private long hash;
    private boolean failed;

    Sums() {
      TaskContext task = TaskScope.task();
      batch = TaskScope.batch(task);
      task.addTaskFailureListener(this);
      task.addTaskCompletionListener(this);
    }

    void add(long rowHash, long rowRecords, ArrayData rowFloats) {
      rows++;
      hash += rowHash;
      records += rowRecords;
      for (int i = 0; i < columns; i++) {
        if (!rowFloats.isNullAt(i)) {
          double value = rowFloats.getDouble(i);
          floats[i] += value;
          absolutes[i] += Math.abs(value);
        }
      }
    }

    @Override
    public void onTaskFailure(TaskContext task, Throwable error) {
      failed = true;
    }

    @Override
    public void onTaskCompletion(TaskContext task) {
      if (!failed && !task.isInterrupted()) {
        reports.add(
            new Report(
                door, batch, task.partitionId(), task.taskAttemptId(), null, 0, null, rows, records, hash, floats, absolutes, Map.of()));
      }
    }
  }
}
