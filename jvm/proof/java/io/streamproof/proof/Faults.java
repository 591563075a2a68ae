package io.streamproof.proof;

/** Arms faults on open recordings; called from Python. */
public final class Faults {
  private Faults() {}

  /**
   * Arms one fault; several may be armed on one recording.
   *
   * @param id the recording
   * @param operation create, close, rename, delete, append or truncate
   * @param pathRegex found (not matched whole) in the absolute local path; of a rename, in its destination
   * @param side before (the operation is not done) or after (it is done)
   * @param occurrence the how manieth such operation, from 1
   * @param since found in the destination of the rename from which they are counted; empty: from the start
   * @param action die (this and every later call throws {@link ProcessDied}), kill (a marker file is written and forced to the disk,
   *     then the thread blocks for ever with the recording's lock held, so that the disk stands still until the parent kills
   *     the process), enospc ("No space left on device" from then on, until {@link #clear}) or retry (the attempt of the task that
   *     does it ends there, once, and Spark tries the task again)
   */
  public static void arm(
      String id, String operation, String pathRegex, String side, int occurrence, String since, String action) {
    Recordings.require(id).arm(new Fault(operation, pathRegex, side, occurrence, since, action, ""));
  }

  /** Arms one fault whose occurrences are counted from the start. */
  public static void arm(String id, String operation, String pathRegex, String side, int occurrence, String action) {
    arm(id, operation, pathRegex, side, occurrence, "", action);
  }

  /**
   * Arms a call: at the operation a line is sent to a port of this machine, and the thread waits, with the recording's lock held, until
   * it is answered; then everything goes on. What happens meanwhile is the desk's affair.
   *
   * @param call the port, a space, and the line
   */
  public static void armCall(
      String id, String operation, String pathRegex, String side, int occurrence, String since, String call) {
    Recordings.require(id).arm(new Fault(operation, pathRegex, side, occurrence, since, "call", call));
  }

  /** True if every fault armed on the recording, and at least one, has fired. */
  public static boolean fired(String id) {
    return Recordings.require(id).fired();
  }

  /** Where the faults fired, one "side operation path" per line; empty if none did. */
  public static String firedAt(String id) {
    return Recordings.require(id).firedAt();
  }

  /** Disarms everything: a full disk has room again. The dead stay dead. */
  public static void clear(String id) {
    Recordings.require(id).disarm();
  }
}
