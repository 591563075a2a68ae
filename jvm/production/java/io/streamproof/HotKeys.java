package io.streamproof;

import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * Which keys have most of the rows that a task lets pass, in memory that does not grow (Metwally, Agrawal and El Abbadi, "Efficient computation
 * of frequent and top-k elements in data streams", 2005: Space-Saving).
 *
 * <p>A key is known by its hash alone. The first rows of a task are all looked at, then one of many. A key that is reported has come at least as
 * often as is said, up to the error of that sample.
 */
public final class HotKeys implements Serializable {
  private static final int COUNTERS = 64;
  private static final int REPORTED = 16;
  /** Of the rows of a task so many are all looked at, and then one of so many: a prime, so that no rhythm of the rows meets it. */
  private static final long FIRST = 4096;
  private static final int EVERY = 61;

  private final String door;
  private final Reports reports;

  private transient Seen seen;

  public HotKeys(String door, Reports reports) {
    this.door = door;
    this.reports = reports;
  }

  /** True (boolean), after having counted a row of a key; its hash (bigint) is worked out for those rows that are looked at. */
  public Column column(Column hash) {
    Column looked = Called.column(this, "looks", DataTypes.BooleanType);
    return functions.when(looked, Called.column(this, "add", DataTypes.BooleanType, hash)).otherwise(functions.lit(true));
  }

  /** Whether the next row is one of those that are looked at. */
  public boolean looks() {
    Seen mine = seen;
    if (mine == null) {
      mine = new Seen();
      seen = mine;
    }
    return mine.rows++ < FIRST || --mine.left == 0;
  }

  public boolean add(long hash) {
    seen.add(hash);
    return true;
  }

  @Override
  public String toString() {
    return "hot_keys_" + Execution.plain(door);
  }

  private final class Seen implements TaskCompletionListener, TaskFailureListener {
    private final long[] keys = new long[COUNTERS];
    private final long[] counts = new long[COUNTERS];
    private final long[] errors = new long[COUNTERS];
    private final Map<Long, Integer> places = new HashMap<>();
    private final long batch;
    private long rows;
    private int left = EVERY;
    private boolean failed;

    Seen() {
      TaskContext task = TaskScope.task();
      batch = TaskScope.batch(task);
      task.addTaskFailureListener(this);
      task.addTaskCompletionListener(this);
    }

    /** A key without a counter takes that of the one that has come least often, and may have come as often as that. */
    void add(long hash) {
      int weight = rows <= FIRST ? 1 : EVERY;
      left = EVERY;
      Integer place = places.get(hash);
      if (place == null) {
        place = places.size() < COUNTERS ? places.size() : least();
        if (places.size() == COUNTERS) {
          places.remove(keys[place]);
        }
        errors[place] = counts[place];
        keys[place] = hash;
        places.put(hash, place);
      }
      counts[place] += weight;
    }

    private int least() {
      int found = 0;
      for (int place = 1; place < COUNTERS; place++) {
        if (counts[place] < counts[found]) {
          found = place;
        }
      }
      return found;
    }

    /** Of the keys that have most rows how many they have at least. */
    private Map<String, Long> most() {
      Integer[] order = places.values().toArray(new Integer[0]);
      Arrays.sort(order, (one, other) -> Long.compare(counts[other] - errors[other], counts[one] - errors[one]));
      Map<String, Long> found = new HashMap<>();
      for (int place = 0; place < Math.min(REPORTED, order.length); place++) {
        long count = counts[order[place]] - errors[order[place]];
        if (count > 0) {
          found.put(Long.toString(keys[order[place]]), count);
        }
      }
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
            new Report(door, batch, task.partitionId(), task.taskAttemptId(), null, 0, null, 0, rows, 0, none, none, most()));
      }
    }
  }
}
