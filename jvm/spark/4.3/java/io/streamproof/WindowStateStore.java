package io.streamproof;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreCheckpointInfo;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreIterator;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.Set;

/**
 * A state store of windows for one batch, and a bound of their ends: no window in it ends before {@code earliest}.
 *
 * <p>Spark looks at all windows once a batch, for those that leave. Where the bound says that none does, the store has none to look at. Each look
 * to the end raises the bound; what is put lowers it.
 */
final class WindowStateStore implements StateStore {
  private final StateStore store;
  private final Evictions.Eviction eviction;
  private final EarliestEnd known;
  private long earliest;
  private Look look;

  WindowStateStore(StateStore store, Evictions.Eviction eviction, long earliest, EarliestEnd known) {
    this.store = store;
    this.eviction = eviction;
    this.earliest = earliest;
    this.known = known;
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> iterator(String family) {
    if (!family.equals(StateStore.DEFAULT_COL_FAMILY_NAME())) {
      return store.iterator(family);
    }
    if (earliest > eviction.until()) {
      return new StateStoreIterator<>(scala.collection.Iterator$.MODULE$.empty(), StateStoreIterator.$lessinit$greater$default$2());
    }
    StateStoreIterator<UnsafeRowPair> all = store.iterator(family);
    look = new Look(all);
    return new StateStoreIterator<>(
        look,
        () -> {
          all.close();
          return scala.runtime.BoxedUnit.UNIT;
        });
  }

  @Override
  public void put(UnsafeRow key, UnsafeRow value, String family) {
    met(key);
    store.put(key, value, family);
  }

  @Override
  public void putList(UnsafeRow key, UnsafeRow[] values, String family) {
    met(key);
    store.putList(key, values, family);
  }

  @Override
  public void merge(UnsafeRow key, UnsafeRow value, String family) {
    met(key);
    store.merge(key, value, family);
  }

  @Override
  public void mergeList(UnsafeRow key, UnsafeRow[] values, String family) {
    met(key);
    store.mergeList(key, values, family);
  }

  @Override
  public long commit() {
    long version = store.commit();
    known.remember(version, store.getStateStoreCheckpointInfo().stateStoreCkptId(), earliest);
    return version;
  }

  private void met(UnsafeRow key) {
    long end = endOf(key);
    earliest = Math.min(earliest, end);
    if (look != null) {
      look.earliest = Math.min(look.earliest, end);
    }
  }

  private long endOf(UnsafeRow key) {
    return key.isNullAt(eviction.column()) ? Long.MAX_VALUE : key.getLong(eviction.column()); // what has no end never leaves
  }

  /** A look at all windows: the earliest end of those that stay. */
  private final class Look extends AbstractIterator<UnsafeRowPair> {
    private final Iterator<UnsafeRowPair> all;
    private long earliest = Long.MAX_VALUE;

    Look(Iterator<UnsafeRowPair> all) {
      this.all = all;
    }

    @Override
    public boolean hasNext() {
      boolean more = all.hasNext();
      if (!more) {
        WindowStateStore.this.earliest = earliest;
      }
      return more;
    }

    @Override
    public UnsafeRowPair next() {
      UnsafeRowPair pair = all.next();
      long end = endOf(pair.key());
      if (end > eviction.until()) {
        earliest = Math.min(earliest, end);
      }
      return pair;
    }
  }

  // What follows is passed on.

  @Override
  public StateStoreId id() {
    return store.id();
  }

  @Override
  public long version() {
    return store.version();
  }

  @Override
  public UnsafeRow get(UnsafeRow key, String family) {
    return store.get(key, family);
  }

  @Override
  public Iterator<UnsafeRow> multiGet(UnsafeRow[] keys, String family) {
    return store.multiGet(keys, family);
  }

  @Override
  public boolean keyExists(UnsafeRow key, String family) {
    return store.keyExists(key, family);
  }

  @Override
  public Iterator<UnsafeRow> valuesIterator(UnsafeRow key, String family) {
    return store.valuesIterator(key, family);
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> prefixScan(UnsafeRow prefix, String family) {
    return store.prefixScan(prefix, family);
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> prefixScanWithMultiValues(UnsafeRow prefix, String family) {
    return store.prefixScanWithMultiValues(prefix, family);
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> rangeScan(Option<UnsafeRow> from, Option<UnsafeRow> to, String family) {
    return store.rangeScan(from, to, family);
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> rangeScanWithMultiValues(Option<UnsafeRow> from, Option<UnsafeRow> to, String family) {
    return store.rangeScanWithMultiValues(from, to, family);
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> iteratorWithMultiValues(String family) {
    return store.iteratorWithMultiValues(family);
  }

  @Override
  public void remove(UnsafeRow key, String family) {
    store.remove(key, family);
  }

  @Override
  public void deleteRange(UnsafeRow from, UnsafeRow to, String family) {
    store.deleteRange(from, to, family);
  }

  @Override
  public void abort() {
    store.abort();
  }

  @Override
  public void release() {
    store.release();
  }

  @Override
  public StateStoreMetrics metrics() {
    return store.metrics();
  }

  @Override
  public StateStoreCheckpointInfo getStateStoreCheckpointInfo() {
    return store.getStateStoreCheckpointInfo();
  }

  @Override
  public boolean hasCommitted() {
    return store.hasCommitted();
  }

  @Override
  public Set<String> allColumnFamilyNames() {
    return store.allColumnFamilyNames();
  }

  @Override
  public void registerColFamily(
      String family, StructType key, StructType value, KeyStateEncoderSpec encoder, boolean severalValues, boolean internal) {
    store.registerColFamily(family, key, value, encoder, severalValues, internal);
  }

  @Override
  public void createColFamilyIfAbsent(
      String family, StructType key, StructType value, KeyStateEncoderSpec encoder, boolean severalValues, boolean internal) {
    store.createColFamilyIfAbsent(family, key, value, encoder, severalValues, internal);
  }

  @Override
  public boolean removeColFamilyIfExists(String family) {
    return store.removeColFamilyIfExists(family);
  }
}
