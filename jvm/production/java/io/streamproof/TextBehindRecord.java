package io.streamproof;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.IOException;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Whether a line holds anything but white space behind its first JSON value.
 *
 * <p>Spark's parser reads the first value of a line and passes over the rest, so a second record would be lost. A line whose first
 * value cannot be parsed is left to Spark's parser, with whose options this one reads.
 */
public final class TextBehindRecord implements UDF1<String, Boolean> {
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();

  public static UserDefinedFunction function() {
    return functions.udf(new TextBehindRecord(), DataTypes.BooleanType).withName("text_behind_record");
  }

  @Override
  public Boolean call(String line) throws IOException {
    if (line == null) {
      return Boolean.FALSE;
    }
    try (JsonParser parser = JSON.createParser(line)) {
      try {
        if (parser.nextToken() == null) {
          return Boolean.FALSE;
        }
        parser.skipChildren();
      } catch (IOException unreadable) {
        return Boolean.FALSE;
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
}
