package io.streamproof.proof;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import scala.collection.Iterator;

/**
 * Closes the state stores of queries that have ended. Spark's own maintenance does that once a minute; in a proof it sleeps, since what it
 * writes is enumerated, and each run of a job would leave its stores open: their memory, and six files for each partition.
 */
public final class EndedStores {
  private static final Map<UUID, Long> ENDED = new HashMap<>();
  private static final ExecutorService CLOSING =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "close-ended-stores");
            thread.setDaemon(true);
            return thread;
          });

  private EndedStores() {}

  /**
   * Has those closed whose query had ended by an earlier call.
   *
   * @param active by id the queries of this JVM that run
   * @param graceMillis how long ago that call must be: tasks of a query that was stopped may go on for a moment
   * @return how many stores are closed now, in a thread of its own
   */
  public static synchronized int close(Map<?, ?> active, long graceMillis) {
    try {
      Set<UUID> running = runsOf(active);
      scala.collection.mutable.HashMap<StateStoreProviderId, StateStoreProvider> loaded = loaded();
      List<StateStoreProvider> old = taken(loaded, running, TimeUnit.MILLISECONDS.toNanos(graceMillis));
      old.forEach(store -> CLOSING.execute(store::close));
      return old.size();
    } catch (ReflectiveOperationException | LinkageError | RuntimeException otherSpark) {
      return 0; // it only costs memory and open files
    }
  }

  private static List<StateStoreProvider> taken(
      scala.collection.mutable.HashMap<StateStoreProviderId, StateStoreProvider> loaded, Set<UUID> running, long grace) {
    long now = System.nanoTime();
    List<StateStoreProvider> old = new ArrayList<>();
    Map<UUID, Long> ended = new HashMap<>();
    synchronized (loaded) { // as Spark does
      List<StateStoreProviderId> ids = new ArrayList<>();
      for (Iterator<StateStoreProviderId> each = loaded.keysIterator(); each.hasNext(); ) {
        ids.add(each.next());
      }
      for (StateStoreProviderId id : ids) {
        UUID run = id.queryRunId();
        if (!running.contains(run)) {
          Long since = ENDED.get(run);
          ended.put(run, since == null ? now : since);
          if (since != null && now - since >= grace) {
            old.add(loaded.remove(id).get());
          }
        }
      }
    }
    ENDED.clear();
    ENDED.putAll(ended);
    return old;
  }

  private static Set<UUID> runsOf(Map<?, ?> active) throws ReflectiveOperationException {
    Set<UUID> runs = new HashSet<>();
    for (Object query : active.values()) {
      if (query != null) {
        runs.add((UUID) query.getClass().getMethod("runId").invoke(query));
      }
    }
    return runs;
  }

  @SuppressWarnings("unchecked")
  private static scala.collection.mutable.HashMap<StateStoreProviderId, StateStoreProvider> loaded()
      throws ReflectiveOperationException {
    Field field = StateStore$.class.getDeclaredField("loadedProviders");
    field.setAccessible(true);
    return (scala.collection.mutable.HashMap<StateStoreProviderId, StateStoreProvider>) field.get(StateStore$.MODULE$);
  }
}
