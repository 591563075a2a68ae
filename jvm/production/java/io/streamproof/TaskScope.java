package io.streamproof;

import org.apache.spark.TaskContext;

/** The batch and the task that a user-defined function is running in. */
final class TaskScope {
  private static final String BATCH = "streaming.sql.batchId";

  private TaskScope() {}

  static TaskContext task() {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("streamproof: a side output was evaluated outside a Spark task");
    }
    return task;
  }

  /** The batch id; a task without one (a sink working in a thread of its own) cannot deliver side outputs (R5). */
  static long batch(TaskContext task) {
    String batch = task.getLocalProperty(BATCH);
    if (batch == null) {
      throw new IllegalStateException(
          "streamproof: the task has no batch id; side outputs and sums need to run in the thread of the streaming query");
    }
    return Long.parseLong(batch);
  }
}
