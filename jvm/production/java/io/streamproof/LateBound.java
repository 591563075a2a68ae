package io.streamproof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF0;

/**
 * The late bound of the running batch in microseconds: the watermark of the batch before, from the offset log (R10).
 *
 * <p>It is read once per task. Batch 0 has the bound 1970-01-01T00:00:00Z.
 */
public final class LateBound implements UDF0<Long> {
  private static final Pattern WATERMARK = Pattern.compile("\"batchWatermarkMs\"\\s*:\\s*(-?\\d+)");

  private final String checkpoint;
  private transient boolean read;
  private transient Long bound;

  public LateBound(String checkpoint) {
    this.checkpoint = checkpoint;
  }

  @Override
  public Long call() throws IOException {
    if (!read) {
      TaskContext context = TaskScope.task();
      bound = boundOf(TaskScope.batch(context));
      read = true;
    }
    return bound;
  }

  private Long boundOf(long batch) throws IOException {
    if (batch == 0) {
      return 0L;
    }
    Path offsets = new Path(checkpoint, "offsets/" + (batch - 1));
    FileSystem files = offsets.getFileSystem(HadoopConfiguration.ofThisProcess());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(files.open(offsets), StandardCharsets.UTF_8))) {
      lines.readLine();
      Matcher watermark = WATERMARK.matcher(String.valueOf(lines.readLine()));
      if (!watermark.find()) {
        throw new IOException("streamproof: no watermark in " + offsets);
      }
      return Long.parseLong(watermark.group(1)) * 1000L;
    }
  }
}
