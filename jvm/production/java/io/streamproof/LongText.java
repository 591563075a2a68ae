package io.streamproof;

import java.util.ArrayList;
import java.util.List;

/**
 * A text that goes to Python piece by piece.
 *
 * <p>Py4J writes an answer through a buffer of 8,192 bytes. The second part of a longer one waits until the first is acknowledged, which
 * Linux puts off by 40 milliseconds.
 */
public final class LongText {
  private static final int PIECE = 4_000;

  private final List<String> pieces = new ArrayList<>();

  private LongText(String text) {
    for (int from = 0; from < text.length(); ) {
      int to = Math.min(text.length(), from + PIECE);
      if (to < text.length() && Character.isHighSurrogate(text.charAt(to - 1))) {
        to--;
      }
      pieces.add(text.substring(from, to));
      from = to;
    }
  }

  /** The text itself where it is short or null, else one in pieces. */
  static Object of(String text) {
    return text == null || text.length() <= PIECE ? text : new LongText(text);
  }

  public int count() {
    return pieces.size();
  }

  public String piece(int number) {
    return pieces.get(number);
  }
}
