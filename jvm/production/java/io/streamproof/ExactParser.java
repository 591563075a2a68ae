package io.streamproof;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * A parser of JSON that refuses a value which Spark's converter would alter without a word.
 *
 * <p>The converter of a column asks for its value by the method of its type: what it would round, cut or complete is looked at here,
 * on the way, so that nothing is read twice and a column without such a type pays nothing.
 */
final class ExactParser extends JsonParserDelegate {
  private static final long LAST_SECOND = 253_402_300_799L; // 9999-12-31T23:59:59Z
  private static final long FIRST_SECOND = -62_167_219_200L; // 0000-01-01T00:00:00Z
  private static final int MICROS = 6;
  private static final int YEAR = 4;
  /** Of what Jackson says a part, and what it means. */
  private static final List<Map.Entry<String, String>> NO_JSON =
      List.of(
          Map.entry("Duplicate field", "a key twice in an object"),
          Map.entry("Non-standard token", "NaN or Infinity without quotes"),
          Map.entry("(code 39)", "single quotes"));

  private final Expected record;
  private String why;

  ExactParser(JsonParser parser, Expected record) {
    super(parser);
    this.record = record;
  }

  /** A value that would be altered; its words say which column's and why, and never the value. */
  static final class Altered extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Altered(String why) {
      super(why, null, false, false);
    }
  }

  /**
   * What was refused first; null where there is no more to say than that the record does not fit. Spark's converters of objects and maps
   * lose the exception. The words are few, and without what stands in the record: rejected records are counted by them.
   */
  String why() {
    return why;
  }

  @Override
  public JsonToken nextToken() throws IOException {
    try {
      return delegate.nextToken();
    } catch (JsonParseException problem) {
      throw noJson(problem);
    }
  }

  @Override
  public JsonParser skipChildren() throws IOException {
    try {
      delegate.skipChildren();
      return this;
    } catch (JsonParseException problem) {
      throw noJson(problem);
    }
  }

  @Override
  public BigDecimal getDecimalValue() throws IOException {
    BigDecimal value = delegate.getDecimalValue();
    Expected here = here();
    if (here != null && here.type instanceof DecimalType type) {
      requireDigits(here, type, value);
    }
    return value;
  }

  @Override
  public double getDoubleValue() throws IOException {
    double value = delegate.getDoubleValue();
    if (Double.isInfinite(value)) {
      throw beyond();
    }
    return value;
  }

  @Override
  public float getFloatValue() throws IOException {
    float value = delegate.getFloatValue();
    if (Float.isInfinite(value)) {
      throw beyond();
    }
    return value;
  }

  @Override
  public long getLongValue() throws IOException {
    long value = delegate.getLongValue();
    if (value > LAST_SECOND || value < FIRST_SECOND) {
      Expected here = here();
      if (here != null && here.type instanceof TimestampType) {
        throw refused(here.column + " has a year of more than four digits");
      }
    }
    return value;
  }

  @Override
  public String getText() throws IOException {
    String text = delegate.getText();
    if (record.looksAtTexts() && delegate.currentToken() == JsonToken.VALUE_STRING) {
      Expected here = here();
      if (here != null) {
        requireAsWritten(here, text);
      }
    }
    return text;
  }

  private void requireAsWritten(Expected here, String text) {
    DataType type = here.type;
    if (type instanceof DecimalType decimal) {
      requireNumber(here, decimal, text);
    } else if (type instanceof DateType) {
      int end = endOfDate(text);
      if (!text.isEmpty() && (end < 0 || !text.substring(end).isBlank())) {
        throw refused(here.column + " is no date of the form yyyy-MM-dd");
      }
    } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
      if (!text.isEmpty() && endOfDate(text) < 0) {
        throw refused(here.column + " is a time without a date of the form yyyy-MM-dd");
      }
      if (isFiner(text)) {
        throw refused(here.column + " is finer than microseconds");
      }
    }
  }

  /** Spark takes the commas out of a number in quotes, whatever they stand for. */
  private void requireNumber(Expected here, DecimalType type, String text) {
    if (text.indexOf(',') >= 0) {
      throw refused(here.column + " is a number with commas");
    }
    try {
      requireDigits(here, type, new BigDecimal(text));
    } catch (NumberFormatException unreadable) {
      return; // by Spark too
    }
  }

  private void requireDigits(Expected here, DecimalType type, BigDecimal value) {
    if (value.scale() > type.scale() && value.stripTrailingZeros().scale() > type.scale()) {
      throw refused(here.column + " has more than the " + type.scale() + " decimal places of " + type.simpleString());
    }
  }

  /** After the date that a text begins with; -1 where it begins with none, or with a year of more than four digits. */
  private static int endOfDate(String text) {
    int at = 0;
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    int month = digits(text, at, YEAR);
    if (month - at != YEAR || !isDash(text, month)) {
      return -1;
    }
    int day = digits(text, month + 1, 2);
    if (day == month + 1 || !isDash(text, day)) {
      return -1;
    }
    int end = digits(text, day + 1, 2);
    return end == day + 1 ? -1 : end;
  }

  private static int digits(String text, int from, int most) {
    int at = from;
    while (at < text.length() && at < from + most && isDigit(text.charAt(at))) {
      at++;
    }
    return at;
  }

  private static boolean isDash(String text, int at) {
    return at < text.length() && text.charAt(at) == '-';
  }

  private static boolean isDigit(char letter) {
    return letter >= '0' && letter <= '9';
  }

  /** Whether a fraction of a second has digits after the microseconds that say something. */
  private static boolean isFiner(String text) {
    int point = text.indexOf('.');
    if (point < 0) {
      return false;
    }
    for (int at = point + 1; at < text.length() && isDigit(text.charAt(at)); at++) {
      if (at > point + MICROS && text.charAt(at) != '0') {
        return true;
      }
    }
    return false;
  }

  private Altered beyond() {
    Expected here = here();
    return refused(here == null ? "a number beyond its type" : here.column + " is beyond the greatest " + here.type.simpleString());
  }

  private JsonParseException noJson(JsonParseException problem) {
    String said = problem.getOriginalMessage();
    NO_JSON.stream().filter(known -> said.contains(known.getKey())).findFirst().ifPresent(known -> refused(known.getValue()));
    return problem;
  }

  private Altered refused(String because) {
    why = why == null ? because : why;
    return new Altered(because);
  }

  private Expected here() {
    return record.at(delegate.getParsingContext());
  }
}
