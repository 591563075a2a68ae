package io.streamproof.proof;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * One armed fault: which operation on which path, before or after it, at which occurrence, and what happens.
 *
 * <p>Occurrences are counted from the rename to a path that `since` is found in; from the start where that is empty.
 */
final class Fault {
  enum Action { DIE, KILL, ENOSPC, CALL, RETRY }

  final String operation;
  final Pattern path;
  final boolean after;
  final int occurrence;
  final Pattern since;
  final Action action;
  /** Of a call: the port of the desk on this machine, a space, and what it is told. */
  final String call;
  private boolean counting;
  private int seen;
  private String firedAt;

  Fault(String operation, String pathRegex, String side, int occurrence, String since, String action, String call) {
    if (!operation.matches("create|close|rename|delete|append|truncate")) {
      throw new IllegalArgumentException("operation must be create, close, rename, delete, append or truncate, not " + operation);
    }
    if (!side.equals("before") && !side.equals("after")) {
      throw new IllegalArgumentException("side must be before or after, not " + side);
    }
    if (occurrence < 1) {
      throw new IllegalArgumentException("occurrence counts from 1, not " + occurrence);
    }
    this.operation = operation;
    this.path = Pattern.compile(pathRegex);
    this.after = side.equals("after");
    this.occurrence = occurrence;
    this.since = Pattern.compile(since);
    this.counting = since.isEmpty();
    this.action = Action.valueOf(action.toUpperCase(Locale.ROOT));
    this.call = call;
  }

  /** Counts the operation when it is about to happen; true when this is the armed occurrence. */
  boolean counts(String operation, String path) {
    if (!counting) {
      counting = operation.equals("rename") && since.matcher(path).find();
      return false;
    }
    return this.operation.equals(operation) && this.path.matcher(path).find() && ++seen == occurrence;
  }

  void fire(String where) {
    firedAt = where;
  }

  String firedAt() {
    return firedAt;
  }
}
