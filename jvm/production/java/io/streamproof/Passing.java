package io.streamproof;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/** Counts the rows that are asked for, and lets each pass: {@link #pass} returns true. It costs a row no more than adding one. */
public final class Passing implements Serializable {
  private final String door;
  private final Reports reports;

  private transient Count count;

  public Passing(String door, Reports reports) {
    this.door = door;
    this.reports = reports;
  }

  /** The call as a column (boolean). */
  public Column column() {
    return Called.column(this, "pass", DataTypes.BooleanType);
  }

  public boolean pass() {
    if (count == null) {
      count = new Count();
    }
    count.rows++;
    return true;
  }

  /** As the plan shows it: {@link Execution} finds the door by it. */
  @Override
  public String toString() {
    return "passing_" + Execution.plain(door);
  }

  private final class Count implements TaskCompletionListener, TaskFailureListener {
    private final long batch;
    private long rows;
    private boolean failed;

    Count() {
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
            new Report(door, batch, task.partitionId(), task.taskAttemptId(), null, 0, null, rows, rows, 0, none, none, Map.of()));
      }
    }
  }
}
