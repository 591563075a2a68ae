package io.streamproof;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/** Which files of a folder are read: those in it, and those below folders that name a column, such as {@code date=2026-03-02}. */
public final class FolderFilter implements PathFilter, Configurable, Serializable {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN = 100;
  private static final String CLASS = "mapreduce.input.pathFilter.class";
  private static final String OF = "streamproof.folder";
  private static final String WRITTEN = "streamproof.folder.written";
  private static final Map<String, Set<String>> LEFT_OUT = new ConcurrentHashMap<>();

  private String folder;
  private int depth;

  static Map<String, String> options(String path, String written) {
    return Map.of(CLASS, FolderFilter.class.getName(), OF, path, WRITTEN, written);
  }

  /** The folders below a path, as it is configured, whose files were not read, as far as this driver has listed them. */
  static List<String> leftOut(String path) {
    Set<String> found = LEFT_OUT.getOrDefault(path, Set.of());
    synchronized (found) {
      return List.copyOf(found);
    }
  }

  @Override
  public boolean accept(Path file) {
    int place = 0;
    List<String> parts = Depth.parts(file.toString());
    for (String part : parts.subList(0, parts.size() - 1)) {
      if (place++ >= depth && !FolderNames.isNamed(part)) {
        Set<String> others = LEFT_OUT.computeIfAbsent(folder, key -> new TreeSet<>());
        synchronized (others) {
          if (others.size() < SHOWN) {
            others.add(String.join("/", parts.subList(depth, parts.size() - 1)));
          }
        }
        return false;
      }
    }
    return true;
  }

  @Override
  public void setConf(Configuration conf) {
    folder = conf.get(WRITTEN);
    depth = Depth.parts(conf.get(OF)).size();
  }

  @Override
  public Configuration getConf() {
    return null;
  }
}
