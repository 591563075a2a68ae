package io.streamproof.proof;

/**
 * Thrown at the armed step, and by every later call on the same recording: for that recording the process is dead.
 *
 * <p>An {@link Error}, so that no handler for exceptions carries on; not a {@link VirtualMachineError}, so that Spark fails the
 * query and leaves the JVM, which other scenarios share, alone.
 */
public final class ProcessDied extends Error {
  private static final long serialVersionUID = 1L;

  ProcessDied(String message) {
    super(message);
  }
}
