package io.streamproof;

import java.io.Serializable;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map;

/**
 * How files of CSV are written, and the columns that are read from them.
 *
 * @param header whether the first line of each file names its columns
 * @param none what stands for a null, besides nothing at all
 * @param said the columns that the path of the file says, which are not looked for in it
 */
record CsvDialect(StructType columns, boolean header, byte delimiter, byte quote, byte escape, String none, String said)
    implements Serializable {
  static CsvDialect of(Map<String, String> options) {
    return new CsvDialect(
        (StructType) DataType.fromJson(options.apply("columns")),
        Boolean.parseBoolean(options.apply("header")),
        (byte) options.apply("delimiter").charAt(0),
        (byte) options.apply("quote").charAt(0),
        (byte) options.apply("escape").charAt(0),
        options.apply("none"),
        "");
  }

  /** The same for a file whose path says these columns. */
  CsvDialect without(Set<String> names) {
    if (names.isEmpty()) {
      return this;
    }
    StructType others = new StructType();
    for (StructField column : columns.fields()) {
      others = names.contains(column.name()) ? others : others.add(column);
    }
    return new CsvDialect(others, header, delimiter, quote, escape, none, String.join(", ", new TreeSet<>(names)));
  }
}
