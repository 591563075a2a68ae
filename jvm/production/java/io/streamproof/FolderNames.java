package io.streamproof;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;

/** What the folders of a path say: {@code date=2026-03-02} is a value of {@code date}, with its escapes ({@code %3A}) undone. */
final class FolderNames {
  private final boolean isCaseSensitive;
  private final int above;

  /**
   * @param path the folder of the source, or the pattern of such; only what lies below it counts, as for Spark
   */
  FolderNames(String path, boolean isCaseSensitive) {
    this.isCaseSensitive = isCaseSensitive;
    above = Depth.parts(path).size();
  }

  /** By name of a column the text that the folders of a file give it, the innermost if there are several. */
  Map<String, String> values(Path folder) {
    Map<String, String> found = new LinkedHashMap<>();
    Deque<String> parts = new ArrayDeque<>();
    for (Path part = folder; part != null && !part.isRoot(); part = part.getParent()) {
      parts.addFirst(part.getName());
    }
    int number = 0;
    for (String part : parts) {
      if (number++ >= above && isNamed(part)) {
        int sign = part.indexOf('=');
        found.put(as(unescaped(part.substring(0, sign))), unescaped(part.substring(sign + 1)));
      }
    }
    return found;
  }

  String as(String name) {
    return isCaseSensitive ? name : name.toLowerCase(Locale.ROOT);
  }

  Set<String> as(Collection<String> columns) {
    return columns.stream().map(this::as).collect(Collectors.toSet());
  }

  static boolean isNamed(String folder) {
    return folder.indexOf('=') > 0;
  }

  private static String unescaped(String part) {
    return ExternalCatalogUtils.unescapePathName(part);
  }
}
