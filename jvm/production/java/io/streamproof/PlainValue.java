package io.streamproof;

import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** How a value of a type is taken from the bytes of a record, as Spark's converter of that type gives it. */
interface PlainValue {
  /** The value, which is not null here. */
  Object read(PlainBytes in);

  /** The value or null. */
  default Object orNull(PlainBytes in) {
    if (in.isNull()) {
      in.word("null");
      return null;
    }
    return read(in);
  }

  /** That of a type; null of types that are left to Spark's converters: binary, float, intervals, variants. */
  static PlainValue of(DataType type, ZoneId zone) {
    if (type instanceof StringType) {
      return PlainBytes::text;
    } else if (type instanceof LongType) {
      return PlainNumbers::whole;
    } else if (type instanceof DoubleType) {
      return PlainNumbers::nearest;
    } else if (type instanceof BooleanType) {
      return PlainValue::truth;
    } else if (type instanceof IntegerType) {
      return in -> (int) within(PlainNumbers.whole(in), Integer.MIN_VALUE, Integer.MAX_VALUE);
    } else if (type instanceof ShortType) {
      return in -> (short) within(PlainNumbers.whole(in), Short.MIN_VALUE, Short.MAX_VALUE);
    } else if (type instanceof ByteType) {
      return in -> (byte) within(PlainNumbers.whole(in), Byte.MIN_VALUE, Byte.MAX_VALUE);
    } else if (type instanceof DecimalType decimal) {
      return new PlainDecimal(decimal)::read;
    } else if (type instanceof TimestampType) {
      return in -> PlainTime.micros(in, zone);
    } else if (type instanceof TimestampNTZType) {
      return PlainTime::localMicros;
    } else if (type instanceof DateType) {
      return PlainTime::days;
    }
    return nested(type, zone);
  }

  private static PlainValue nested(DataType type, ZoneId zone) {
    if (type instanceof StructType struct) {
      PlainObject found = PlainObject.of(struct, zone);
      return found == null ? null : found::newRow;
    } else if (type instanceof ArrayType array) {
      PlainValue each = of(array.elementType(), zone);
      return each == null ? null : in -> new GenericArrayData(elements(in, each));
    } else if (type instanceof MapType map && map.keyType() instanceof StringType) {
      PlainValue each = of(map.valueType(), zone);
      return each == null ? null : in -> map(in, each);
    }
    return null;
  }

  private static Object truth(PlainBytes in) {
    boolean found = in.peek() == 't';
    in.word(found ? "true" : "false");
    return found;
  }

  private static long within(long value, long least, long most) {
    if (value < least || value > most) {
      throw PlainBytes.unusual();
    }
    return value;
  }

  private static Object[] elements(PlainBytes in, PlainValue each) {
    List<Object> found = new ArrayList<>();
    if (in.opens('[', ']')) {
      do {
        found.add(each.orNull(in));
      } while (in.goesOn(']'));
    }
    return found.toArray();
  }

  private static Object map(PlainBytes in, PlainValue each) {
    Map<UTF8String, Object> found = new LinkedHashMap<>();
    if (in.opens('{', '}')) {
      do {
        UTF8String key = in.text();
        if (found.containsKey(key)) {
          throw PlainBytes.unusual();
        }
        in.take(':');
        found.put(key, each.orNull(in));
      } while (in.goesOn('}'));
    }
    return new ArrayBasedMapData(new GenericArrayData(found.keySet().toArray()), new GenericArrayData(found.values().toArray()));
  }
}
