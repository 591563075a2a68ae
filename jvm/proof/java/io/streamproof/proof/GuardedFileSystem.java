package io.streamproof.proof;

import io.streamproof.ForklessFileSystem;
import io.streamproof.ForklessFs;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system of a proof: it writes below the folders of the proof, and refuses every other path by name.
 *
 * <p>It also says what a file system that is read-only does not: Hadoop takes a folder that could not be made, or removed, for one that
 * was there, or was not.
 */
public class GuardedFileSystem extends ForklessFileSystem {
  private static volatile List<java.nio.file.Path> folders = List.of();

  /** Where may be written from now on; everywhere, if no folder is named. */
  public static void guard(List<String> allowed) {
    folders = allowed.stream().map(folder -> real(java.nio.file.Path.of(folder))).toList();
  }

  /** Whether the proof may write there. */
  public static boolean allows(java.nio.file.Path path) {
    List<java.nio.file.Path> allowed = folders;
    java.nio.file.Path found = real(path);
    return allowed.isEmpty() || found.startsWith("/dev") || found.startsWith("/proc") || allowed.stream().anyMatch(found::startsWith);
  }

  /** The path without links, as far as it is there. */
  private static java.nio.file.Path real(java.nio.file.Path path) {
    java.nio.file.Path there = path.toAbsolutePath().normalize();
    java.nio.file.Path rest = null;
    while (there != null && !Files.exists(there, LinkOption.NOFOLLOW_LINKS)) {
      rest = rest == null ? there.getFileName() : there.getFileName().resolve(rest);
      there = there.getParent();
    }
    try {
      java.nio.file.Path base = there == null ? path.toAbsolutePath() : there.toRealPath();
      return rest == null ? base : base.resolve(rest);
    } catch (IOException broken) {
      return path.toAbsolutePath().normalize();
    }
  }

  private void require(Path path) throws IOException {
    java.nio.file.Path wanted = pathToFile(path).toPath();
    if (!allows(wanted)) {
      throw new WriteRefused(wanted.toString());
    }
  }

  @Override
  protected OutputStream createOutputStreamWithMode(Path path, boolean append, FsPermission permission) throws IOException {
    require(path);
    return super.createOutputStreamWithMode(path, append, permission);
  }

  @Override
  protected OutputStream createOutputStream(Path path, boolean append) throws IOException {
    require(path);
    return super.createOutputStream(path, append);
  }

  @Override
  public boolean mkdirs(Path path) throws IOException {
    if (!pathToFile(path).isDirectory()) {
      require(path);
    }
    return super.mkdirs(path);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    if (!pathToFile(path).isDirectory()) {
      require(path);
    }
    return super.mkdirs(path, permission);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    require(source);
    require(destination);
    return super.rename(source, destination);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    require(path);
    return super.delete(path, recursive);
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    require(path);
    return super.truncate(path, length);
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    require(path);
    super.setPermission(path, permission);
  }

  @Override
  public void setOwner(Path path, String user, String group) throws IOException {
    require(path);
    super.setOwner(path, user, group);
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    require(path);
    super.setTimes(path, modified, accessed);
  }

  /** A path of a real place; its message is that path. */
  public static final class WriteRefused extends IOException {
    private static final long serialVersionUID = 1L;

    WriteRefused(String path) {
      super(path);
    }
  }

  /** For {@code spark.hadoop.fs.file.impl}: Hadoop insists on a {@link LocalFileSystem}, with its checksums, for this scheme. */
  public static final class WithChecksums extends ForklessFileSystem.WithChecksums {
    public WithChecksums() {
      super(new GuardedFileSystem());
    }
  }

  /** The same behind {@code FileContext}, for {@code spark.hadoop.fs.AbstractFileSystem.file.impl}. */
  public static final class Behind extends ForklessFs {
    public Behind(URI uri, Configuration configuration) throws IOException, URISyntaxException {
      super(uri, configuration, new GuardedFileSystem());
    }
  }
}
