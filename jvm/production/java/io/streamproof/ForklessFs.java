package io.streamproof;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * {@link ForklessFileSystem} with its checksums behind {@code FileContext}, for {@code spark.hadoop.fs.AbstractFileSystem.file.impl}.
 *
 * <p>Spark writes some files of a checkpoint through {@code FileSystem} and removes them through {@code FileContext}: if only one of the two
 * knew checksums, each such file would leave its checksum behind.
 */
public class ForklessFs extends ChecksumFs {
  public ForklessFs(URI uri, Configuration configuration) throws IOException, URISyntaxException {
    this(uri, configuration, new ForklessFileSystem());
  }

  protected ForklessFs(URI uri, Configuration configuration, ForklessFileSystem files) throws IOException, URISyntaxException {
    super(new WithoutChecksums(uri, configuration, files));
  }

  @Override
  public Path getChecksumFile(Path file) {
    return ForklessFileSystem.checksumOf(file);
  }

  /**
   * Hadoop renames a checksum after its file. Where the process dies in between, the file would have the checksum of what was there before, and
   * be taken for torn; so that one goes first. A file without a checksum is read as it is.
   */
  @Override
  public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
    if (overwrite || !isThere(target)) {
      getMyFs().delete(getChecksumFile(target), false);
    }
    super.renameInternal(source, target, overwrite);
  }

  private boolean isThere(Path path) throws IOException {
    try {
      getMyFs().getFileStatus(path);
      return true;
    } catch (FileNotFoundException none) {
      return false;
    }
  }

  private static final class WithoutChecksums extends DelegateToFileSystem {
    WithoutChecksums(URI uri, Configuration configuration, ForklessFileSystem files) throws IOException, URISyntaxException {
      super(uri, files, configuration, "file", false);
    }

    @Override
    public int getUriDefaultPort() {
      return -1;
    }

    @Override
    public boolean isValidName(String source) {
      return true;
    }
  }
}
