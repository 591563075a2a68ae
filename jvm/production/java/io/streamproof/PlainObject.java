package io.streamproof;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** An object as a row: the columns that stand in it, and null for the others. */
final class PlainObject {
  private static final int CONTROL = 0x20;

  private final byte[][] names; // null of one that only stands in JSON with an escape
  private final PlainValue[] values;
  private final int[] columns;
  private final int width;
  private final int[] found; // by field, in which object it was found last
  private final PlainSkip.Keys unknown = new PlainSkip.Keys();
  private int objects;

  private PlainObject(byte[][] names, PlainValue[] values, int[] columns, int width) {
    this.names = names;
    this.values = values;
    this.columns = columns;
    this.width = width;
    this.found = new int[names.length];
  }

  /** That of a schema; null where a type of it is left to Spark's converters. */
  static PlainObject of(StructType schema, ZoneId zone) {
    return of(schema, null, zone);
  }

  /** The same with a column that stands in no record, and is null. */
  static PlainObject of(StructType schema, String beside, ZoneId zone) {
    StructField[] fields = schema.fields();
    int[] columns = IntStream.range(0, fields.length).filter(at -> !fields[at].name().equals(beside)).toArray();
    byte[][] names = new byte[columns.length][];
    PlainValue[] values = new PlainValue[columns.length];
    for (int at = 0; at < columns.length; at++) {
      StructField field = fields[columns[at]];
      names[at] = asWritten(field.name());
      values[at] = PlainValue.of(field.dataType(), zone);
      if (values[at] == null || hasDefault(field)) {
        return null;
      }
    }
    return new PlainObject(names, values, columns, fields.length);
  }

  private static boolean hasDefault(StructField field) {
    return field.metadata().contains("EXISTS_DEFAULT") || field.metadata().contains("CURRENT_DEFAULT");
  }

  private static byte[] asWritten(String name) {
    boolean hasEscape = name.chars().anyMatch(letter -> letter == '"' || letter == '\\' || letter < CONTROL);
    return hasEscape ? null : name.getBytes(StandardCharsets.UTF_8);
  }

  /** How many columns a row has. */
  int width() {
    return width;
  }

  InternalRow newRow(PlainBytes in) {
    Object[] row = new Object[width];
    read(in, row);
    return new GenericInternalRow(row);
  }

  /** Takes an object, and sets the columns of a row. */
  void read(PlainBytes in, Object[] row) {
    Arrays.fill(row, null);
    if (in.opens('{', '}')) {
      begin();
      int next = 0;
      do {
        next = take(in, next, row) + 1;
      } while (in.goesOn('}'));
    }
  }

  /** Takes a key, which is that of a field or of those after it as a rule, and its value; the field, the one before where no column has the key. */
  private int take(PlainBytes in, int next, Object[] row) {
    int field = field(in, next);
    if (field < 0) {
      unknown.take(in);
      PlainSkip.value(in);
      return next - 1;
    }
    if (found[field] == objects) {
      throw PlainBytes.unusual();
    }
    found[field] = objects;
    row[columns[field]] = values[field].orNull(in);
    return field;
  }

  private void begin() {
    unknown.clear();
    if (++objects == 0) {
      Arrays.fill(found, 0);
      objects = 1;
    }
  }

  /** Takes a key and the colon: its field, looked for from one on. Below zero of a key that no column has, which is not taken. */
  private int field(PlainBytes in, int next) {
    if (in.peek() != '"') {
      throw PlainBytes.unusual();
    }
    for (int more = 0, at = next; more < names.length; more++, at++) {
      int field = at < names.length ? at : at - names.length;
      if (names[field] != null && in.isKey(names[field])) {
        return field;
      }
    }
    return -1;
  }
}
