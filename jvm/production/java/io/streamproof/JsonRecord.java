package io.streamproof;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.json.CreateJacksonParser;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.FailureSafeParser;
import org.apache.spark.sql.catalyst.util.StringAsDataTypeException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function2;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;

/**
 * A line of JSON as a row, by Spark's own parser with the defaults of {@code from_json} (permissive), and from its bytes.
 *
 * <p>Most lines {@link PlainJson} reads in one pass; this is what it leaves, and what decides of each line that does not fit.
 *
 * <p>Unless it is lenient, a line is refused where Spark would alter what it says, or read what is no JSON: a key that stands there
 * twice, single quotes, NaN without quotes, a lone surrogate; and what {@link ExactParser} looks at.
 *
 * <p>{@code from_json} reads each record through a reader of characters, which has a buffer of eight kilobytes and a decoder of its
 * own: more than all the rest of what it does for a record of a hundred bytes.
 */
public final class JsonRecord implements Serializable {
  private static final int ENCODING = 4;
  private static final int HEX = 16;
  private static final int ESCAPE = 6; // backslash, u and four digits
  private static final String UNREADABLE = "not parseable";

  private final StructType schema;
  private final String corrupt;
  private final String zone;
  private final boolean lenient;
  private final boolean inOnePass;
  private transient PlainJson plain;
  private transient FailureSafeParser<UTF8String> parser;
  private transient ExactParser strict;
  private transient String reason;

  private JsonRecord(StructType schema, String corrupt, String zone, boolean lenient, boolean inOnePass) {
    this.schema = schema;
    this.corrupt = corrupt;
    this.zone = zone;
    this.lenient = lenient;
    this.inOnePass = inOnePass;
  }

  /** The call as a column (struct) of a line (string); the schema as JSON, with a column for why a line does not fit. */
  public static Column column(SparkSession spark, Column line, String schema, String corrupt, boolean lenient) {
    JsonRecord record = of(spark, schema, corrupt, lenient, true);
    return Called.nullable(record, "parse", record.schema, line);
  }

  /** The same with each line read by Spark's parser: what the one pass is compared with. */
  public static Column bySparksParser(SparkSession spark, Column line, String schema, String corrupt, boolean lenient) {
    JsonRecord record = of(spark, schema, corrupt, lenient, false);
    return Called.nullable(record, "parse", record.schema, line);
  }

  /** Whether a line (string) is read in one pass, as a column (boolean). */
  public static Column isInOnePass(SparkSession spark, Column line, String schema, String corrupt) {
    return Called.column(of(spark, schema, corrupt, false, true), "readsInOnePass", DataTypes.BooleanType, line);
  }

  private static JsonRecord of(SparkSession spark, String schema, String corrupt, boolean lenient, boolean inOnePass) {
    StructType type = ((StructType) DataType.fromJson(schema)).asNullable();
    return new JsonRecord(type, corrupt, spark.conf().get("spark.sql.session.timeZone"), lenient, inOnePass);
  }

  public boolean readsInOnePass(UTF8String line) {
    return line != null && inOnePass(line) != null;
  }

  /** The row, which the next one replaces; null where there is no line, and of a blank one. */
  public InternalRow parse(UTF8String line) {
    if (line == null) {
      return null;
    }
    InternalRow row = inOnePass(line);
    if (row != null) {
      return row;
    }
    Iterator<InternalRow> rows = parser.parse(line);
    return rows.hasNext() ? rows.next() : null;
  }

  /** The row of a line that is read in one pass; null of one that is left to Spark's parser. */
  private InternalRow inOnePass(UTF8String line) {
    if (parser == null) {
      parser = parser();
      plain = inOnePass ? PlainJson.of(schema, corrupt, zone) : null;
    }
    return plain == null ? null : plain.parse(line);
  }

  private FailureSafeParser<UTF8String> parser() {
    JSONOptions options = new JSONOptions(Map$.MODULE$.<String, String>empty(), zone, corrupt);
    StructType fields = withoutCorrupt();
    Expected expected = Expected.of(fields);
    JacksonParser one = new JacksonParser(fields, options, false, none());
    return new FailureSafeParser<>(
        line -> read(one, line, (factory, bytes) -> opened(factory, bytes, expected)), options.parseMode(), schema, corrupt);
  }

  private scala.collection.Iterable<InternalRow> read(
      JacksonParser one, UTF8String line, Function2<JsonFactory, UTF8String, JsonParser> opened) {
    strict = null;
    reason = UNREADABLE;
    try {
      return one.parse(line, opened, text -> UTF8String.fromString(reason));
    } catch (Exception bad) { // Scala does not declare that it throws
      reason = strict != null && strict.why() != null ? strict.why() : misfit(bad);
      throw bad;
    }
  }

  /** Why a record does not fit: the column, or the field, whose value has another type, where Spark names it. */
  private String misfit(Throwable bad) {
    for (Throwable cause = bad; cause != null; cause = cause.getCause()) {
      if (cause instanceof StringAsDataTypeException) {
        StringAsDataTypeException text = (StringAsDataTypeException) cause;
        return misfit(text.fieldName(), text.dataType().simpleString());
      }
      Map<String, String> said = cause instanceof SparkThrowable ? ((SparkThrowable) cause).getMessageParameters() : Map.of();
      if (said.containsKey("fieldName") && said.containsKey("dataType")) {
        return misfit(said.get("fieldName"), said.get("dataType"));
      }
    }
    return reason;
  }

  private String misfit(String field, String type) {
    String name = field == null ? "NULL" : field.replace("'", "");
    String what = "NULL".equals(name) ? "an element" : name; // of an array Spark gives no name
    return reason + ": " + what + " is no " + type.replace("\"", "").toLowerCase(Locale.ROOT).replaceFirst("<.*", "");
  }

  private StructType withoutCorrupt() {
    StructType fields = new StructType();
    for (StructField field : schema.fields()) {
      fields = field.name().equals(corrupt) ? fields : fields.add(field);
    }
    return fields;
  }

  private JsonParser opened(JsonFactory factory, UTF8String line, Expected expected) {
    if (!line.isValid()) {
      throw new IllegalArgumentException("bytes that are not UTF-8"); // Spark's parser makes it a corrupt record
    }
    byte[] bytes = line.getBytes();
    if (lenient) {
      return opened(factory, line, bytes);
    }
    if (hasLoneSurrogate(bytes)) {
      reason = "a lone surrogate";
      throw new ExactParser.Altered(reason);
    }
    // Not by Spark's options: its converter would then refuse "NaN" in quotes too, which is how a double is written as JSON.
    JsonParser parser =
        opened(factory, line, bytes)
            .disable(JsonParser.Feature.ALLOW_SINGLE_QUOTES)
            .disable(JsonParser.Feature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    strict = new ExactParser(parser, expected);
    return strict;
  }

  private static JsonParser opened(JsonFactory factory, UTF8String line, byte[] bytes) {
    if (!isPlain(bytes)) {
      return CreateJacksonParser.utf8String(factory, line);
    }
    try {
      return factory.createParser(bytes, 0, bytes.length);
    } catch (IOException impossible) {
      throw new IllegalStateException("bytes in memory can be read", impossible);
    }
  }

  /** Whether one of the two escapes that make a character together stands alone: no text holds it, and Spark puts "?" in its place. */
  private static boolean hasLoneSurrogate(byte[] line) {
    int first = new String(line, StandardCharsets.ISO_8859_1).indexOf('\\'); // by what the processor has for it
    int second = -1; // where the second one must stand
    for (int at = first < 0 ? line.length : first; at < line.length; at++) {
      if (line[at] != '\\') {
        continue;
      }
      char letter = escaped(line, at);
      boolean isSecond = Character.isLowSurrogate(letter);
      if (second >= 0 ? at != second || !isSecond : isSecond) {
        return true;
      }
      second = Character.isHighSurrogate(letter) ? at + ESCAPE : -1;
      at++; // an escaped backslash begins no escape
    }
    return second >= 0;
  }

  /** The letter that an escape with four digits stands for; zero of all others. */
  private static char escaped(byte[] line, int at) {
    if (at + ESCAPE > line.length || line[at + 1] != 'u') {
      return 0;
    }
    int letter = 0;
    for (int digit = at + 2; digit < at + ESCAPE; digit++) {
      letter = letter * HEX + Math.max(0, Character.digit(line[digit], HEX)); // Jackson refuses what is no digit
    }
    return (char) letter;
  }

  /** From a byte order mark, or a zero byte among the first four, Jackson would guess another encoding. */
  private static boolean isPlain(byte[] line) {
    for (int at = 0; at < Math.min(ENCODING, line.length); at++) {
      if (line[at] == 0) {
        return false;
      }
    }
    return line.length == 0 || line[0] > 0;
  }

  @SuppressWarnings("unchecked")
  private static <T> scala.collection.immutable.Seq<T> none() {
    return (scala.collection.immutable.Seq<T>) (scala.collection.immutable.Seq<?>) Nil$.MODULE$;
  }

  @Override
  public String toString() {
    return "json record";
  }
}
