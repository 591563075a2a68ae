package io.streamproof;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** A text of JSON with escapes in it. */
final class PlainEscapes {
  private static final int HEX = 16;
  private static final int DIGITS = 4;
  private static final String LETTERS = "\"\\/bfnrt";
  private static final String MEANT = "\"\\/\b\f\n\r\t";

  private byte[] found;
  private int length;

  private PlainEscapes(int most) {
    found = new byte[most];
  }

  /** Takes the text that begins at a place and has its first backslash at another; behind its closing quote the bytes go on. */
  static UTF8String text(PlainBytes in, int begin, int backslash) {
    PlainEscapes made = new PlainEscapes(Math.max(HEX, 2 * (backslash - begin)));
    int from = begin;
    int close = backslash;
    while (in.bytes[close] == '\\') {
      made.add(in.bytes, from, close);
      from = made.escape(in, close + 1);
      close = in.close(from);
    }
    made.add(in.bytes, from, close);
    in.at = close + 1;
    return UTF8String.fromBytes(made.found, 0, made.length);
  }

  /** What an escape stands for, and where the bytes go on after it. */
  private int escape(PlainBytes in, int at) {
    if (at >= in.end) {
      throw PlainBytes.unusual();
    }
    if (in.bytes[at] != 'u') {
      int known = LETTERS.indexOf(in.bytes[at]);
      if (known < 0) {
        throw PlainBytes.unusual();
      }
      encode(MEANT.charAt(known));
      return at + 1;
    }
    char first = letter(in, at + 1);
    int after = at + 1 + DIGITS;
    if (!Character.isSurrogate(first)) {
      encode(first);
      return after;
    }
    if (!Character.isHighSurrogate(first) || after + 2 > in.end || in.bytes[after] != '\\' || in.bytes[after + 1] != 'u') {
      throw PlainBytes.unusual();
    }
    char second = letter(in, after + 2);
    if (!Character.isLowSurrogate(second)) {
      throw PlainBytes.unusual();
    }
    encode(Character.toCodePoint(first, second));
    return after + 2 + DIGITS;
  }

  private static char letter(PlainBytes in, int at) {
    if (at + DIGITS > in.end) {
      throw PlainBytes.unusual();
    }
    int letter = 0;
    for (int place = at; place < at + DIGITS; place++) {
      int digit = in.bytes[place] < 0 ? -1 : Character.digit(in.bytes[place], HEX);
      if (digit < 0) {
        throw PlainBytes.unusual();
      }
      letter = letter * HEX + digit;
    }
    return (char) letter;
  }

  private void encode(int letter) {
    byte[] written = new String(Character.toChars(letter)).getBytes(StandardCharsets.UTF_8);
    add(written, 0, written.length);
  }

  private void add(byte[] bytes, int from, int to) {
    int more = to - from;
    if (length + more > found.length) {
      found = Arrays.copyOf(found, Math.max(2 * found.length, length + more));
    }
    System.arraycopy(bytes, from, found, length, more);
    length += more;
  }
}
