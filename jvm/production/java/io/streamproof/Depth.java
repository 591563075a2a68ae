package io.streamproof;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** How deep a path lies, and where in it a pattern begins. */
final class Depth {
  private static final String PATTERN = "{}[]*?";

  private Depth() {}

  /** The names of a path, from the root of its store on. */
  static List<String> parts(String path) {
    return Arrays.stream(new Path(path).toUri().getPath().split("/")).filter(part -> !part.isEmpty()).toList();
  }

  /** Whether a name of a path is a pattern: a backslash makes the character after it an ordinary one. */
  static boolean hasPattern(String part) {
    for (int place = 0; place < part.length(); place++) {
      if (part.charAt(place) == '\\') {
        place++;
      } else if (PATTERN.indexOf(part.charAt(place)) >= 0) {
        return true;
      }
    }
    return false;
  }
}
