package io.streamproof;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/** {@link ForklessFileSystem} behind {@code FileContext}, for {@code spark.hadoop.fs.AbstractFileSystem.file.impl}. */
public final class ForklessFs extends DelegateToFileSystem {
  public ForklessFs(URI uri, Configuration configuration) throws IOException, URISyntaxException {
    super(uri, new ForklessFileSystem(), configuration, "file", false);
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
