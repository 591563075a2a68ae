package io.streamproof;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The keys of the objects that a parser of JSON is inside of, to notice one that comes twice.
 *
 * <p>Jackson's own detection makes a hash set of the keys of every object. Most objects have a few: these are compared one by one, and
 * nothing is made.
 */
final class Keys {
  private static final int FEW = 32;

  private final List<Set<String>> many = new ArrayList<>(); // by depth, of the objects with more than a few
  private String[] keys = new String[FEW];
  private int[] starts = new int[FEW];
  private long[] seen = new long[FEW]; // by depth, a bit for the hash of each key
  private int size;
  private int depth;

  void clear() {
    size = 0;
    depth = 0;
    many.clear();
  }

  /** An object begins. */
  void open() {
    if (depth == starts.length) {
      starts = Arrays.copyOf(starts, depth * 2);
      seen = Arrays.copyOf(seen, depth * 2);
    }
    seen[depth] = 0;
    starts[depth++] = size;
  }

  /** The innermost object ends. */
  void close() {
    size = starts[--depth];
    if (many.size() > depth) {
      many.remove(depth);
    }
  }

  /** Adds a key of the innermost object; false if it is there already. */
  boolean add(String key) {
    int start = starts[depth - 1];
    if (size - start == FEW) {
      return known(start).add(key);
    }
    long bit = 1L << key.hashCode(); // of its lowest six bits
    boolean isNew = (seen[depth - 1] & bit) == 0;
    seen[depth - 1] |= bit;
    for (int at = isNew ? size : start; at < size; at++) {
      if (keys[at].equals(key)) {
        return false;
      }
    }
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, size * 2);
    }
    keys[size++] = key;
    return true;
  }

  private Set<String> known(int start) {
    while (many.size() < depth) {
      many.add(null);
    }
    Set<String> found = many.get(depth - 1);
    if (found == null) {
      found = new HashSet<>(Arrays.asList(keys).subList(start, size));
      many.set(depth - 1, found);
    }
    return found;
  }
}
