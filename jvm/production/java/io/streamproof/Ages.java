package io.streamproof;

import java.io.IOException;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * How old the rows are that pass, by the clock of their batch: counted by size, in memory that does not grow.
 *
 * <p>The first rows of a task are all looked at, then one of many. An age is cut to its seven leading bits, so that it is at most 1.6 % less
 * than it was: the counts by size are those of a histogram whose bounds grow with it (as in HdrHistogram).
 */
public final class Ages implements Serializable {
  /** Of the rows of a task so many are all looked at, and then one of so many: a prime, so that no rhythm of the rows meets it. */
  private static final long FIRST = 4096;

  private static final int EVERY = 61;
  /** The leading bits of an age that are kept, after the first. */
  private static final int BITS = 6;

  private final String door;
  private final String checkpoint;
  private final Reports reports;

  private transient Seen seen;

  public Ages(String door, String checkpoint, Reports reports) {
    this.door = door;
    this.checkpoint = checkpoint;
    this.reports = reports;
  }

  /** True (boolean), after having counted a row by its instant (bigint, microseconds since 1970, not null); a negative one is of no time. */
  public Column column(Column instant) {
    Column looked = Called.column(this, "looks", DataTypes.BooleanType);
    return functions.when(looked, Called.column(this, "add", DataTypes.BooleanType, instant)).otherwise(functions.lit(true));
  }

  /** Whether the next row is one of those that are looked at. */
  public boolean looks() throws IOException {
    Seen mine = seen;
    if (mine == null) {
      mine = new Seen();
      seen = mine;
    }
    return mine.rows++ < FIRST || --mine.left == 0;
  }

  public boolean add(long instant) {
    seen.add(instant);
    return true;
  }

  @Override
  public String toString() {
    return "ages_" + Execution.plain(door);
  }

  /** An age in milliseconds, cut to its leading bits; what is younger than its batch is 0. */
  static long cut(long milliseconds) {
    if (milliseconds <= 0) {
      return 0;
    }
    int more = 63 - Long.numberOfLeadingZeros(milliseconds) - BITS;
    return more <= 0 ? milliseconds : milliseconds >> more << more;
  }

  private final class Seen implements TaskCompletionListener, TaskFailureListener {
    private final Map<Long, long[]> counts = new HashMap<>();
    private final long clock;
    private final long batch;
    private long rows;
    private int left = EVERY;
    private boolean failed;

    Seen() throws IOException {
      TaskContext task = TaskScope.task();
      batch = TaskScope.batch(task);
      clock = OffsetLog.milliseconds(checkpoint, batch, "batchTimestampMs");
      task.addTaskFailureListener(this);
      task.addTaskCompletionListener(this);
    }

    void add(long instant) {
      int weight = rows <= FIRST ? 1 : EVERY;
      left = EVERY;
      if (instant >= 0) {
        counts.computeIfAbsent(cut(clock - Math.floorDiv(instant, 1000L)), age -> new long[1])[0] += weight;
      }
    }

    private Map<String, Long> found() {
      Map<String, Long> found = new HashMap<>();
      counts.forEach((age, count) -> found.put(Long.toString(age), count[0]));
      return found;
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
            new Report(door, batch, task.partitionId(), task.taskAttemptId(), null, 0, null, 0, rows, 0, none, none, found()));
      }
    }
  }
}
