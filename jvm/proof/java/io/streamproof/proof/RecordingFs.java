package io.streamproof.proof;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/**
 * The same file system behind Hadoop's other door, {@code FileContext}: without it Spark picks another checkpoint manager than in
 * production (R16). Set as {@code spark.hadoop.fs.AbstractFileSystem.sp-record.impl}.
 */
public final class RecordingFs extends DelegateToFileSystem {
  public RecordingFs(URI uri, Configuration configuration) throws IOException, URISyntaxException {
    // "false": an authority may be left out. With true Hadoop insists on a port as well; the file system refuses a missing one.
    super(uri, new RecordingFileSystem(), configuration, RecordingFileSystem.SCHEME, false);
  }

  @Override
  public int getUriDefaultPort() {
    return -1;
  }

  @Override
  public boolean isValidName(String source) {
    return true; // as RawLocalFs: the local file system decides
  }
}
