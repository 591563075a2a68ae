package io.streamproof;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.IOException;
import java.io.Serializable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Whether a line holds anything but white space after its first JSON value.
 *
 * <p>Spark's parser reads the first value of a line and passes over the rest, so a second record would be lost. A line whose first
 * value cannot be parsed is left to Spark's parser, with whose options this one reads.
 */
public final class TextBehindRecord implements Serializable {
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();

  /** The call as a column (boolean) of a line (string). */
  public static Column column(Column line) {
    return Called.column(new TextBehindRecord(), "isBehind", DataTypes.BooleanType, line);
  }

  public boolean isBehind(UTF8String line) throws IOException {
    if (line == null) {
      return false;
    }
    byte[] bytes = line.getBytes();
    return !endsWithItsFirstBrace(bytes) && goesOn(line.toString());
  }

  /** A line whose first "}" is its last character holds one record without records in it, as most lines do. */
  private static boolean endsWithItsFirstBrace(byte[] line) {
    int last = line.length - 1;
    for (int at = 0; at < last; at++) {
      if (line[at] == '}') {
        return false;
      }
    }
    return last >= 0 && line[last] == '}';
  }

  private static boolean goesOn(String line) throws IOException {
    try (JsonParser parser = JSON.createParser(line)) {
      try {
        if (parser.nextToken() == null) {
          return false;
        }
        parser.skipChildren();
      } catch (IOException unreadable) {
        return false;
      }
      return hasMore(parser);
    }
  }

  private static boolean hasMore(JsonParser parser) {
    try {
      return parser.nextToken() != null;
    } catch (IOException garbage) {
      return true;
    }
  }

  @Override
  public String toString() {
    return "text after record";
  }
}
