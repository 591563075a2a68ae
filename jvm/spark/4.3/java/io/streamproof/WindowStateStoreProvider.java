package io.streamproof;

import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import scala.Option;

/**
 * Spark's RocksDB state stores, which know the earliest end of their windows: a batch that no window leaves does not look at all of them.
 *
 * <p>Files and formats are Spark's. What is known is kept in memory, of the version that this process has written last; of any other nothing is
 * known, and all windows are looked at, as Spark does it.
 */
public final class WindowStateStoreProvider extends RocksDBStateStoreProvider {
  private final EarliestEnd known = new EarliestEnd();

  @Override
  public StateStore getStore(long version, Option<String> checkpoint, boolean forceSnapshot, boolean loadEmpty) {
    return knowing(super.getStore(version, checkpoint, forceSnapshot, loadEmpty), checkpoint);
  }

  @Override
  public StateStore upgradeReadStoreToWriteStore(ReadStateStore store, long version, Option<String> checkpoint, boolean forceSnapshot) {
    return knowing(super.upgradeReadStoreToWriteStore(store, version, checkpoint, forceSnapshot), checkpoint);
  }

  private StateStore knowing(StateStore store, Option<String> checkpoint) {
    Evictions.Eviction eviction = Evictions.Eviction.of(stateStoreId().operatorId());
    if (eviction == null || store instanceof WindowStateStore) {
      return store;
    }
    return new WindowStateStore(store, eviction, known.of(store.version(), checkpoint), known);
  }
}
