package io.streamproof;

import java.util.Arrays;

/** Passes over values that no column asks for; they must be JSON all the same. */
final class PlainSkip {
  private static final int DEEPEST = 100; // Jackson goes a thousand deep

  private PlainSkip() {}

  static void value(PlainBytes in) {
    value(in, 1);
  }

  private static void value(PlainBytes in, int depth) {
    if (depth > DEEPEST) {
      throw PlainBytes.unusual();
    }
    switch (in.peek()) {
      case '"' -> in.text();
      case '{' -> object(in, depth);
      case '[' -> array(in, depth);
      case 't' -> in.word("true");
      case 'f' -> in.word("false");
      case 'n' -> in.word("null");
      default -> PlainNumbers.skip(in);
    }
  }

  private static void array(PlainBytes in, int depth) {
    if (in.opens('[', ']')) {
      do {
        value(in, depth + 1);
      } while (in.goesOn(']'));
    }
  }

  private static void object(PlainBytes in, int depth) {
    if (in.opens('{', '}')) {
      Keys keys = new Keys();
      do {
        keys.take(in);
        value(in, depth + 1);
      } while (in.goesOn('}'));
    }
  }

  /** The keys of an object that no column has: none may stand there twice. */
  static final class Keys {
    private static final int MOST = 64; // each is compared with those before it
    private static final int LONGEST = 10_000; // bytes; Jackson takes 50,000

    private int[] places = new int[8];
    private int count;

    void clear() {
      count = 0;
    }

    /** Takes a key without escapes, and the colon. */
    void take(PlainBytes in) {
      int begin = in.plainText();
      int close = in.at - 1;
      if (close - begin > LONGEST || count >= 2 * MOST) {
        throw PlainBytes.unusual();
      }
      for (int one = 0; one < count; one += 2) {
        if (Arrays.equals(in.bytes, places[one], places[one + 1], in.bytes, begin, close)) {
          throw PlainBytes.unusual();
        }
      }
      if (count == places.length) {
        places = Arrays.copyOf(places, 2 * count);
      }
      places[count++] = begin;
      places[count++] = close;
      in.take(':');
    }
  }
}
