package io.streamproof;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Takes a row out of the main path: appends it to this task's side file, or only counts it where no directory is given.
 *
 * <p>{@code divert(row, reason)} returns false, so that the filter it stands in drops the row. The file gets its name when the
 * task completes and goes when the task fails; what counts is the {@link Report}, not the file.
 */
public final class Divert implements UDF2<String, String, Boolean> {
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
      TaskContext task = TaskScope.task();
      file = new SideFile(door, directory, run, reports, task);
      task.addTaskFailureListener(file);
      task.addTaskCompletionListener(file);
    }
    file.append((row == null ? "" : row).getBytes(StandardCharsets.UTF_8), reason);
    return Boolean.FALSE;
  }
}
