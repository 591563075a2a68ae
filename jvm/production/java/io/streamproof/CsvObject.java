package io.streamproof;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The fields of a record of CSV as an object of JSON: values are then read, and refused, as those of JSON are.
 *
 * <p>A number becomes one of JSON where it is written as people write numbers ({@code +5}, {@code .5}, {@code 007}); what is none stands in
 * quotes, where no column of numbers takes it. A field of no length is a null; in quotes it is one for columns that are no texts.
 */
final class CsvObject {
  private static final Pattern NUMBER = Pattern.compile("([+-]?)(?=\\.?\\d)0*(\\d*)(?:\\.(\\d*))?([eE][+-]?\\d+)?");
  private static final int HEX = 16;

  private final byte[][] names; // null where no column takes the field
  private final DataType[] types;
  private final byte[] none;
  private final ByteArrayOutputStream object = new ByteArrayOutputStream();

  /**
   * @param fields the columns by name, in the order in which they stand in the file
   */
  CsvObject(CsvDialect dialect, List<String> fields) {
    StructType columns = dialect.columns();
    names = new byte[fields.size()][];
    types = new DataType[fields.size()];
    none = dialect.none().isEmpty() ? null : dialect.none().getBytes(StandardCharsets.UTF_8);
    for (int place = 0; place < names.length; place++) {
      String name = fields.get(place);
      if (columns.getFieldIndex(name).isDefined()) {
        names[place] = text(name.getBytes(StandardCharsets.UTF_8));
        types[place] = columns.apply(name).dataType();
      }
    }
  }

  /** How many fields a record has. */
  int width() {
    return names.length;
  }

  UTF8String of(List<byte[]> fields, List<Boolean> quoted) {
    object.reset();
    char before = '{';
    for (int place = 0; place < names.length; place++) {
      if (names[place] != null && !isNull(fields.get(place), quoted.get(place), types[place])) {
        object.write(before);
        before = ',';
        object.writeBytes(names[place]);
        object.write(':');
        object.writeBytes(value(fields.get(place), types[place]));
      }
    }
    if (before == '{') {
      object.write('{');
    }
    object.write('}');
    return UTF8String.fromBytes(object.toByteArray());
  }

  private boolean isNull(byte[] field, boolean quoted, DataType type) {
    if (field.length == 0) {
      return !quoted || !(type instanceof StringType);
    }
    return !quoted && none != null && Arrays.equals(field, none);
  }

  private static byte[] value(byte[] field, DataType type) {
    if (type instanceof NumericType) {
      Matcher number = NUMBER.matcher(new String(field, StandardCharsets.UTF_8).strip());
      if (number.matches()) {
        return number(number).getBytes(StandardCharsets.UTF_8);
      }
    }
    if (type instanceof BooleanType) {
      String said = new String(field, StandardCharsets.UTF_8).strip().toLowerCase(Locale.ROOT);
      if (said.equals("true") || said.equals("false")) {
        return said.getBytes(StandardCharsets.UTF_8);
      }
    }
    return text(field);
  }

  private static String number(Matcher number) {
    String sign = number.group(1).equals("-") ? "-" : "";
    String whole = number.group(2).isEmpty() ? "0" : number.group(2);
    String fraction = number.group(3) == null || number.group(3).isEmpty() ? "" : "." + number.group(3);
    return sign + whole + fraction + (number.group(4) == null ? "" : number.group(4));
  }

  private static byte[] text(byte[] field) {
    ByteArrayOutputStream text = new ByteArrayOutputStream(field.length + 2);
    text.write('"');
    for (byte letter : field) {
      if (letter == '"' || letter == '\\') {
        text.write('\\');
        text.write(letter);
      } else if (letter >= 0 && letter < ' ') {
        text.writeBytes(new byte[] {'\\', 'u', '0', '0', hex(letter / HEX), hex(letter % HEX)});
      } else {
        text.write(letter);
      }
    }
    text.write('"');
    return text.toByteArray();
  }

  private static byte hex(int digit) {
    return (byte) Character.forDigit(digit, HEX);
  }
}
