package io.streamproof;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system without child processes.
 *
 * <p>Without Hadoop's native library {@link RawLocalFileSystem} starts {@code chmod} for every file it creates and {@code readlink}
 * for every rename through {@code FileContext}: some 50 ms each, most of the time of a small batch. What lies on the disk is the same.
 * And it leaves no file out because of its name, see {@link LocalNames} and {@link Globs}.
 */
public class ForklessFileSystem extends RawLocalFileSystem {
  private static final PathFilter ANY = path -> true;

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    String mode = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
    try {
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
    } catch (UnsupportedOperationException notPosix) {
      super.setPermission(path, permission);
    }
  }

  /** Stops at a name that Java cannot read: Hadoop leaves such a file out. */
  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    LocalNames.require(pathToFile(path));
    return super.listStatus(path);
  }

  @Override
  public FileStatus[] globStatus(Path pattern) throws IOException {
    return globStatus(pattern, ANY);
  }

  @Override
  public FileStatus[] globStatus(Path pattern, PathFilter filter) throws IOException {
    return Globs.found(this, pattern, filter);
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return getFileStatus(path);
  }

  @Override
  public boolean supportsSymlinks() {
    return false;
  }

  @Override
  public URI getUri() {
    return URI.create("file:///");
  }

  /** Hadoop makes the name of a checksum into a path, where the part before a colon would be a scheme: such a file could not be opened. */
  static Path checksumOf(Path file) {
    return new Path(file.getParent(), new Path(null, null, "." + file.getName() + ".crc"));
  }

  /** For {@code spark.hadoop.fs.file.impl}: Hadoop insists on a {@link LocalFileSystem}, with its checksums, for this scheme. */
  public static class WithChecksums extends LocalFileSystem {
    public WithChecksums() {
      this(new ForklessFileSystem());
    }

    protected WithChecksums(ForklessFileSystem files) {
      super(files);
    }

    @Override
    public FileStatus[] globStatus(Path pattern) throws IOException {
      return globStatus(pattern, ANY);
    }

    @Override
    public FileStatus[] globStatus(Path pattern, PathFilter filter) throws IOException {
      return Globs.found(this, pattern, filter);
    }

    @Override
    public Path getChecksumFile(Path file) {
      return checksumOf(file);
    }
  }
}
