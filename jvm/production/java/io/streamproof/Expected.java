package io.streamproof;

import com.fasterxml.jackson.core.JsonStreamContext;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DatetimeType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What a schema expects at a place of a record: the type, and the column that the place belongs to. */
final class Expected {
  final String column;
  final DataType type;
  private final Map<String, Expected> fields = new HashMap<>();
  private Expected each;
  private boolean looksAtTexts;

  private Expected(String column, DataType type) {
    this.column = column;
    this.type = type;
  }

  /** The whole record. */
  static Expected of(StructType record) {
    Expected whole = new Expected(null, record);
    for (StructField field : record.fields()) {
      whole.add(field.name(), at(field.name(), field.dataType()));
    }
    return whole;
  }

  /** Whether what is written in quotes can be altered at some place of it. */
  boolean looksAtTexts() {
    return looksAtTexts;
  }

  private static Expected at(String column, DataType type) {
    Expected place = new Expected(column, type);
    place.looksAtTexts = type instanceof DecimalType || type instanceof DatetimeType;
    if (type instanceof StructType struct) {
      for (StructField field : struct.fields()) {
        place.add(field.name(), at(column, field.dataType()));
      }
    } else if (type instanceof ArrayType array) {
      place.each = at(column, array.elementType());
      place.looksAtTexts = place.each.looksAtTexts;
    } else if (type instanceof MapType map) {
      place.each = at(column, map.valueType());
      place.looksAtTexts = place.each.looksAtTexts;
    }
    return place;
  }

  private void add(String field, Expected place) {
    fields.put(field, place);
    looksAtTexts |= place.looksAtTexts;
  }

  /** What is expected where a parser stands; null where nothing is. */
  Expected at(JsonStreamContext place) {
    if (place.inRoot()) {
      return this;
    }
    Expected around = at(place.getParent());
    if (around == null || around.each != null) {
      return around == null ? null : around.each;
    }
    return around.fields.get(place.getCurrentName());
  }
}
