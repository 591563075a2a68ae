package io.streamproof;

import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import scala.Option;

/**
 * Spark's RocksDB state stores, which know the keys that can leave them soonest: windows, keys that are deduplicated, groups. A batch does not look
 * at all that is in its state for those that leave.
 *
 * <p>Files and formats are Spark's. What is known is kept in memory, of the version that this process has written last; of any other nothing is
 * known, and all keys are looked at, as Spark does it. Checkpoints name this class, which had windows alone at first.
 */
public final class WindowStateStoreProvider extends RocksDBStateStoreProvider {
  private final SoonestOfVersion known = new SoonestOfVersion();

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
    if (eviction == null || store instanceof EvictingStateStore) {
      return store;
    }
    return new EvictingStateStore(store, eviction, known.take(store.version(), checkpoint), known);
  }
}
