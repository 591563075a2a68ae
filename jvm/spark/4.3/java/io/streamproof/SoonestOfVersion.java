package io.streamproof;

import scala.Option;

/**
 * What is known of a state store, of the version that this process has written last. Two attempts of a task can write one version: it is known by
 * Spark's id of the checkpoint too, where it has one. Who takes it changes it, so that nobody else gets it.
 */
public final class SoonestOfVersion {
  private long version = -1;
  private Option<String> checkpoint = Option.empty();
  private Soonest soonest;

  /** Keeps what is known once a version is written; null where nothing is. */
  public synchronized void keep(long version, Option<String> checkpoint, Soonest soonest) {
    this.version = version;
    this.checkpoint = checkpoint;
    this.soonest = soonest;
  }

  /** What is known of a version, once; null where nothing is. */
  public synchronized Soonest take(long version, Option<String> checkpoint) {
    Soonest found = version == this.version && checkpoint.equals(this.checkpoint) ? soonest : null;
    soonest = null;
    return found;
  }
}
