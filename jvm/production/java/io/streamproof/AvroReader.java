package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.JsonProperties;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * The reader's schema for the columns of a job, every field nullable with null as its default.
 *
 * <p>It follows the writer where one type of Spark has several in Avro: Avro would resolve milliseconds to microseconds, or a decimal to one
 * of another scale, by taking the number as it stands.
 */
final class AvroReader {
  private static final String ROOT = "Record";
  /** How Avro's instants end by what they count; there is none that counts seconds. */
  private static final Map<String, String> SUFFIXES =
      Map.of("milliseconds", "-millis", "microseconds", "-micros", "nanoseconds", "-nanos");

  private AvroReader() {}

  /** Says which field of a writer's schema cannot be read, and why; never holds values. */
  static final class Incompatible extends RuntimeException {
    Incompatible(String said) {
      super(said);
    }
  }

  /** The schema to read the columns by; without a writer the one that such columns are written by. */
  static Schema of(StructType columns, Schema writer) {
    if (writer != null && writer.getType() != Schema.Type.RECORD) {
      throw new Incompatible("it is no record");
    }
    Schema reader = record(columns, writer, ROOT, "");
    if (writer != null && reader.getFields().stream().noneMatch(field -> writer.getField(field.name()) != null)) {
      throw new Incompatible("it has none of the columns");
    }
    return reader;
  }

  /** Incompatible where Avro cannot resolve the writer's schema to the reader's, or would take its numbers for others. */
  static void require(Schema reader, Schema writer) {
    Schema renamed = Schema.applyAliases(writer, reader);
    for (AvroDifference each : AvroDifference.between(reader, renamed)) {
      if (!each.isAboutNames()) {
        throw new Incompatible(each.toString());
      }
    }
    requireSameMeaning(reader, renamed, "");
  }

  /**
   * Incompatible where a column that counts time as a number is written in another unit.
   *
   * @param units by column "milliseconds" and the like
   * @param writer the writer's schema, with the reader's names
   */
  static void requireUnits(Map<String, String> units, Schema writer) {
    units.forEach((column, unit) -> {
      Schema.Field field = field(writer, column);
      Schema written = field == null ? null : only(field.schema());
      LogicalType logical = written == null ? null : written.getLogicalType();
      boolean isInstant = logical != null && logical.getName().contains("timestamp-");
      if (isInstant && !logical.getName().endsWith("timestamp" + SUFFIXES.getOrDefault(unit, "-seconds"))) {
        throw new Incompatible(field.name() + ": event_time counts " + unit + ", the writer's is " + called(written));
      }
    });
  }

  /** The writer's schema under the name of the reader's: how a record as a whole is called is no reason, and aliases go by it. */
  static Schema named(Schema writer, Schema reader) {
    if (writer.getType() != Schema.Type.RECORD || reader.getType() != Schema.Type.RECORD) {
      return writer;
    }
    List<Schema.Field> fields = writer.getFields().stream().map(field -> new Schema.Field(field, field.schema())).toList();
    return Schema.createRecord(reader.getFullName(), null, null, false, fields);
  }

  private static void requireSameMeaning(Schema reader, Schema writer, String path) {
    Schema wanted = only(reader);
    Schema written = only(writer);
    if (wanted == null || written == null || wanted.getType() != written.getType()) {
      return;
    }
    switch (wanted.getType()) {
      case RECORD -> {
        for (Schema.Field field : wanted.getFields()) {
          Schema.Field from = written.getField(field.name());
          if (from != null) {
            requireSameMeaning(field.schema(), from.schema(), inside(path, field.name()));
          }
        }
      }
      case ARRAY -> requireSameMeaning(wanted.getElementType(), written.getElementType(), path);
      case MAP -> requireSameMeaning(wanted.getValueType(), written.getValueType(), path);
      default -> {
        LogicalType meant = wanted.getLogicalType();
        if (meant != null && !Objects.equals(meant, written.getLogicalType())) {
          throw new Incompatible(path + ": the reader's is " + called(wanted) + ", the writer's " + called(written));
        }
      }
    }
  }

  private static Schema record(StructType columns, Schema writer, String name, String path) {
    List<Schema.Field> fields = new ArrayList<>();
    for (StructField column : columns.fields()) {
      Schema.Field from = writer == null ? null : field(writer, column.name());
      String inside = inside(path, column.name());
      Schema type = typed(column.dataType(), from == null ? null : only(from.schema()), name + "_" + column.name(), inside);
      fields.add(new Schema.Field(from == null ? column.name() : from.name(), nullable(type), null, JsonProperties.NULL_VALUE));
    }
    String called = writer == null ? name : writer.getFullName();
    return Schema.createRecord(called, null, null, false, fields);
  }

  private static Schema.Field field(Schema writer, String column) {
    Schema.Field exact = writer.getField(column);
    return exact != null
        ? exact
        : writer.getFields().stream().filter(each -> each.name().equalsIgnoreCase(column)).findFirst().orElse(null);
  }

  private static Schema typed(DataType type, Schema writer, String name, String path) {
    boolean sameKind = writer != null;
    if (type instanceof StructType fields) {
      boolean isRecord = sameKind && writer.getType() == Schema.Type.RECORD;
      return record(fields, isRecord ? writer : null, name, path);
    } else if (type instanceof ArrayType array) {
      boolean isArray = sameKind && writer.getType() == Schema.Type.ARRAY;
      Schema element = isArray ? only(writer.getElementType()) : null;
      return Schema.createArray(nullable(typed(array.elementType(), element, name, path)));
    } else if (type instanceof MapType map) {
      boolean isMap = sameKind && writer.getType() == Schema.Type.MAP;
      Schema value = isMap ? only(writer.getValueType()) : null;
      return Schema.createMap(nullable(typed(map.valueType(), value, name, path)));
    } else if (type instanceof StringType) {
      return sameKind && writer.getType() == Schema.Type.ENUM ? writer : Schema.create(Schema.Type.STRING);
    } else if (type instanceof BinaryType) {
      boolean isFixed = sameKind && writer.getType() == Schema.Type.FIXED && writer.getLogicalType() == null;
      return isFixed ? writer : Schema.create(Schema.Type.BYTES);
    } else if (type instanceof DecimalType decimal) {
      return decimal(decimal, writer, path);
    } else if (type instanceof DateType) {
      return meaning(LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT)), writer, path, "date");
    } else if (type instanceof TimestampType) {
      return meaning(LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG)), writer, path, "timestamp-");
    } else if (type instanceof TimestampNTZType) {
      Schema local = LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
      return meaning(local, writer, path, "local-timestamp-");
    }
    return Schema.create(plain(type, path));
  }

  private static Schema.Type plain(DataType type, String path) {
    if (type instanceof BooleanType) {
      return Schema.Type.BOOLEAN;
    } else if (type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType) {
      return Schema.Type.INT;
    } else if (type instanceof LongType) {
      return Schema.Type.LONG;
    } else if (type instanceof FloatType) {
      return Schema.Type.FLOAT;
    } else if (type instanceof DoubleType) {
      return Schema.Type.DOUBLE;
    }
    throw new Incompatible(path + ": Avro has no type for " + type.sql().toLowerCase(Locale.ROOT));
  }

  private static Schema decimal(DecimalType wanted, Schema writer, String path) {
    if (writer == null) {
      return LogicalTypes.decimal(wanted.precision(), wanted.scale()).addToSchema(Schema.create(Schema.Type.BYTES));
    }
    boolean fits = writer.getLogicalType() instanceof LogicalTypes.Decimal written
        && written.getScale() == wanted.scale()
        && written.getPrecision() <= wanted.precision();
    if (!fits) {
      throw new Incompatible(path + ": the column is " + wanted.sql().toLowerCase(Locale.ROOT) + ", the writer's " + called(writer));
    }
    return writer;
  }

  private static Schema meaning(Schema own, Schema writer, String path, String logical) {
    if (writer == null) {
      return own;
    }
    if (writer.getLogicalType() == null || !writer.getLogicalType().getName().startsWith(logical)) {
      String wanted = own.getLogicalType().getName();
      throw new Incompatible(path + ": the column is " + wanted.replaceAll("-micros$", "") + ", the writer's " + called(writer));
    }
    return writer;
  }

  private static String called(Schema schema) {
    LogicalType logical = schema.getLogicalType();
    if (logical instanceof LogicalTypes.Decimal decimal) {
      return "decimal(" + decimal.getPrecision() + "," + decimal.getScale() + ")";
    }
    return logical == null ? schema.getType().getName() : logical.getName();
  }

  /** What is left of a union without null, where it is one type; null where it is several. */
  private static Schema only(Schema schema) {
    if (schema.getType() != Schema.Type.UNION) {
      return schema;
    }
    List<Schema> left = schema.getTypes().stream().filter(each -> each.getType() != Schema.Type.NULL).toList();
    return left.size() == 1 ? left.get(0) : null;
  }

  private static Schema nullable(Schema type) {
    return Schema.createUnion(Schema.create(Schema.Type.NULL), type);
  }

  private static String inside(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }
}
