package io.streamproof;

import java.nio.charset.StandardCharsets;

/** Numbers of JSON: whole ones, and the nearest double. */
final class PlainNumbers {
  private static final int BASE = 10;
  private static final int DIGITS_OF_LONG = 19;
  private static final long EXACT = 1L << 53; // up to here a double holds each whole number
  private static final int POWERS = 22; // of ten, that a double holds exactly
  private static final int LONGEST = 500; // Jackson takes a thousand
  private static final double[] TENS = new double[POWERS + 1];

  static {
    double power = 1;
    for (int exponent = 0; exponent <= POWERS; exponent++) {
      TENS[exponent] = power;
      power *= BASE;
    }
  }

  private PlainNumbers() {}

  /** Takes a whole number. */
  static long whole(PlainBytes in) {
    boolean minus = in.peek() == '-';
    int first = minus ? ++in.at : in.at;
    int after = in.afterDigits(first);
    in.requireWhole(first, after);
    if (after - first > DIGITS_OF_LONG || in.has(after, '.') || in.hasExponent(after)) {
      throw PlainBytes.unusual();
    }
    long value = 0; // below zero: there is one number more
    for (int place = first; place < after; place++) {
      value = value * BASE - (in.bytes[place] - '0');
    }
    // Of nineteen digits the greatest is less than twice what a long holds, so that beyond it the sign changes.
    if (value > 0 || (value == Long.MIN_VALUE && !minus)) {
      throw PlainBytes.unusual();
    }
    in.at = after;
    return minus ? value : -value;
  }

  /** Takes a number as the nearest double. */
  static double nearest(PlainBytes in) {
    in.peek();
    int begin = in.at;
    boolean minus = in.has(begin, '-');
    int first = minus ? begin + 1 : begin;
    int point = in.afterDigits(first);
    int after = afterFraction(in, first, point);
    int decimals = Math.max(0, after - point - 1);
    if (in.hasExponent(after) || after - first >= DIGITS_OF_LONG || decimals > POWERS) {
      return parsed(in, begin, afterExponent(in, after));
    }
    long value = digits(in, first, point, after);
    if (value > EXACT) {
      return parsed(in, begin, after);
    }
    if (minus && value == 0 && after == point) {
      throw PlainBytes.unusual(); // Spark reads -0 as 0 and -0.0 as -0.0
    }
    in.at = after;
    double found = value / TENS[decimals]; // both are exact, so that this is the nearest
    return minus ? -found : found;
  }

  /** Digits as one number, without the point among them; at most eighteen. */
  static long digits(PlainBytes in, int first, int point, int after) {
    long value = 0;
    for (int place = first; place < after; place++) {
      if (place != point) {
        value = value * BASE + (in.bytes[place] - '0');
      }
    }
    return value;
  }

  private static double parsed(PlainBytes in, int begin, int after) {
    requireShort(begin, after);
    double found = Double.parseDouble(new String(in.bytes, begin, after - begin, StandardCharsets.ISO_8859_1));
    if (Double.isInfinite(found)) {
      throw PlainBytes.unusual();
    }
    in.at = after;
    return found;
  }

  /** Passes over a number. */
  static void skip(PlainBytes in) {
    in.peek();
    int begin = in.at;
    int first = in.has(begin, '-') ? begin + 1 : begin;
    int after = afterExponent(in, afterFraction(in, first, in.afterDigits(first)));
    requireShort(begin, after);
    in.at = after;
  }

  /** After the fraction of a number whose digits before it end at a place; that place where it has none. */
  static int afterFraction(PlainBytes in, int first, int point) {
    in.requireWhole(first, point);
    return in.has(point, '.') ? afterSome(in, point + 1) : point;
  }

  private static int afterExponent(PlainBytes in, int place) {
    if (!in.hasExponent(place)) {
      return place;
    }
    int first = place + 1;
    return afterSome(in, in.has(first, '+') || in.has(first, '-') ? first + 1 : first);
  }

  private static int afterSome(PlainBytes in, int first) {
    int after = in.afterDigits(first);
    if (after == first) {
      throw PlainBytes.unusual();
    }
    return after;
  }

  private static void requireShort(int begin, int after) {
    if (after - begin > LONGEST) {
      throw PlainBytes.unusual();
    }
  }
}
