package io.streamproof;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobExpander;
import org.apache.hadoop.fs.GlobFilter;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/** Hadoop's patterns of paths. Hadoop itself takes a name with a colon, such as {@code 10:00.json}, for a URI, and stops at it. */
final class Globs {
  private Globs() {}

  /** What matches, in the order of the paths; as Hadoop has it, null where the path is no pattern and nothing is there. */
  static FileStatus[] found(FileSystem files, Path pattern, PathFilter filter) throws IOException {
    TreeMap<Path, FileStatus> found = new TreeMap<>();
    boolean isPattern = false;
    for (String one : GlobExpander.expand(pattern.toUri().getPath())) {
      List<Path> now = List.of(files.makeQualified(new Path(pattern.toUri().getScheme(), pattern.toUri().getAuthority(), "/")));
      for (String part : Arrays.stream(one.split("/")).filter(each -> !each.isEmpty()).toList()) {
        GlobFilter named = new GlobFilter(part);
        isPattern |= named.hasPattern();
        now = named.hasPattern() ? matching(files, now, named) : named(now, part.replaceAll("\\\\(.)", "$1"));
      }
      for (Path path : now) {
        FileStatus status = status(files, path);
        if (status != null && filter.accept(path)) {
          found.put(path, status);
        }
      }
    }
    return found.isEmpty() && !isPattern ? null : found.values().toArray(new FileStatus[0]);
  }

  private static List<Path> named(List<Path> folders, String name) {
    return folders.stream().map(folder -> new Path(folder, new Path(null, null, name))).toList();
  }

  private static List<Path> matching(FileSystem files, List<Path> folders, GlobFilter named) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path folder : folders) {
      FileStatus status = status(files, folder);
      if (status != null && status.isDirectory()) {
        for (FileStatus child : files.listStatus(folder)) {
          if (named.accept(child.getPath())) {
            found.add(child.getPath());
          }
        }
      }
    }
    return found;
  }

  private static FileStatus status(FileSystem files, Path path) throws IOException {
    try {
      return files.getFileStatus(path);
    } catch (FileNotFoundException gone) {
      return null;
    }
  }
}
