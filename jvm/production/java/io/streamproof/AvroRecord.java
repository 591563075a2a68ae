package io.streamproof;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.avro.AvroDeserializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record in Confluent's wire format as a row: a zero byte, the writer's schema by its id (four bytes), then Avro.
 *
 * <p>The writer's schema is resolved to the reader's by Avro itself, and made a row by Spark's own converter. Ids that appear while the
 * query runs are looked up when they come.
 */
public final class AvroRecord implements Serializable {
  private static final int HEADER = 5;

  private final StructType columns;
  private final String reader;
  private final HashMap<String, String> units;
  private final Registry registry;
  private transient Map<Integer, Resolved> known;
  private transient GenericInternalRow none;

  /** What a schema's records are read by; or why they cannot be. */
  private record Resolved(GenericDatumReader<GenericRecord> reader, AvroDeserializer rows, BoundedDecoder decoder, String problem) {}

  private AvroRecord(StructType columns, String reader, Map<String, String> units, Registry registry) {
    this.columns = columns;
    this.reader = reader;
    this.units = new HashMap<>(units);
    this.registry = registry;
  }

  /**
   * The call as a column: a struct of the columns, {@code problem} (string, null of a record that was read) and {@code schemaId} (int).
   *
   * @param reader the reader's schema; null for one that follows from the columns
   * @param units by column, what a number of it counts: "milliseconds" and the like
   */
  public static Column column(
      Column value,
      String columns,
      String problem,
      String schemaId,
      String reader,
      Map<String, String> units,
      String url,
      Map<String, String> headers) {
    StructType type = ((StructType) DataType.fromJson(columns)).asNullable();
    Schema seen = reader == null ? AvroReader.of(type, null) : new Schema.Parser().parse(reader);
    rows(seen, type); // what can never be read is refused before anything is
    StructType all = type.add(problem, DataTypes.StringType).add(schemaId, DataTypes.IntegerType);
    return Called.nullable(new AvroRecord(type, reader, units, new Registry(url, headers)), "parse", all, value);
  }

  /** The row, which the next one replaces. */
  public InternalRow parse(byte[] value) {
    if (value == null || value.length < HEADER || value[0] != 0) {
      return row(null, unframed(value), null);
    }
    int id = ByteBuffer.wrap(value, 1, 4).getInt();
    Resolved resolved = resolved(id);
    if (resolved == null) {
      return row(null, "unknown schema " + id, id);
    }
    if (resolved.problem() != null) {
      return row(null, resolved.problem(), id);
    }
    try {
      BoundedDecoder decoder = resolved.decoder().over(value, HEADER);
      GenericRecord record = resolved.reader().read(null, decoder);
      if (!decoder.isEnd()) {
        return row(null, "bytes after the record of schema " + id, id);
      }
      return row((InternalRow) resolved.rows().deserialize(record).get(), null, id);
    } catch (IOException | RuntimeException broken) { // Avro has no one exception for bytes that are not of the schema
      return row(null, "broken record of schema " + id, id);
    }
  }

  private static String unframed(byte[] value) {
    if (value == null) {
      return "no value";
    }
    if (value.length > 0 && value[0] != 0) {
      return "not in the registry's wire format (begins with " + String.format(Locale.ROOT, "0x%02x", value[0]) + ")";
    }
    return "too short for a schema id";
  }

  private Resolved resolved(int id) {
    if (known == null) {
      known = new HashMap<>();
    }
    Resolved found = known.get(id);
    if (found == null) {
      Optional<Registry.Found> schema = id < 0 ? Optional.empty() : registry.byId(id); // no registry gives such an id
      if (schema.isEmpty()) {
        return null; // it may be registered later
      }
      found = resolved(id, schema.get());
      known.put(id, found);
    }
    return found;
  }

  private Resolved resolved(int id, Registry.Found schema) {
    if (!schema.type().equals("AVRO")) {
      return refused("schema " + id + " is of the type " + schema.type() + ", not AVRO");
    }
    Schema writer;
    try {
      writer = AvroDifference.parsed(schema.references(), schema.text());
    } catch (RuntimeException problem) {
      return refused("schema " + id + " in the registry is no Avro schema");
    }
    try {
      Schema wanted = reader == null ? AvroReader.of(columns, writer) : new Schema.Parser().parse(reader);
      Schema written = AvroReader.named(writer, wanted);
      AvroReader.require(wanted, written);
      AvroReader.requireUnits(units, Schema.applyAliases(written, wanted));
      GenericDatumReader<GenericRecord> datums = new GenericDatumReader<>(written, wanted);
      return new Resolved(datums, rows(wanted, columns), new BoundedDecoder(), null);
    } catch (AvroReader.Incompatible problem) {
      return refused("schema " + id + " does not fit the job: " + problem.getMessage());
    } catch (RuntimeException problem) {
      return refused("schema " + id + " does not fit the job");
    }
  }

  private static Resolved refused(String problem) {
    return new Resolved(null, null, null, problem);
  }

  private static AvroDeserializer rows(Schema reader, StructType columns) {
    return new AvroDeserializer(reader, columns, "CORRECTED", false, "", -1);
  }

  private InternalRow row(InternalRow read, String problem, Integer id) {
    if (none == null) {
      none = new GenericInternalRow(columns.length());
    }
    Object[] beside = {problem == null ? null : UTF8String.fromString(problem), id};
    return new JoinedRow(read == null ? none : read, new GenericInternalRow(beside));
  }

  @Override
  public String toString() {
    return "avro record";
  }
}
