package io.streamproof;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bytes of a record of JSON, and how far they have been read.
 *
 * <p>Whatever is out of the ordinary is {@link #unusual}: nothing is decided here about a record that has a mistake.
 */
final class PlainBytes {
  private static final int BASE = 10;
  private static final int DIGITS_OF_LONG = 19;
  private static final long EXACT = 1L << 53; // up to here a double holds each whole number
  private static final int POWERS = 22; // of ten, that a double holds exactly
  private static final int LONGEST_NUMBER = 500; // Jackson takes a thousand
  private static final int LONGEST_KEY = 10_000; // Jackson takes 50,000
  private static final int DEEPEST = 100; // Jackson goes a thousand deep
  private static final int MOST_UNKNOWN = 64; // keys of one object: each is compared with those before it
  private static final double[] TENS = new double[POWERS + 1];
  private static final Unusual UNUSUAL = new Unusual();

  static {
    double power = 1;
    for (int exponent = 0; exponent <= POWERS; exponent++) {
      TENS[exponent] = power; // exact: each is a whole number below 2^53 times a power of two
      power *= BASE;
    }
  }

  byte[] bytes;
  int at;
  int end;
  /** Below zero where a byte of a text was. */
  int seen;

  /** A record that this reader leaves to the other one. */
  static final class Unusual extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusual() {
      super("left to the other reader", null, false, false);
    }
  }

  static Unusual unusual() {
    return UNUSUAL;
  }

  /** Begins a line; its bytes are not copied where they lie in an array. */
  void open(UTF8String line) {
    long offset = line.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET;
    if (line.getBaseObject() instanceof byte[] array) {
      bytes = array;
      at = (int) offset;
    } else {
      bytes = line.getBytes();
      at = 0;
    }
    end = at + line.numBytes();
    seen = 0;
  }

  /** Passes over white space; the byte that comes next, and zero at the end. */
  byte peek() {
    while (at < end) {
      byte next = bytes[at];
      if (next > ' ' || (next != ' ' && next != '\n' && next != '\r' && next != '\t')) {
        return next;
      }
      at++;
    }
    return 0;
  }

  /** Passes over white space, and takes a byte that must come next. */
  void take(char wanted) {
    if (peek() != wanted) {
      throw UNUSUAL;
    }
    at++;
  }

  /** After a value: true of a comma, false of the end of what it stands in. */
  boolean goesOn(char closing) {
    byte next = peek();
    at++;
    if (next == ',') {
      return true;
    }
    if (next != closing) {
      throw UNUSUAL;
    }
    return false;
  }

  boolean isNull() {
    return peek() == 'n';
  }

  /** Takes a word, such as "true". */
  void word(String word) {
    int length = word.length();
    if (end - at < length) {
      throw UNUSUAL;
    }
    for (int letter = 0; letter < length; letter++) {
      if (bytes[at + letter] != word.charAt(letter)) {
        throw UNUSUAL;
      }
    }
    at += length;
  }

  /** Takes a key if it is this one, with its closing quote and the colon. */
  boolean isKey(byte[] name) {
    int close = at + 1 + name.length;
    if (close >= end || bytes[close] != '"' || !Arrays.equals(bytes, at + 1, close, name, 0, name.length)) {
      return false;
    }
    at = close + 1;
    take(':');
    return true;
  }

  /** Takes a key without escapes: where it begins, after the quote. It ends before {@code at}, which is behind its closing quote. */
  int key() {
    if (peek() != '"') {
      throw UNUSUAL;
    }
    int begin = ++at;
    int close = close(begin);
    if (bytes[close] != '"' || close - begin > LONGEST_KEY) {
      throw UNUSUAL;
    }
    at = close + 1;
    return begin;
  }

  /** The place of the quote that ends a text, or of the first backslash in it. */
  private int close(int begin) {
    int place = begin;
    int all = 0;
    while (place < end) {
      byte next = bytes[place];
      if (next == '"' || next == '\\') {
        seen |= all;
        return place;
      }
      if (next >= 0 && next < ' ') {
        throw UNUSUAL;
      }
      all |= next;
      place++;
    }
    throw UNUSUAL;
  }

  /** Takes a text; without escapes it is a part of the line, and no copy. */
  UTF8String text() {
    if (peek() != '"') {
      throw UNUSUAL;
    }
    int begin = at + 1;
    int close = close(begin);
    if (bytes[close] == '"') {
      at = close + 1;
      return UTF8String.fromBytes(bytes, begin, close - begin);
    }
    return PlainEscapes.text(this, begin, close);
  }

  /** Takes a text without escapes, and leaves {@code at} behind its closing quote: where it begins. */
  int plainText() {
    if (peek() != '"') {
      throw UNUSUAL;
    }
    int begin = at + 1;
    int close = close(begin);
    if (bytes[close] != '"') {
      throw UNUSUAL;
    }
    at = close + 1;
    return begin;
  }

  /** Goes on in a text after an escape. */
  int closeFrom(int place) {
    return close(place);
  }

  /** Takes a whole number. */
  long whole() {
    boolean minus = peek() == '-';
    int first = minus ? ++at : at;
    long value = 0; // below zero: there is one number more
    int place = first;
    while (place < end && isDigit(bytes[place])) {
      if (place - first >= DIGITS_OF_LONG - 1) {
        if (place - first >= DIGITS_OF_LONG || value < -(Long.MAX_VALUE / BASE)) {
          throw UNUSUAL;
        }
        value = value * BASE - (bytes[place] - '0');
        if (value > 0 || (value == Long.MIN_VALUE && !minus)) {
          throw UNUSUAL;
        }
      } else {
        value = value * BASE - (bytes[place] - '0');
      }
      place++;
    }
    requireWhole(first, place);
    if (place < end && (bytes[place] == '.' || bytes[place] == 'e' || bytes[place] == 'E')) {
      throw UNUSUAL;
    }
    at = place;
    return minus ? value : -value;
  }

  /** A number has digits before its point, and zero alone begins with zero. */
  void requireWhole(int first, int after) {
    if (after == first || (bytes[first] == '0' && after > first + 1)) {
      throw UNUSUAL;
    }
  }

  /** Takes a number as the nearest double. */
  double number() {
    int begin = begin();
    boolean minus = bytes[begin] == '-';
    int first = minus ? begin + 1 : begin;
    int place = first;
    long value = 0;
    while (place < end && isDigit(bytes[place])) {
      value = value * BASE + (bytes[place++] - '0');
    }
    requireWhole(first, place);
    int digits = place - first;
    int exponent = 0;
    boolean isWhole = true;
    if (place < end && bytes[place] == '.') {
      int point = place++;
      while (place < end && isDigit(bytes[place])) {
        value = value * BASE + (bytes[place++] - '0');
      }
      exponent = point + 1 - place;
      if (exponent == 0) {
        throw UNUSUAL;
      }
      digits -= exponent;
      isWhole = false;
    }
    if (place < end && (bytes[place] == 'e' || bytes[place] == 'E')) {
      return slow(begin, afterExponent(place));
    }
    if (digits >= DIGITS_OF_LONG || value > EXACT || exponent < -POWERS) {
      return slow(begin, place);
    }
    if (minus && isWhole && value == 0) {
      throw UNUSUAL; // Spark reads -0 as 0 and -0.0 as -0.0
    }
    at = place;
    double found = exponent == 0 ? value : value / TENS[-exponent];
    return minus ? -found : found;
  }

  private int begin() {
    peek();
    if (at >= end) {
      throw UNUSUAL;
    }
    return at;
  }

  private int afterExponent(int place) {
    int first = place + 1;
    if (first < end && (bytes[first] == '+' || bytes[first] == '-')) {
      first++;
    }
    int after = first;
    while (after < end && isDigit(bytes[after])) {
      after++;
    }
    if (after == first) {
      throw UNUSUAL;
    }
    return after;
  }

  private double slow(int begin, int after) {
    if (after - begin > LONGEST_NUMBER) {
      throw UNUSUAL;
    }
    double found = Double.parseDouble(new String(bytes, begin, after - begin, StandardCharsets.ISO_8859_1));
    if (Double.isInfinite(found)) {
      throw UNUSUAL;
    }
    at = after;
    return found;
  }

  /** Takes a value that no column asks for. */
  void skip(int depth) {
    switch (peek()) {
      case '"' -> skipText();
      case '{' -> skipObject(depth);
      case '[' -> skipArray(depth);
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      default -> skipNumber();
    }
  }

  private void skipText() {
    if (bytes[close(at + 1)] == '"') {
      plainText();
    } else {
      text();
    }
  }

  private void skipNumber() {
    int begin = begin();
    int first = bytes[begin] == '-' ? begin + 1 : begin;
    int place = first;
    while (place < end && isDigit(bytes[place])) {
      place++;
    }
    requireWhole(first, place);
    if (place < end && bytes[place] == '.') {
      int fraction = ++place;
      while (place < end && isDigit(bytes[place])) {
        place++;
      }
      if (place == fraction) {
        throw UNUSUAL;
      }
    }
    if (place < end && (bytes[place] == 'e' || bytes[place] == 'E')) {
      place = afterExponent(place);
    }
    if (place - begin > LONGEST_NUMBER) {
      throw UNUSUAL;
    }
    at = place;
  }

  private void skipArray(int depth) {
    requireShallow(depth);
    take('[');
    if (peek() == ']') {
      at++;
      return;
    }
    do {
      skip(depth + 1);
    } while (goesOn(']'));
  }

  private void skipObject(int depth) {
    requireShallow(depth);
    take('{');
    if (peek() == '}') {
      at++;
      return;
    }
    Keys keys = new Keys();
    do {
      keys.add(this, key());
      take(':');
      skip(depth + 1);
    } while (goesOn('}'));
  }

  private static void requireShallow(int depth) {
    if (depth > DEEPEST) {
      throw UNUSUAL;
    }
  }

  /** The keys of an object that no column has: none may stand there twice. */
  static final class Keys {
    private int[] places = new int[8];
    private int count;

    void clear() {
      count = 0;
    }

    /** The key that the bytes have just been read to the end of. */
    void add(PlainBytes in, int begin) {
      int close = in.at - 1;
      for (int one = 0; one < count; one += 2) {
        if (Arrays.equals(in.bytes, places[one], places[one + 1], in.bytes, begin, close)) {
          throw UNUSUAL;
        }
      }
      if (count >= 2 * MOST_UNKNOWN) {
        throw UNUSUAL;
      }
      if (count == places.length) {
        places = Arrays.copyOf(places, 2 * count);
      }
      places[count++] = begin;
      places[count++] = close;
    }
  }

  static boolean isDigit(byte letter) {
    return letter >= '0' && letter <= '9';
  }
}
