package io.streamproof.proof;

import java.lang.StackWalker.StackFrame;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.Permission;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the JVM of a proof from real places, where the kernel cannot: connections to other hosts and to strangers on this one, and files
 * that Java code writes without Hadoop.
 *
 * <p>Java has no other place that all of its sockets and files pass than the security manager. It is deprecated; Java 24 and later have
 * none, and {@link #keep} says so.
 */
@SuppressWarnings("removal")
public final class Kept extends SecurityManager {
  private static final List<String> OWN =
      List.of("org.apache.spark.", "org.sparkproject.", "io.netty.", "py4j.", "io.streamproof.", "org.apache.kafka.");
  private static final List<String> JAVA_ITSELF = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");
  private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
  private static volatile List<String> hosts = List.of();
  private static volatile boolean files;

  private Kept() {}

  /** From now on; whether this Java can. */
  public static boolean keep(List<String> allowedHosts, boolean guardFiles) {
    hosts = List.copyOf(allowedHosts);
    files = guardFiles;
    if (System.getSecurityManager() instanceof Kept) {
      return true;
    }
    try {
      System.setSecurityManager(new Kept());
      return true;
    } catch (UnsupportedOperationException since18) {
      return false;
    }
  }

  /** No longer; the next proof may be another one. */
  public static void release() {
    if (System.getSecurityManager() instanceof Kept) {
      System.setSecurityManager(null);
    }
  }

  @Override
  public void checkConnect(String host, int port) {
    if (port < 0 || hosts.contains(host)) { // a name is resolved
      return;
    }
    if (!isLoopback(host) || !isOwn()) {
      throw new SecurityException("A proof touches nothing real: connection refused to " + host + ":" + port);
    }
  }

  @Override
  public void checkConnect(String host, int port, Object context) {
    checkConnect(host, port);
  }

  @Override
  public void checkWrite(String file) {
    if (files && !GuardedFileSystem.allows(Path.of(file))) {
      throw new SecurityException(file + " (Read-only file system)");
    }
  }

  @Override
  public void checkDelete(String file) {
    checkWrite(file);
  }

  @Override
  public void checkPermission(Permission permission) {
    // Nothing else is kept from it.
  }

  @Override
  public void checkPermission(Permission permission, Object context) {
    // As above.
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  /** Whether Spark connects for itself: the code next to Java's own is Spark's, and no call from Python by reflection. */
  private static boolean isOwn() {
    Optional<String> caller =
        STACK.walk(
            frames ->
                frames
                    .map(StackFrame::getClassName)
                    .filter(name -> JAVA_ITSELF.stream().noneMatch(name::startsWith) && !name.equals(Kept.class.getName()))
                    .findFirst());
    return caller.isPresent() && OWN.stream().anyMatch(caller.get()::startsWith) && !caller.get().startsWith("py4j.reflection.");
  }
}
