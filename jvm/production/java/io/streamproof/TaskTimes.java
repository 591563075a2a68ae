package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/** How long the tasks of a batch took that hold the partitions of a state, as Spark tells its listeners: of the newest batches only. */
public final class TaskTimes extends SparkListener {
  private static final ObjectMapper JSON = new ObjectMapper();
  static final String QUERY = "sql.streaming.queryId";
  private static final String BATCH = "streaming.sql.batchId";
  /** Spark tells its listeners a little later than it goes on: for so long at most it is waited for. */
  private static final long PATIENCE_MS = 500;
  /** Of so many batches of all queries. */
  private static final int KEPT = 32;

  private static final Map<SparkContext, TaskTimes> LISTENING = new WeakHashMap<>();

  private final Map<Integer, String> owners = new HashMap<>();
  private final Set<Integer> running = new HashSet<>();
  private final Map<String, Map<Integer, List<Task>>> batches =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Map<Integer, List<Task>>> eldest) {
          if (size() <= KEPT) {
            return false;
          }
          owners.values().removeIf(eldest.getKey()::equals);
          return true;
        }
      };

  private record Task(long milliseconds, long rows) {}

  /** Begins to listen, once for each Spark. */
  static synchronized void listen(SparkSession spark) {
    LISTENING.computeIfAbsent(
        spark.sparkContext(),
        context -> {
          TaskTimes made = new TaskTimes();
          context.addSparkListener(made);
          return made;
        });
  }

  /**
   * The stage of a batch whose slowest task took longest, of those that read what others have sent, as JSON: how many tasks it has, how long
   * the slowest and the middle one took, and how many rows the fullest has read. Null where nothing is known of it.
   */
  static String of(SparkSession spark, String query, long batch) throws JsonProcessingException, InterruptedException {
    TaskTimes listening;
    synchronized (TaskTimes.class) {
      listening = LISTENING.get(spark.sparkContext());
    }
    return listening == null ? null : JSON.writeValueAsString(listening.slowest(query + "@" + batch));
  }

  private synchronized Map<String, Long> slowest(String batch) throws InterruptedException {
    long until = System.nanoTime() + PATIENCE_MS * 1_000_000;
    for (long left = PATIENCE_MS; left > 0 && !isOver(batch); left = (until - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
    Map<String, Long> found = null;
    for (List<Task> tasks : batches.getOrDefault(batch, Map.of()).values()) {
      if (tasks.stream().mapToLong(Task::rows).sum() == 0) {
        continue;
      }
      List<Task> ordered = new ArrayList<>(tasks);
      ordered.sort((one, other) -> Long.compare(one.milliseconds, other.milliseconds));
      Task slowest = ordered.get(ordered.size() - 1);
      if (found == null || slowest.milliseconds > found.get("slowest_ms")) {
        found = new TreeMap<>();
        found.put("tasks", (long) ordered.size());
        found.put("slowest_ms", slowest.milliseconds);
        found.put("most_rows", tasks.stream().mapToLong(Task::rows).max().getAsLong());
        found.put("median_ms", ordered.get((ordered.size() - 1) / 2).milliseconds);
      }
    }
    return found;
  }

  private boolean isOver(String batch) {
    return batches.containsKey(batch) && running.stream().noneMatch(stage -> batch.equals(owners.get(stage)));
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    Properties said = submitted.properties();
    if (said != null && said.getProperty(QUERY) != null && said.getProperty(BATCH) != null) {
      String batch = said.getProperty(QUERY) + "@" + said.getProperty(BATCH);
      batches.computeIfAbsent(batch, key -> new HashMap<>());
      owners.put(submitted.stageInfo().stageId(), batch);
      running.add(submitted.stageInfo().stageId());
    }
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
    running.remove(completed.stageInfo().stageId());
    notifyAll();
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
    String batch = owners.get(ended.stageId());
    Map<Integer, List<Task>> stages = batch == null ? null : batches.get(batch);
    if (stages != null && ended.taskInfo().successful() && ended.taskMetrics() != null) {
      long rows = ended.taskMetrics().shuffleReadMetrics().recordsRead();
      stages.computeIfAbsent(ended.stageId(), key -> new ArrayList<>()).add(new Task(ended.taskInfo().duration(), rows));
    }
  }
}
