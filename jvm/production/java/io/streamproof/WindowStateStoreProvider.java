package io.streamproof;

import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import scala.Option;

/**
 * Spark's RocksDB state stores, which know the earliest end of their windows: a batch that no window leaves does not look at all of them.
 *
 * <p>Files and formats are Spark's. What is known is kept in memory, of the newest version that this process has written; of any other version
 * nothing is known, and all windows are looked at, as Spark does it.
 */
public final class WindowStateStoreProvider extends RocksDBStateStoreProvider {
  private long version = -1;
  private long earliest;

  @Override
  public StateStore getStore(long version, Option<String> checkpointId, boolean forceSnapshot, boolean loadEmpty) {
    return knowing(super.getStore(version, checkpointId, forceSnapshot, loadEmpty));
  }

  @Override
  public StateStore upgradeReadStoreToWriteStore(ReadStateStore store, long version, Option<String> checkpointId, boolean forceSnapshot) {
    return knowing(super.upgradeReadStoreToWriteStore(store, version, checkpointId, forceSnapshot));
  }

  private StateStore knowing(StateStore store) {
    Evictions.Eviction eviction = Evictions.Eviction.of(stateStoreId().operatorId());
    if (eviction == null || store instanceof WindowStateStore) {
      return store;
    }
    return new WindowStateStore(store, eviction, earliestOf(store.version()), this::remember);
  }

  private synchronized long earliestOf(long version) {
    return version == this.version ? earliest : WindowStateStore.UNKNOWN;
  }

  private synchronized void remember(long version, long earliest) {
    this.version = version;
    this.earliest = earliest;
  }
}
