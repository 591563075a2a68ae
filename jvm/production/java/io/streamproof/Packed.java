package io.streamproof;

import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Rows as the bytes that Spark itself keeps them in, and back: what goes through Java this way is neither converted nor lost, texts that are no
 * UTF-8 and days before 1582 included.
 */
public final class Packed implements Serializable {
  private final StructType schema;
  private final int number;
  private transient UnsafeProjection projection;

  private Packed(StructType schema, int number) {
    this.schema = schema;
    this.number = number;
  }

  /** A struct, which is never null, as its bytes. */
  static Column of(Column struct, StructType schema) {
    return Called.pure(new Packed(schema, 0), "pack", DataTypes.BinaryType, struct);
  }

  /** The struct of bytes where the number beside them is this one; null where it is another. */
  public static Column struct(Column number, Column bytes, String schema, int wanted) {
    StructType type = (StructType) StructType.fromJson(schema);
    return Called.nullable(new Packed(type, wanted), "unpack", type, number, bytes);
  }

  /** Called by generated code. */
  public byte[] pack(InternalRow row) {
    if (projection == null) {
      projection = UnsafeProjection.create(schema);
    }
    return projection.apply(row).getBytes();
  }

  /** Called by generated code. */
  public InternalRow unpack(int found, byte[] bytes) {
    return found == number ? row(bytes, schema.size()) : null;
  }

  static UnsafeRow row(byte[] bytes, int fields) {
    UnsafeRow row = new UnsafeRow(fields);
    row.pointTo(bytes, bytes.length);
    return row;
  }
}
