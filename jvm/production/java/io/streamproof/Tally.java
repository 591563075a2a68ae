package io.streamproof;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import scala.collection.Seq;

/**
 * Counts the rows that pass and sums their hashes, their hidden record counts and their floating-point columns (R4).
 *
 * <p>{@code tally(hash, records, floats)} returns true: it stands in a filter that keeps everything.
 */
public final class Tally implements UDF3<Long, Long, Seq<Double>, Boolean> {
  private final String door;
  private final int columns;
  private final Reports reports;

  private transient Sums sums;

  public Tally(String door, int columns, Reports reports) {
    this.door = door;
    this.columns = columns;
    this.reports = reports;
  }

  @Override
  public Boolean call(Long hash, Long records, Seq<Double> floats) {
    if (sums == null) {
      sums = new Sums();
    }
    sums.add(hash, records, floats);
    return Boolean.TRUE;
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

    void add(Long rowHash, Long rowRecords, Seq<Double> rowFloats) {
      rows++;
      hash += rowHash;
      records += rowRecords == null ? 0 : rowRecords;
      for (int i = 0; i < columns; i++) {
        Double value = rowFloats.apply(i);
        if (value != null) {
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
