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
    long value = 0;
    int at = first;
    int places = -1; // after the point; -1 before there is one
    while (at < in.end && (PlainBytes.isDigit(in.bytes[at]) || (in.bytes[at] == '.' && places < 0))) {
      if (in.bytes[at] == '.') {
        in.requireWhole(first, at);
        places = 0;
      } else {
        value = value * BASE + (in.bytes[at] - '0');
        places = places < 0 ? -1 : places + 1;
      }
      at++;
    }
    if (places < 0) {
      in.requireWhole(first, at);
    }
    boolean goesOn = at < in.end && (in.bytes[at] == 'e' || in.bytes[at] == 'E' || in.bytes[at] == '.');
    int missing = scale - Math.max(0, places);
    if (goesOn || places == 0 || at - first > DIGITS || missing < 0 || missing > DIGITS) {
      throw PlainBytes.unusual();
    }
    in.at = at;
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
