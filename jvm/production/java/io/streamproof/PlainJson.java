package io.streamproof;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record of JSON as a row, in one pass over its bytes.
 *
 * <p>It takes records that are JSON without a doubt and fit their schema as they are written. Of any other it says nothing: {@link JsonRecord}
 * then reads it by Spark's parser, which knows whether it fits, and why not. So a record is refused in one place alone.
 */
final class PlainJson {
  private static final int LONGEST = 1 << 20; // bytes; beyond it stands what bounds Jackson has

  private final PlainObject record;
  private final PlainBytes in = new PlainBytes();
  private final Object[] values;
  private final InternalRow row;

  private PlainJson(PlainObject record) {
    this.record = record;
    this.values = new Object[record.width()];
    this.row = new GenericInternalRow(values);
  }

  /** That of a schema with a column for why a line does not fit; null where a type of it is left to Spark's parser. */
  static PlainJson of(StructType schema, String corrupt, String zone) {
    PlainObject record = PlainObject.of(schema, corrupt, DateTimeUtils.getZoneId(zone));
    return record == null ? null : new PlainJson(record);
  }

  /** The row, which the next one replaces, with texts that lie in the line; null of a line that is left to Spark's parser. */
  InternalRow parse(UTF8String line) {
    if (line.numBytes() > LONGEST) {
      return null;
    }
    try {
      in.open(line);
      record.read(in, values);
      boolean isWhole = in.peek() == 0 && in.at == in.end;
      return isWhole && (in.seen >= 0 || line.isValid()) ? row : null;
    } catch (PlainBytes.Unusual left) {
      return null;
    }
  }
}
