package io.streamproof;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bytes of a record of JSON, and how far they have been read.
 *
 * <p>Whatever is out of the ordinary is {@link #unusual}: nothing is decided here about a record that has a mistake.
 */
final class PlainBytes {
  private static final Unusual UNUSUAL = new Unusual();

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

  /** Takes what opens an array or an object; false where it closes at once, and is taken as a whole. */
  boolean opens(char opening, char closing) {
    take(opening);
    if (peek() != closing) {
      return true;
    }
    at++;
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

  /** Takes a text without escapes: where it begins. It ends before the quote that {@code at} is behind. */
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

  /** From a place in a text on, that of the quote that ends it, or of the first backslash. */
  int close(int begin) {
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

  /** After the digits that stand from a place on. */
  int afterDigits(int place) {
    int after = place;
    while (after < end && isDigit(bytes[after])) {
      after++;
    }
    return after;
  }

  /** Whether a byte is at a place that the record has. */
  boolean has(int place, char wanted) {
    return place < end && bytes[place] == wanted;
  }

  boolean hasExponent(int place) {
    return has(place, 'e') || has(place, 'E');
  }

  /** A number has digits before its point, and zero alone begins with zero. */
  void requireWhole(int first, int after) {
    if (after == first || (bytes[first] == '0' && after > first + 1)) {
      throw UNUSUAL;
    }
  }

  static boolean isDigit(byte letter) {
    return letter >= '0' && letter <= '9';
  }
}
