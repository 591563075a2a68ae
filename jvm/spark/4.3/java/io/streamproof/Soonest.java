package io.streamproof;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * The keys of a state store that can leave it soonest, with their instants. Of every other key it is known that its instant is after the horizon.
 *
 * <p>A key can stand here that has got another instant since, or is gone: whoever asks looks into the store. There is a bound of how many are kept;
 * where more come, the latest of them go, and the horizon comes nearer.
 */
public final class Soonest {
  private final TreeMap<Long, List<UnsafeRow>> keys = new TreeMap<>();
  private long horizon = Long.MAX_VALUE - 1;
  private int count;
  private int most;

  /** Of a store without keys. */
  public Soonest(int most) {
    this.most = most;
  }

  /** Allows for more keys than before. */
  void allow(int keys) {
    most = Math.max(most, keys);
  }

  /** A key has got this instant; {@link Long#MAX_VALUE} where it has none. */
  public void put(UnsafeRow key, long instant) {
    if (instant > horizon) {
      return;
    }
    keys.computeIfAbsent(instant, any -> new ArrayList<>(1)).add(key.copy());
    count++;
    while (count > most) {
      Map.Entry<Long, List<UnsafeRow>> last = keys.pollLastEntry();
      horizon = last.getKey() - 1;
      count -= last.getValue().size();
    }
  }

  /** Whether all keys are known whose instant is up to this one. */
  public boolean knows(long instant) {
    return instant <= horizon;
  }

  /** Takes out the keys whose instant can be up to this one: each once, in the order of their bytes, in which RocksDB has them too. */
  public Collection<UnsafeRow> take(long until) {
    Map<Long, List<UnsafeRow>> due = keys.headMap(until, true);
    HashSet<UnsafeRow> found = new HashSet<>();
    for (List<UnsafeRow> some : due.values()) {
      count -= some.size();
      found.addAll(some);
    }
    due.clear();
    List<UnsafeRow> sorted = new ArrayList<>(found);
    sorted.sort((one, other) -> Arrays.compareUnsigned(one.getBytes(), other.getBytes()));
    return sorted;
  }

  /** How many keys stand here, those twice that have had two instants. */
  public int size() {
    return count;
  }
}
