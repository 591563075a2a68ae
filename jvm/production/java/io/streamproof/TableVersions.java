package io.streamproof;

/** Which version of a table a batch looks rows up in; implemented in Python. */
public interface TableVersions {
  /** The bytes of that version and the folder with its rows, as "1234\tpath"; of no batch (-1) those of the newest version. */
  String of(long batch);
}
