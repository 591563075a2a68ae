package io.streamproof;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** Small files and directory renames through Hadoop's file systems, as Spark's own checkpoint does them. */
public final class Storage {
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
  private final Configuration configuration;

  public Storage(SparkSession spark) {
    this.configuration = spark.sessionState().newHadoopConf();
  }

  /** The text of a file, or null where there is none; empty where its checksum says that it is torn. */
  public Object read(String path) throws IOException {
    Path file = new Path(path);
    FileSystem files = file.getFileSystem(configuration);
    if (!files.exists(file)) {
      return null;
    }
    try (FSDataInputStream in = files.open(file)) {
      return LongText.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (ChecksumException torn) {
      return ""; // as good as nothing: whoever reads it knows how to mend an empty file
    }
  }

  /** Creates a file whole or not at all; false where it was there already. */
  public boolean createAtomic(String path, String text) throws IOException {
    return writtenAtomic(path, text, false);
  }

  /** Puts a whole file in the place of another, or of none; a reader finds one of the two. */
  public void replaceAtomic(String path, String text) throws IOException {
    writtenAtomic(path, text, true);
  }

  private boolean writtenAtomic(String path, String text, boolean overwrite) throws IOException {
    Path file = new Path(path);
    file.getFileSystem(configuration).mkdirs(file.getParent());
    CheckpointFileManager manager = CheckpointFileManager.create(file.getParent(), configuration);
    CheckpointFileManager.CancellableFSDataOutputStream out = manager.createAtomic(file, overwrite);
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.close();
      return true;
    } catch (FileAlreadyExistsException there) {
      out.cancel();
      return false;
    } catch (IOException | RuntimeException error) {
      out.cancel();
      throw error;
    }
  }

  /** Writes a file in place; for directories that no reader sees yet. */
  public void write(String path, String text) throws IOException {
    Path file = new Path(path);
    try (java.io.OutputStream out = file.getFileSystem(configuration).create(file, true)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** The entries of a directory, a line "name\tbytes" each (bytes -1 for a directory), sorted; empty where there is none. */
  public Object list(String path) throws IOException {
    Path folder = new Path(path);
    FileSystem files = folder.getFileSystem(configuration);
    List<String> names = new ArrayList<>();
    if (files.exists(folder)) {
      for (FileStatus status : files.listStatus(folder)) {
        names.add(status.getPath().getName() + "\t" + (status.isDirectory() ? -1 : status.getLen()));
      }
    }
    names.sort(null);
    return LongText.of(String.join("\n", names));
  }

  /** The names in a directory, a line each, in no order; empty where there is none. A local disk is not asked about each of them. */
  public Object names(String path) throws IOException {
    return LongText.of(String.join("\n", namesIn(path)));
  }

  private List<String> namesIn(String path) throws IOException {
    Path folder = new Path(path);
    FileSystem files = folder.getFileSystem(configuration);
    if ("file".equals(files.getUri().getScheme())) {
      String[] found = new java.io.File(files.makeQualified(folder).toUri().getPath()).list();
      return found == null ? List.of() : List.of(found);
    }
    List<String> names = new ArrayList<>();
    if (files.exists(folder)) {
      for (FileStatus status : files.listStatus(folder)) {
        names.add(status.getPath().getName());
      }
    }
    return names;
  }

  /** Of the names in a directory that are a prefix and a number up to `last`: how many, their sum, the smallest and the largest, -1 without one. */
  public String numbered(String path, String prefix, long last) throws IOException {
    long count = 0;
    long sum = 0;
    long oldest = -1;
    long newest = -1;
    for (String name : namesIn(path)) {
      if (!name.startsWith(prefix) || !NUMBER.matcher(name).region(prefix.length(), name.length()).matches()) {
        continue;
      }
      long number = Long.parseLong(name, prefix.length(), name.length(), 10);
      if (number <= last) {
        count++;
        sum += number;
        oldest = oldest < 0 ? number : Math.min(oldest, number);
        newest = Math.max(newest, number);
      }
    }
    return count + " " + sum + " " + oldest + " " + newest;
  }

  /** The bytes of files given by their URIs, a line each; -1 where there is none. */
  public Object sizes(List<String> uris) throws IOException {
    List<String> sizes = new ArrayList<>();
    for (String uri : uris) {
      Path file = new Path(java.net.URI.create(uri));
      try {
        sizes.add(Long.toString(file.getFileSystem(configuration).getFileStatus(file).getLen()));
      } catch (java.io.FileNotFoundException none) {
        sizes.add("-1");
      }
    }
    return LongText.of(String.join("\n", sizes));
  }

  public boolean exists(String path) throws IOException {
    Path file = new Path(path);
    return file.getFileSystem(configuration).exists(file);
  }

  /** Renames; an existing target or a store that says no is an error, never a silent false. */
  public void rename(String from, String to) throws IOException {
    Path source = new Path(from);
    Path target = new Path(to);
    FileSystem files = source.getFileSystem(configuration);
    if (files.exists(target)) {
      throw new FileAlreadyExistsException(to);
    }
    files.mkdirs(target.getParent());
    if (!files.rename(source, target)) {
      throw new IOException("could not rename " + from + " to " + to);
    }
    // Where another process made the target in the meantime, a rename moves the source into it.
    Path inside = new Path(target, source.getName());
    if (files.exists(inside)) {
      files.delete(inside, true);
      throw new FileAlreadyExistsException(to);
    }
  }

  public void delete(String path) throws IOException {
    Path file = new Path(path);
    file.getFileSystem(configuration).delete(file, true);
  }
}
