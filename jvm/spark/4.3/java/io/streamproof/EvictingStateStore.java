package io.streamproof;

import java.util.Iterator;
import java.util.NoSuchElementException;
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
import scala.collection.immutable.Set;

/**
 * A state store for one batch, and what is known of the keys that can leave it soonest.
 *
 * <p>Spark looks at all keys once a batch, for those that leave. Where they are known, the store shows these alone. Else Spark gets all of them,
 * and which leave next is known from then on: some of all that there are, so that a look at all of them pays for many batches.
 */
final class EvictingStateStore implements StateStore {
  private static final int MOST = 10_000;
  private static final int OF_SO_MANY = 16;

  private final StateStore store;
  private final Evictions.Eviction eviction;
  private final SoonestOfVersion known;
  private Soonest soonest;
  private Look look;

  /** @param soonest what is known of the keys of the store; null where nothing is */
  EvictingStateStore(StateStore store, Evictions.Eviction eviction, Soonest soonest, SoonestOfVersion known) {
    this.store = store;
    this.eviction = eviction;
    this.soonest = soonest;
    this.known = known;
  }

  @Override
  public StateStoreIterator<UnsafeRowPair> iterator(String family) {
    if (!isOurs(family)) {
      return store.iterator(family);
    }
    if (soonest != null && soonest.knows(eviction.until())) {
      return new StateStoreIterator<>(new Due(soonest.take(eviction.until()).iterator(), family), StateStoreIterator.$lessinit$greater$default$2());
    }
    soonest = null; // until all are seen
    StateStoreIterator<UnsafeRowPair> all = store.iterator(family);
    return new StateStoreIterator<>(
        new Look(all),
        () -> {
          all.close();
          return scala.runtime.BoxedUnit.UNIT;
        });
  }

  @Override
  public void put(UnsafeRow key, UnsafeRow value, String family) {
    if (isOurs(family)) {
      met(key, eviction.instant(key, value));
    }
    store.put(key, value, family);
  }

  @Override
  public void putList(UnsafeRow key, UnsafeRow[] values, String family) {
    unknown(family);
    store.putList(key, values, family);
  }

  @Override
  public void merge(UnsafeRow key, UnsafeRow value, String family) {
    unknown(family);
    store.merge(key, value, family);
  }

  @Override
  public void mergeList(UnsafeRow key, UnsafeRow[] values, String family) {
    unknown(family);
    store.mergeList(key, values, family);
  }

  @Override
  public long commit() {
    long version = store.commit();
    known.keep(version, store.getStateStoreCheckpointInfo().stateStoreCkptId(), soonest);
    return version;
  }

  private static boolean isOurs(String family) {
    return family.equals(StateStore.DEFAULT_COL_FAMILY_NAME());
  }

  private void met(UnsafeRow key, long instant) {
    if (soonest != null) {
      soonest.put(key, instant);
    }
    if (look != null) {
      look.seen.put(key, instant);
    }
  }

  /** Several values of one key: no operator that is told of has them. */
  private void unknown(String family) {
    if (isOurs(family)) {
      soonest = null;
      look = null;
    }
  }

  /** Those of some keys that leave now. */
  private abstract static class Leaving extends AbstractIterator<UnsafeRowPair> {
    private UnsafeRowPair found;

    /** The next one; null at the end. */
    abstract UnsafeRowPair search();

    @Override
    public final boolean hasNext() {
      if (found == null) {
        found = search();
      }
      return found != null;
    }

    @Override
    public final UnsafeRowPair next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      UnsafeRowPair given = found;
      found = null;
      return given;
    }
  }

  /** Of the keys that are known to leave those that are still there with such an instant. */
  private final class Due extends Leaving {
    private final Iterator<UnsafeRow> keys;
    private final String family;

    Due(Iterator<UnsafeRow> keys, String family) {
      this.keys = keys;
      this.family = family;
    }

    @Override
    UnsafeRowPair search() {
      while (keys.hasNext()) {
        UnsafeRow key = keys.next();
        UnsafeRow value = store.get(key, family);
        if (value != null && eviction.instant(key, value) <= eviction.until()) {
          return new UnsafeRowPair(key, value);
        }
      }
      return null;
    }
  }

  /** A look at all keys: which leave now, and which of the others leave next. Spark need not take the values of these apart. */
  private final class Look extends Leaving {
    private final scala.collection.Iterator<UnsafeRowPair> all;
    private final Soonest seen = new Soonest(MOST);
    private int count;

    Look(scala.collection.Iterator<UnsafeRowPair> all) {
      this.all = all;
      look = this;
    }

    @Override
    UnsafeRowPair search() {
      while (all.hasNext()) {
        UnsafeRowPair pair = all.next();
        seen.allow(++count / OF_SO_MANY);
        long instant = eviction.instant(pair.key(), pair.value());
        if (instant <= eviction.until()) {
          return pair;
        }
        seen.put(pair.key(), instant);
      }
      if (look == this) {
        soonest = seen;
        look = null;
      }
      return null;
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
  public scala.collection.Iterator<UnsafeRow> multiGet(UnsafeRow[] keys, String family) {
    return store.multiGet(keys, family);
  }

  @Override
  public boolean keyExists(UnsafeRow key, String family) {
    return store.keyExists(key, family);
  }

  @Override
  public scala.collection.Iterator<UnsafeRow> valuesIterator(UnsafeRow key, String family) {
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
