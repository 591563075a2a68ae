package io.streamproof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Reads a number from the second line of {@code offsets/N}: what Spark wrote down about batch N before it ran. */
final class OffsetLog {
  private OffsetLog() {}

  static long milliseconds(String checkpoint, long batch, String key) throws IOException {
    Path offsets = new Path(checkpoint, "offsets/" + batch);
    FileSystem files = offsets.getFileSystem(HadoopConfiguration.ofThisProcess());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(files.open(offsets), StandardCharsets.UTF_8))) {
      lines.readLine();
      Matcher found = Pattern.compile("\"" + key + "\"\\s*:\\s*(-?\\d+)").matcher(String.valueOf(lines.readLine()));
      if (!found.find()) {
        throw new IOException("streamproof: no " + key + " in " + offsets);
      }
      return Long.parseLong(found.group(1));
    }
  }
}
