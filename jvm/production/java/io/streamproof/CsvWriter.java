package io.streamproof;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Writes rows as lines of CSV: a header, texts in quotes and nothing else, nulls as nothing at all, times as ISO 8601 with microseconds. */
final class CsvWriter extends OutputWriter {
  private static final long MICROS = 1_000_000;
  private static final int NANOS = 1_000;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final String path;
  private final DataType[] types;
  private final OutputStream output;

  CsvWriter(String path, StructType columns, OutputStream output) {
    this.path = path;
    this.types = new DataType[columns.length()];
    this.output = new BufferedOutputStream(output);
    StructField[] fields = columns.fields();
    try {
      for (int column = 0; column < types.length; column++) {
        types[column] = fields[column].dataType();
        delimited(column);
        quoted(fields[column].name().getBytes(StandardCharsets.UTF_8));
      }
      this.output.write('\n');
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
  }

  @Override
  public void write(InternalRow row) {
    try {
      for (int column = 0; column < types.length; column++) {
        delimited(column);
        if (!row.isNullAt(column)) {
          value(row, column, types[column]);
        }
      }
      output.write('\n');
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
  }

  private void delimited(int column) throws IOException {
    if (column > 0) {
      output.write(',');
    }
  }

  private void value(InternalRow row, int column, DataType type) throws IOException {
    if (type instanceof StringType) {
      quoted(row.getUTF8String(column).getBytes());
    } else if (type instanceof BinaryType) {
      quoted(Base64.getEncoder().encode(row.getBinary(column)));
    } else {
      output.write(text(row, column, type).getBytes(StandardCharsets.US_ASCII));
    }
  }

  private static String text(InternalRow row, int column, DataType type) {
    if (type instanceof TimestampType) {
      return time(row.getLong(column)) + "Z";
    }
    if (type instanceof TimestampNTZType) {
      return time(row.getLong(column));
    }
    if (type instanceof DateType) {
      return LocalDate.ofEpochDay(row.getInt(column)).toString();
    }
    if (type instanceof DecimalType decimal) {
      return row.getDecimal(column, decimal.precision(), decimal.scale()).toJavaBigDecimal().toPlainString();
    }
    if (type instanceof BooleanType) {
      return String.valueOf(row.getBoolean(column));
    }
    return String.valueOf(row.get(column, type));
  }

  private static String time(long micros) {
    return TIME.format(Instant.ofEpochSecond(Math.floorDiv(micros, MICROS), Math.floorMod(micros, MICROS) * NANOS));
  }

  private void quoted(byte[] text) throws IOException {
    output.write('"');
    for (byte letter : text) {
      if (letter == '"') {
        output.write('"');
      }
      output.write(letter);
    }
    output.write('"');
  }

  @Override
  public void close() {
    try {
      output.close();
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
  }

  @Override
  public String path() {
    return path;
  }
}
