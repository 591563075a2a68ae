package io.streamproof;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * Counts the rows that leave by one door for one reason, and of which nothing is written.
 *
 * <p>{@link #leave} returns false, so that the filter it stands in drops the row. It says the same as a {@link Divert} without a directory
 * whose rows are null, and costs a row an addition: most rows may leave by a filter.
 */
public final class CountedOut implements Serializable {
  private static final long NO_ROW = XXH64.hashUnsafeBytes(new byte[0], Platform.BYTE_ARRAY_OFFSET, 0, SideFile.SEED);

  private final String door;
  private final String reason;
  private final Reports reports;

  private transient Rows rows;

  public CountedOut(String door, String reason, Reports reports) {
    this.door = door;
    this.reason = reason;
    this.reports = reports;
  }

  /** The call as a column (boolean). */
  public Column column() {
    return Called.column(this, "leave", DataTypes.BooleanType);
  }

  public boolean leave() {
    if (rows == null) {
      rows = new Rows();
    }
    rows.number++;
    return false;
  }

  /** As the plan shows it: {@link Execution} finds the door by it. */
  @Override
  public String toString() {
    return "counted_" + Execution.plain(door);
  }

  private final class Rows implements TaskCompletionListener, TaskFailureListener {
    private final long batch;
    private long number;
    private boolean failed;

    Rows() {
      TaskContext task = TaskScope.task();
      batch = TaskScope.batch(task);
      task.addTaskFailureListener(this);
      task.addTaskCompletionListener(this);
    }

    @Override
    public void onTaskFailure(TaskContext task, Throwable error) {
      failed = true;
    }

    @Override
    public void onTaskCompletion(TaskContext task) {
      if (!failed && !task.isInterrupted()) {
        double[] none = new double[0];
        reports.add(
            new Report(
                door,
                batch,
                task.partitionId(),
                task.taskAttemptId(),
                null,
                0,
                null,
                number,
                number,
                number * NO_ROW,
                none,
                none,
                Map.of(reason, number)));
      }
    }
  }
}
