package io.streamproof;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system without child processes.
 *
 * <p>Without Hadoop's native library {@link RawLocalFileSystem} starts {@code chmod} for every file it creates and {@code readlink}
 * for every rename through {@code FileContext}: some 50 ms each, most of the time of a small batch. What lies on the disk is the same.
 */
public class ForklessFileSystem extends RawLocalFileSystem {
  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    String mode = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
    try {
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
    } catch (UnsupportedOperationException notPosix) {
      super.setPermission(path, permission);
    }
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

  /** For {@code spark.hadoop.fs.file.impl}: Hadoop insists on a {@link LocalFileSystem}, with its checksums, for this scheme. */
  public static class WithChecksums extends LocalFileSystem {
    public WithChecksums() {
      this(new ForklessFileSystem());
    }

    protected WithChecksums(ForklessFileSystem files) {
      super(files);
    }

    /** Hadoop makes the name of a checksum into a path, where the part before a colon would be a scheme: such a file could not be opened. */
    @Override
    public Path getChecksumFile(Path file) {
      return new Path(file.getParent(), new Path(null, null, "." + file.getName() + ".crc"));
    }
  }
}
