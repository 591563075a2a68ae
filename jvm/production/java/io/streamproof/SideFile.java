package io.streamproof;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * The rows that one task takes out of the main path by one door: appended to a file, or only counted where no directory is given.
 *
 * <p>The file gets its name when the task completes and goes when the task fails; what counts is the {@link Report}, not the file. Whoever
 * makes one has it told of both.
 */
final class SideFile implements TaskCompletionListener, TaskFailureListener {
  static final long SEED = 42L;

  private final String door;
  private final Reports reports;
  private final long batch;
  private final int partition;
  private final long attempt;
  private final Map<String, Long> reasons = new HashMap<>();
  private final CRC32 checksum = new CRC32();
  private FileSystem files;
  private Path written;
  private Path named;
  private OutputStream out;
  private long rows;
  private long size;
  private long hash;
  private boolean failed;

  SideFile(String door, String directory, String run, Reports reports, TaskContext task) throws IOException {
    this.door = door;
    this.reports = reports;
    batch = TaskScope.batch(task);
    partition = task.partitionId();
    attempt = task.taskAttemptId();
    if (directory != null) {
      Path folder = new Path(directory, String.format(Locale.ROOT, "%06d-%s", batch, run));
      String name = String.format(Locale.ROOT, "%s-%05d-%d.jsonl", door.replaceAll("[^A-Za-z0-9]+", "_"), partition, attempt);
      named = new Path(folder, name);
      written = new Path(folder, "." + name + ".tmp");
      files = named.getFileSystem(HadoopConfiguration.ofThisProcess());
      out = new java.io.BufferedOutputStream(files.create(written, true), 1 << 16);
    }
  }

  /** Takes a row, as UTF-8. */
  void append(byte[] row, String reason) throws IOException {
    hash += XXH64.hashUnsafeBytes(row, Platform.BYTE_ARRAY_OFFSET, row.length, SEED);
    rows++;
    if (reason != null) {
      reasons.merge(reason, 1L, Long::sum);
    }
    if (out != null) {
      out.write(row);
      out.write('\n');
      checksum.update(row);
      checksum.update('\n');
      size += row.length + 1;
    }
  }

  @Override
  public void onTaskFailure(TaskContext task, Throwable error) {
    failed = true;
  }

  @Override
  public void onTaskCompletion(TaskContext task) {
    try {
      if (out != null) {
        out.close();
        if (failed || task.isInterrupted()) {
          files.delete(written, false);
          return;
        }
        if (!files.rename(written, named)) {
          throw new IOException("streamproof: could not name the side file " + named);
        }
      }
      if (!failed && !task.isInterrupted()) {
        String crc = out == null ? null : String.format(Locale.ROOT, "crc32:%08x", checksum.getValue());
        String name = named == null ? null : named.getName();
        reports.add(
            new Report(door, batch, partition, attempt, name, size, crc, rows, rows, hash, new double[0], new double[0], reasons));
      }
    } catch (IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }
}
