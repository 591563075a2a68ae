package io.streamproof;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How much of a source a batch takes at most, which changes between batches.
 *
 * <p>Spark asks a source for the end of a batch, and writes it down before the batch begins its work (R2): a batch that is done again is read
 * by what is written, and nobody asks for its limit any more.
 */
public final class Intake {
  /** The option by which a source is told which intake is its own. */
  static final String OPTION = "streamproofIntake";

  private static final Map<String, Intake> BY_NAME = new ConcurrentHashMap<>();

  private volatile long most;
  private volatile long used = -1;
  private volatile long asked;

  private Intake(long most) {
    this.most = most;
  }

  /** Keeps one under the name that the option has. */
  public static Intake register(String name, long most) {
    Intake made = new Intake(most);
    BY_NAME.put(name, made);
    return made;
  }

  /** The one of a source that has begun to read; null where the source was given none. */
  static Intake of(String name) {
    return name == null ? null : Objects.requireNonNull(BY_NAME.remove(name), "streamproof: no intake " + name + " was registered");
  }

  /** Spark looks for the end of a batch: how much that takes at most. */
  long ask() {
    asked = System.nanoTime();
    used = most;
    return used;
  }

  /** How much the next batch takes at most. */
  public void set(long most) {
    this.most = most;
  }

  /** How much the newest batch that was asked for takes at most; -1 where none was: a batch that was planned before this start. */
  public long used() {
    return used;
  }

  /** How long ago Spark has asked for it, in milliseconds. */
  public long sinceAsked() {
    return (System.nanoTime() - asked) / 1_000_000;
  }
}
