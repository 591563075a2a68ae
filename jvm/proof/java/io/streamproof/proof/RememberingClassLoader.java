package io.streamproof.proof;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A system class loader that remembers which classes are not on the class path, which never changes.
 *
 * <p>For a class that is not there Java looks into each of Spark's 300 jars, every time. Spark's compiler asks for such names at each piece of code
 * that it compiles, and py4j at each package.
 */
public final class RememberingClassLoader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  /** As {@code -Djava.system.class.loader} asks for. */
  public RememberingClassLoader(ClassLoader classPath) {
    super(classPath);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (missing.contains(name)) {
      throw new ClassNotFoundException(name);
    }
    try {
      return getParent().loadClass(name);
    } catch (ClassNotFoundException none) {
      missing.add(name);
      throw none;
    }
  }
}
