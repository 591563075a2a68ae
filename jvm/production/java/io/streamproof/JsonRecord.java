package io.streamproof;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.json.CreateJacksonParser;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.FailureSafeParser;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;

/**
 * A line of JSON as a row, by Spark's own parser with the defaults of {@code from_json} (permissive), and from its bytes.
 *
 * <p>{@code from_json} reads each record through a reader of characters, which has a buffer of eight kilobytes and a decoder of its
 * own: more than all the rest of what it does for a record of a hundred bytes.
 */
public final class JsonRecord implements Serializable {
  private static final int ENCODING = 4;

  private final StructType schema;
  private final String corrupt;
  private final String zone;
  private transient FailureSafeParser<UTF8String> parser;

  private JsonRecord(StructType schema, String corrupt, String zone) {
    this.schema = schema;
    this.corrupt = corrupt;
    this.zone = zone;
  }

  /** The call as a column (struct) of a line (string); the schema as JSON, with a column for the text of what does not fit. */
  public static Column column(SparkSession spark, Column line, String schema, String corrupt) {
    StructType type = ((StructType) DataType.fromJson(schema)).asNullable();
    JsonRecord record = new JsonRecord(type, corrupt, spark.conf().get("spark.sql.session.timeZone"));
    return Called.nullable(record, "parse", type, line);
  }

  /** The row, which the next one replaces; null where there is no line, and of a blank one. */
  public InternalRow parse(UTF8String line) {
    if (line == null) {
      return null;
    }
    if (parser == null) {
      parser = parser();
    }
    Iterator<InternalRow> rows = parser.parse(line);
    return rows.hasNext() ? rows.next() : null;
  }

  private FailureSafeParser<UTF8String> parser() {
    JSONOptions options = new JSONOptions(Map$.MODULE$.<String, String>empty(), zone, corrupt);
    JacksonParser one = new JacksonParser(withoutCorrupt(), options, false, none());
    return new FailureSafeParser<>(
        line -> one.parse(line, JsonRecord::opened, text -> text), options.parseMode(), schema, corrupt);
  }

  private StructType withoutCorrupt() {
    StructType fields = new StructType();
    for (StructField field : schema.fields()) {
      fields = field.name().equals(corrupt) ? fields : fields.add(field);
    }
    return fields;
  }

  private static JsonParser opened(JsonFactory factory, UTF8String line) {
    if (!line.isValid()) {
      throw new IllegalArgumentException("bytes that are not UTF-8"); // Spark's parser makes it a corrupt record
    }
    byte[] bytes = line.getBytes();
    if (!isPlain(bytes)) {
      return CreateJacksonParser.utf8String(factory, line);
    }
    try {
      return factory.createParser(bytes, 0, bytes.length);
    } catch (IOException impossible) {
      throw new IllegalStateException("bytes in memory can be read", impossible);
    }
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
