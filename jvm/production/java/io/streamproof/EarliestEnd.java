package io.streamproof;

import scala.Option;

/**
 * The earliest end of the windows in a state store, of the version that this process has written last. Two attempts of a task can write one
 * version: it is known by Spark's id of the checkpoint too, where it has one.
 */
public final class EarliestEnd {
  /** Lower than any end. */
  public static final long UNKNOWN = Long.MIN_VALUE;

  private long version = -1;
  private Option<String> checkpoint = Option.empty();
  private long earliest;

  public synchronized void remember(long version, Option<String> checkpoint, long earliest) {
    this.version = version;
    this.checkpoint = checkpoint;
    this.earliest = earliest;
  }

  public synchronized long of(long version, Option<String> checkpoint) {
    return version == this.version && checkpoint.equals(this.checkpoint) ? earliest : UNKNOWN;
  }
}
