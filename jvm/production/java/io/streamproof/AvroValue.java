package io.streamproof;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.avro.AvroSerializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A row in Confluent's wire format: a zero byte, the schema's id (four bytes), then Avro. */
public final class AvroValue implements Serializable {
  private final StructType columns;
  private final String schema;
  private final int id;
  private transient AvroSerializer rows;
  private transient GenericDatumWriter<Object> writer;
  private transient BinaryEncoder encoder;

  private AvroValue(StructType columns, String schema, int id) {
    this.columns = columns;
    this.schema = schema;
    this.id = id;
  }

  /** The schema that rows with these columns are written by, as JSON, under a name. */
  public static String schema(String columns, String name) {
    Schema made = AvroReader.of((StructType) DataType.fromJson(columns), null);
    return Schema.createRecord(name, null, null, false, made.getFields().stream().map(field -> new Schema.Field(field, field.schema())).toList())
        .toString();
  }

  /** The call as a column (binary) of a struct; fails where the schema does not take the columns. */
  public static Column column(Column row, String columns, String schema, int id) {
    AvroValue value = new AvroValue(((StructType) DataType.fromJson(columns)).asNullable(), schema, id);
    value.open();
    return Called.nullable(value, "write", DataTypes.BinaryType, row);
  }

  /** The bytes of a row. */
  public byte[] write(InternalRow row) throws IOException {
    if (row == null) {
      return null;
    }
    if (rows == null) {
      open();
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    bytes.write(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
    encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
    try {
      writer.write(rows.serialize(row), encoder);
    } catch (RuntimeException problem) { // Avro has no one exception for a value that the schema does not take
      throw new IllegalStateException("streamproof-row:a row does not fit schema " + id + ", which it is written by (a null where it takes none?)");
    }
    encoder.flush();
    return bytes.toByteArray();
  }

  private void open() {
    Schema parsed = new Schema.Parser().parse(schema);
    rows = new AvroSerializer(columns, parsed, false);
    writer = new GenericDatumWriter<>(parsed);
  }

  @Override
  public String toString() {
    return "avro value";
  }
}
