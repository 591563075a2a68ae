package io.streamproof;

import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/** Decimals of at most eighteen digits that their type holds as they are written, without an exponent. */
final class PlainDecimal {
  private static final int DIGITS = 18;
  private static final int BASE = 10;
  private static final long[] TENS = new long[DIGITS + 1];

  static {
    long power = 1;
    for (int exponent = 0; exponent <= DIGITS; exponent++) {
      TENS[exponent] = power;
      power *= BASE;
    }
  }

  private final int precision;
  private final int scale;

  PlainDecimal(DecimalType type) {
    precision = type.precision();
    scale = type.scale();
  }

  Object read(PlainBytes in) {
    boolean minus = in.peek() == '-';
    int first = minus ? ++in.at : in.at;
    int point = in.afterDigits(first);
    int after = PlainNumbers.afterFraction(in, first, point);
    int missing = scale - Math.max(0, after - point - 1);
    if (in.hasExponent(after) || after - first > DIGITS || missing < 0 || missing > DIGITS) {
      throw PlainBytes.unusual();
    }
    long value = PlainNumbers.digits(in, first, point, after);
    in.at = after;
    return decimal(minus ? -value : value, missing);
  }

  private Decimal decimal(long value, int missing) {
    long most = TENS[Math.min(precision, DIGITS)] / TENS[missing];
    if (Math.abs(value) >= most) {
      throw PlainBytes.unusual();
    }
    return Decimal.createUnsafe(value * TENS[missing], precision, scale);
  }
}
