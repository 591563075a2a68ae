package io.streamproof;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * Which rows of a task are looked at, and what was seen of them: the first are all looked at, then one of many. A task that fails reports
 * nothing.
 */
abstract class RowSample implements TaskCompletionListener, TaskFailureListener {
  /** Of the rows of a task so many are all looked at, and then one of so many: a prime, so that no rhythm of the rows meets it. */
  private static final long FIRST = 4096;

  private static final int EVERY = 61;

  final long batch;
  private final String door;
  private final Reports reports;
  private long rows;
  private int left = EVERY;
  private boolean failed;

  RowSample(String door, Reports reports) {
    this.door = door;
    this.reports = reports;
    TaskContext task = TaskScope.task();
    batch = TaskScope.batch(task);
    task.addTaskFailureListener(this);
    task.addTaskCompletionListener(this);
  }

  /** Whether the next row is one of those that are looked at. */
  final boolean looks() {
    return rows++ < FIRST || --left == 0;
  }

  /** For how many rows the one stands that is looked at now. */
  final int weight() {
    left = EVERY;
    return rows <= FIRST ? 1 : EVERY;
  }

  /** What was seen, as it is reported. */
  abstract Map<String, Long> found();

  @Override
  public final void onTaskFailure(TaskContext task, Throwable error) {
    failed = true;
  }

  @Override
  public final void onTaskCompletion(TaskContext task) {
    if (!failed && !task.isInterrupted()) {
      double[] none = new double[0];
      reports.add(
          new Report(door, batch, task.partitionId(), task.taskAttemptId(), null, 0, null, 0, rows, 0, none, none, found()));
    }
  }
}
