package io.streamproof;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** How deep a path lies. */
final class Depth {
  private Depth() {}

  /** The names of a path, from the root of its store on. */
  static List<String> parts(String path) {
    return Arrays.stream(new Path(path).toUri().getPath().split("/")).filter(part -> !part.isEmpty()).toList();
  }
}
