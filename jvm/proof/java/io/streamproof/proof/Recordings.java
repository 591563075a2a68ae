package io.streamproof.proof;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/** The open recordings of this JVM, by the authority of their URIs. */
public final class Recordings {
  /** In Hadoop's configuration `streamproof.recording.ID.folder` opens recording ID in a child process. */
  static final String PREFIX = "streamproof.recording.";

  private static final ConcurrentHashMap<String, Recording> OPEN = new ConcurrentHashMap<>();

  private Recordings() {}

  /**
   * Opens a recording. `folder` (absolute, local) gets `journal.jsonl` and `blobs/`.
   *
   * @param id letters, digits and dashes, lower case, beginning with a letter: it is the host of a URI
   */
  public static void open(String id, String folder) throws IOException {
    if (!id.matches("[a-z][a-z0-9-]*")) {
      throw new IllegalArgumentException("a recording id is lower-case letters, digits and dashes, not " + id);
    }
    Recording recording = new Recording(id, Path.of(folder));
    if (OPEN.putIfAbsent(id, recording) != null) {
      recording.close();
      throw new IllegalStateException("recording " + id + " is open already");
    }
  }

  /** Closes the journal and forgets the recording; later calls on its paths are refused. */
  public static void close(String id) throws IOException {
    Recording recording = OPEN.remove(id);
    if (recording != null) {
      recording.close();
    }
    URI uri = URI.create(RecordingFileSystem.SCHEME + "://" + id + "/");
    Configuration configuration = new Configuration(false);
    configuration.setClass("fs." + RecordingFileSystem.SCHEME + ".impl", RecordingFileSystem.class, FileSystem.class);
    FileSystem.get(uri, configuration).close();
  }

  /** How many operations the journal holds. */
  public static long size(String id) {
    return require(id).size();
  }

  static Recording require(String id) {
    Recording recording = OPEN.get(id);
    if (recording == null) {
      throw new IllegalStateException("recording " + id + " is not open");
    }
    return recording;
  }

  /** Opens what the configuration of a child process asks for, its fault included; does nothing if it is open. */
  static void openFrom(String id, Configuration configuration) throws IOException {
    String mine = PREFIX + id + ".";
    String folder = configuration.get(mine + "folder");
    if (folder == null) {
      return;
    }
    synchronized (OPEN) {
      if (OPEN.containsKey(id)) {
        return;
      }
      open(id, folder);
      String operation = configuration.get(mine + "fault.operation");
      if (operation != null) {
        Faults.arm(
            id,
            operation,
            configuration.get(mine + "fault.path"),
            configuration.get(mine + "fault.side"),
            configuration.getInt(mine + "fault.occurrence", 1),
            configuration.get(mine + "fault.since", ""),
            configuration.get(mine + "fault.action"));
      }
    }
  }
}
