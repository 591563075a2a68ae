package io.streamproof;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.AbstractIterator;

/**
 * The records of a file of CSV, one after the other; each byte after the header is in one of them, line ends aside.
 *
 * <p>Line ends in quotes belong to the record. What is no record of the columns is a line by itself, and reading goes on with the next
 * line: a quote that nobody closes costs its own line, and not the rest of the file.
 */
final class CsvRecords extends AbstractIterator<InternalRow> {
  private static final int LONGEST = 1 << 24; // bytes of a record with line ends in quotes
  private static final int BUFFER = 1 << 16;
  private static final int END = -1;
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final CsvDialect dialect;
  private final String[] wanted;
  private final InputStream input;
  private final String file;
  private final CsvObject object;
  private final String headerProblem;
  private final List<byte[]> fields = new ArrayList<>();
  private final List<Boolean> quoted = new ArrayList<>();
  private byte[] buffer = new byte[BUFFER];
  private byte[] field = new byte[BUFFER];
  private int start; // of the record, in the buffer
  private int limit;
  private int next; // after the record, and its line end
  private boolean ended;

  /**
   * @param wanted of "original", "json" and "problem" those that a row has
   * @param file its name, for what is said where it cannot be read
   */
  CsvRecords(CsvDialect dialect, String[] wanted, InputStream input, String file) {
    this.dialect = dialect;
    this.wanted = wanted;
    this.input = input;
    this.file = file;
    if (at(0) == (MARK[0] & 0xFF) && at(1) == (MARK[1] & 0xFF) && at(2) == (MARK[2] & 0xFF)) {
      start = MARK.length;
    }
    List<String> names = Arrays.asList(dialect.columns().fieldNames());
    if (dialect.header() && at(0) != END) {
      names = read() == null ? fields.stream().map(name -> new String(name, StandardCharsets.UTF_8).strip()).toList() : List.of();
      headerProblem = problemOf(names);
      start = headerProblem == null ? next : start; // a wrong one is kept, with all that stands below it
    } else {
      headerProblem = null;
    }
    object = new CsvObject(dialect, names);
  }

  @Override
  public boolean hasNext() {
    return at(0) != END;
  }

  @Override
  public InternalRow next() {
    String problem = headerProblem;
    if (problem != null) {
      readLine();
    } else {
      problem = read();
      if (problem == null) {
        problem = fields.size() == object.width() ? null : miscounted();
      }
      if (problem != null) {
        readLine();
      }
    }
    UTF8String original = UTF8String.fromBytes(Arrays.copyOfRange(buffer, start, end()));
    if (problem == null && !original.isValid()) {
      problem = "bytes that are not UTF-8";
    }
    Object[] row = new Object[wanted.length];
    for (int column = 0; column < wanted.length; column++) {
      row[column] =
          switch (wanted[column]) {
            case "original" -> original;
            case "json" -> problem == null ? object.of(fields, quoted) : null;
            default -> problem == null ? null : UTF8String.fromString(problem);
          };
    }
    start = next;
    return new GenericInternalRow(row);
  }

  private String miscounted() {
    if (end() == start) {
      return "an empty line";
    }
    if (fields.size() < object.width()) {
      return "fewer fields than columns";
    }
    String aside = dialect.said();
    return "more fields than columns" + (aside.isEmpty() ? "" : ": the path of the file says " + aside + ", so the file must not have it");
  }

  /** What is wrong with a header; null where it names every column once, in whatever order, and perhaps others. */
  private String problemOf(List<String> names) {
    for (String column : dialect.columns().fieldNames()) {
      if (!names.contains(column)) {
        return "the header of its file has no column " + column;
      }
      if (names.indexOf(column) != names.lastIndexOf(column)) {
        return "the header of its file has the column " + column + " twice";
      }
    }
    return null;
  }

  /** Reads the fields of a record; why it is none, or null. */
  private String read() {
    fields.clear();
    quoted.clear();
    int place = 0;
    while (true) {
      boolean isQuoted = at(place) == (dialect.quote() & 0xFF);
      if (isQuoted) {
        place = readQuoted(place + 1);
        if (place < 0) {
          return "a quote that is not closed";
        }
      } else {
        int begin = place;
        while (!isDelimiter(at(place)) && !isLineEnd(at(place))) {
          place++;
        }
        fields.add(Arrays.copyOfRange(buffer, start + begin, start + place));
      }
      quoted.add(isQuoted);
      if (!isDelimiter(at(place))) {
        if (!isLineEnd(at(place))) {
          return "text after a closing quote";
        }
        next = behindLineEnd(place);
        return null;
      }
      place++;
    }
  }

  /** Reads a field in quotes; the place after its closing quote, or -1 where there is none. */
  private int readQuoted(int begin) {
    int place = begin;
    int length = 0;
    while (true) {
      int letter = at(place);
      if (letter == END || place > LONGEST) {
        return -1;
      }
      int following = letter == (dialect.escape() & 0xFF) ? at(place + 1) : END;
      boolean isEscaped = following == (dialect.quote() & 0xFF) || following != END && following == (dialect.escape() & 0xFF);
      if (isEscaped) {
        letter = following;
        place++;
      } else if (letter == (dialect.quote() & 0xFF)) {
        fields.add(Arrays.copyOf(field, length));
        return place + 1;
      }
      if (length == field.length) {
        field = Arrays.copyOf(field, 2 * length);
      }
      field[length++] = (byte) letter;
      place++;
    }
  }

  private void readLine() {
    int place = 0;
    while (!isLineEnd(at(place))) {
      place++;
    }
    next = behindLineEnd(place);
  }

  private int behindLineEnd(int place) {
    int letter = at(place);
    int width = letter == END ? 0 : letter == '\r' && at(place + 1) == '\n' ? 2 : 1;
    return start + place + width;
  }

  /** The place in the buffer after the last byte of the record, without its line end. */
  private int end() {
    int end = next;
    if (end > start && buffer[end - 1] == '\n') {
      end--;
      return end > start && buffer[end - 1] == '\r' ? end - 1 : end;
    }
    return end > start && buffer[end - 1] == '\r' ? end - 1 : end;
  }

  private boolean isDelimiter(int letter) {
    return letter == (dialect.delimiter() & 0xFF);
  }

  private static boolean isLineEnd(int letter) {
    return letter == '\n' || letter == '\r' || letter == END;
  }

  /** The byte at a place of the record; -1 after the end of the file. */
  private int at(int place) {
    while (start + place >= limit) {
      if (ended) {
        return END;
      }
      fill();
    }
    return buffer[start + place] & 0xFF;
  }

  private void fill() {
    if (limit == buffer.length) {
      if (start > buffer.length / 2) {
        System.arraycopy(buffer, start, buffer, 0, limit - start);
        next -= start;
        limit -= start;
        start = 0;
      } else {
        buffer = Arrays.copyOf(buffer, 2 * buffer.length);
      }
    }
    try {
      int read = input.read(buffer, limit, buffer.length - limit);
      if (read < 0) {
        ended = true;
        input.close();
      } else {
        limit += read;
      }
    } catch (IOException problem) {
      throw new UncheckedIOException("[FAILED_READ_FILE] Encountered error while reading file " + file + ".", problem); // as Spark says it
    }
  }
}
