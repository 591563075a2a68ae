package io.streamproof.proof;

import io.streamproof.ForklessFileSystem;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system under {@code sp-record://ID/absolute/path}: does what {@link RawLocalFileSystem} does, writes every
 * durable operation into the journal of recording ID in the very order in which it happened, and fires the faults armed there.
 *
 * <p>A directory is not a step: no reader of ours tells an empty directory from none. Listings are sorted, as HDFS sorts them, so
 * that two runs go through their files in the same order.
 */
public final class RecordingFileSystem extends ForklessFileSystem {
  static final String SCHEME = "sp-record";

  private URI uri = URI.create(SCHEME + "://none/");
  private String id;

  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    id = name.getAuthority();
    if (id == null) {
      throw new IOException("a recorded path names its recording, " + SCHEME + "://ID/absolute/path: found " + name);
    }
    uri = URI.create(SCHEME + "://" + id + "/");
    Recordings.openFrom(id, configuration);
    super.initialize(uri, configuration);
  }

  @Override
  public URI getUri() {
    // Asked for by the constructor of the parent, before the fields of this class are set.
    return uri == null ? URI.create(SCHEME + "://none/") : uri;
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  protected void checkPath(Path path) {
    // The parent compares schemes and authorities with its own; every path that reaches us is ours.
  }

  /** Every call of the parent passes here, reads as well: the one place where the dead are refused. */
  @Override
  public File pathToFile(Path path) {
    Recordings.require(id).refuseIfDead();
    return super.pathToFile(path);
  }

  /** The one place where the parent opens files, to create as well as to append. */
  @Override
  protected OutputStream createOutputStreamWithMode(Path path, boolean append, FsPermission permission) throws IOException {
    Recording recording = Recordings.require(id);
    String local = local(path);
    OutputStream raw =
        recording.step(
            append ? "append" : "create",
            local,
            null,
            () -> super.createOutputStreamWithMode(path, append, permission));
    return new RecordingOutputStream(raw, recording, local);
  }

  @Override
  protected OutputStream createOutputStream(Path path, boolean append) throws IOException {
    return createOutputStreamWithMode(path, append, null);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    if (!pathToFile(source).exists()) {
      return super.rename(source, destination);
    }
    return Recordings.require(id).step("rename", local(source), local(destination), () -> super.rename(source, destination));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    if (!pathToFile(path).exists()) {
      return super.delete(path, recursive);
    }
    return Recordings.require(id).step("delete", local(path), null, () -> super.delete(path, recursive));
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    return Recordings.require(id).step("truncate", local(path), null, () -> super.truncate(path, length));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] found = super.listStatus(path);
    Arrays.sort(found);
    return found;
  }

  private String local(Path path) {
    return pathToFile(path).getPath();
  }
}
