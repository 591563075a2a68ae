package io.streamproof;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * Names on a local disk that Java cannot read: bytes that are no text in the encoding of the process.
 *
 * <p>Java puts a replacement in the place of such bytes. No file has that name, so Hadoop leaves the file out, as if it had been deleted
 * while the folder was listed. In an encoding other than UTF-8 each letter beyond ASCII is such a name, or is another one at the next start.
 */
final class LocalNames {
  private static final boolean UTF_8 = "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));
  private static final char REPLACEMENT = '\uFFFD';

  private LocalNames() {}

  /** Stops where a folder has such a name; nothing happens where it is no folder. */
  static void require(File folder) throws IOException {
    String unread = unread(folder);
    if (unread != null && Arrays.asList(names(folder)).contains(unread)) { // it was not deleted in the meantime
      throw new IOException("streamproof-names: " + (UTF_8 ? "UTF-8" : System.getProperty("sun.jnu.encoding")) + " " + folder + "/" + unread);
    }
  }

  /** Stops at a configured path that the encoding of the process does not have. */
  static void requireReadable(FileSystem files, Path path) throws IOException {
    String written = path.toUri().getPath();
    if (!UTF_8 && raw(files) instanceof RawLocalFileSystem && written.chars().anyMatch(each -> each > 127)) {
      throw new IOException("streamproof-names: " + System.getProperty("sun.jnu.encoding") + " " + written);
    }
  }

  /** Whether a file system is that of a local disk, and does not look itself. */
  static boolean areUnwatched(FileSystem files) {
    FileSystem raw = raw(files);
    return raw instanceof RawLocalFileSystem && !(raw instanceof ForklessFileSystem);
  }

  /** The same for all that lies below some roots of such a file system. */
  static void requireBelow(FileSystem files, Iterable<Path> roots) throws IOException {
    for (Path root : roots) {
      below((RawLocalFileSystem) raw(files), root);
    }
  }

  private static FileSystem raw(FileSystem files) {
    return files instanceof FilterFileSystem outer ? outer.getRawFileSystem() : files;
  }

  private static void below(RawLocalFileSystem files, Path folder) throws IOException {
    File local = files.pathToFile(folder);
    require(local);
    for (String name : names(local)) {
      boolean isSeen = !name.startsWith(".") && (!name.startsWith("_") || name.contains("="));
      if (isSeen && new File(local, name).isDirectory()) {
        below(files, new Path(folder, new Path(null, null, name)));
      }
    }
  }

  private static String unread(File folder) {
    Set<String> seen = new HashSet<>();
    for (String name : names(folder)) {
      if (UTF_8 ? name.indexOf(REPLACEMENT) < 0 : name.chars().allMatch(each -> each < 128 && each != '?')) {
        continue;
      }
      boolean isItself = seen.add(name) && (UTF_8 || name.chars().allMatch(each -> each < 128));
      if (!isItself || !Files.exists(new File(folder, name).toPath(), LinkOption.NOFOLLOW_LINKS)) {
        return name;
      }
    }
    return null;
  }

  private static String[] names(File folder) {
    String[] found = folder.list();
    return found == null ? new String[0] : found;
  }
}
