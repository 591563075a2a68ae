package io.streamproof;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/**
 * Takes a row out of the main path: appends it to this task's side file, or only counts it where no directory is given.
 *
 * <p>{@code divert(row, reason)} returns false, so that the filter it stands in drops the row. The file gets its name when the
 * task completes and goes when the task fails; what counts is the {@link Report}, not the file.
 */
public final class Divert implements UDF2<String, String, Boolean> {
  private static final long SEED = 42L;

  private final String door;
  private final String directory;
  private final String run;
  private final Reports reports;

  private transient SideFile file;

  public Divert(String door, String directory, String run, Reports reports) {
    this.door = door;
    this.directory = directory;
    this.run = run;
    this.reports = reports;
  }

  @Override
  public Boolean call(String row, String reason) throws IOException {
    if (file == null) {
      file = new SideFile();
    }
    file.append(row, reason);
    return Boolean.FALSE;
  }

  private final class SideFile implements TaskCompletionListener, TaskFailureListener {
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

    SideFile() throws IOException {
      TaskContext task = TaskScope.task();
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
      task.addTaskFailureListener(this);
      task.addTaskCompletionListener(this);
    }

    void append(String row, String reason) throws IOException {
      byte[] bytes = (row == null ? "" : row).getBytes(StandardCharsets.UTF_8);
      hash += XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, SEED);
      rows++;
      if (reason != null) {
        reasons.merge(reason, 1L, Long::sum);
      }
      if (out != null) {
        out.write(bytes);
        out.write('\n');
        checksum.update(bytes);
        checksum.update('\n');
        size += bytes.length + 1;
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
}
