package io.streamproof;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Writes down the rows that Spark's deduplication drops, which it does silently.
 *
 * <p>It stands on both sides of the operator, in the same task: {@link #came} is called for each row that goes in, {@link #passed} for each
 * one that comes out. The operator takes one row at a time and gives it on before it takes the next: a row that has not come out when
 * the next one goes in, or the task ends, was dropped.
 */
public final class Dropped implements Serializable {
  /** By name and task what both sides share: Spark may have given each of them a copy of this object. */
  private static final ConcurrentMap<Task, Between> TASKS = new ConcurrentHashMap<>();

  private final String door;
  private final String directory;
  private final String run;
  private final Reports reports;
  private final String reason;
  private final String columns;
  private final Map<String, String> options;
  private final String zone;

  private transient Between between;

  Dropped(
      String door,
      String directory,
      String run,
      Reports reports,
      String reason,
      String columns,
      Map<String, String> options,
      String zone) {
    this.door = door;
    this.directory = directory;
    this.run = run;
    this.reports = reports;
    this.reason = reason;
    this.columns = columns;
    this.options = new HashMap<>(options);
    this.zone = zone;
  }

  /** True (boolean), after having remembered what is written of the row, a struct, if it does not come out. */
  public Column before(Column row) {
    return Called.column(this, "came", DataTypes.BooleanType, row);
  }

  /** True (boolean) of a row that has come out. */
  public Column behind() {
    return Called.column(this, "passed", DataTypes.BooleanType);
  }

  public boolean came(InternalRow row) throws IOException {
    if (between == null) {
      TaskContext task = TaskScope.task();
      between = new Between(task);
      if (TASKS.putIfAbsent(new Task(run, door, task.taskAttemptId()), between) != null) {
        throw new IllegalStateException("streamproof: two deduplications of a task write the rows that they drop by one door, " + door);
      }
      task.addTaskFailureListener(between);
      task.addTaskCompletionListener(between);
    }
    between.takes(row);
    return true;
  }

  public boolean passed() {
    if (between == null) {
      between = TASKS.get(new Task(run, door, TaskScope.task().taskAttemptId()));
    }
    if (between == null || between.row == null) {
      throw new IllegalStateException("streamproof: a row came out of a deduplication that had not gone into it in this task, at " + door);
    }
    between.row = null;
    return true;
  }

  @Override
  public String toString() {
    return "dropped";
  }

  private record Task(String run, String door, long attempt) {}

  /** The row that is in the operator, and the file of those that did not come out. */
  private final class Between implements TaskCompletionListener, TaskFailureListener {
    private final StructsToJsonEvaluator json;
    private final TaskContext task;
    private InternalRow row;
    private SideFile file;
    private boolean failed;

    Between(TaskContext task) {
      this.task = task;
      json = new StructsToJsonEvaluator(Map$.MODULE$.from(CollectionConverters.asScala(options)), DataType.fromJson(columns), Option.apply(zone));
    }

    void takes(InternalRow next) throws IOException {
      write();
      row = next.copy();
    }

    private void write() throws IOException {
      if (row == null) {
        return;
      }
      if (file == null) {
        file = new SideFile(door, directory, run, reports, task);
      }
      file.append(((UTF8String) json.evaluate(row)).getBytes(), reason);
      row = null;
    }

    @Override
    public void onTaskFailure(TaskContext task, Throwable error) {
      failed = true;
      if (file != null) {
        file.onTaskFailure(task, error);
      }
    }

    @Override
    public void onTaskCompletion(TaskContext task) {
      TASKS.remove(new Task(run, door, task.taskAttemptId()));
      try {
        if (!failed && !task.isInterrupted()) {
          write();
        }
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      } finally {
        if (file != null) {
          file.onTaskCompletion(task);
        }
      }
    }
  }
}
