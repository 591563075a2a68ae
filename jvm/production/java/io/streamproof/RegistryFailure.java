package io.streamproof;

/** The registry has not answered the question: the task fails, and no record is rejected for it. The driver looks for the first word. */
public final class RegistryFailure extends RuntimeException {
  RegistryFailure(String said) {
    super("streamproof-registry:" + said);
  }

  /** One that is down, or says so, and not one that refuses us. */
  static RegistryFailure silent(String said) {
    return new RegistryFailure("silent:" + said);
  }
}
