package io.streamproof;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Dates and times in quotes: {@code 2026-01-05}, {@code 2026-01-05T09:00:00.25}, and the same with Z or {@code +02:00}. */
final class PlainTime {
  private static final int DATE = 10;
  private static final int SECONDS = 19;
  private static final int MICROS = 6;
  private static final int OFFSET = 6;
  private static final int BASE = 10;
  private static final int MINUTE = 60;
  private static final int HOUR = 3_600;
  private static final int MOST_HOURS = 17; // of an offset: 18 is the most, without minutes
  private static final long MILLION = 1_000_000L;

  private PlainTime() {}

  /** Takes a date: days since 1970. */
  static int days(PlainBytes in) {
    int begin = in.plainText();
    if (in.at - 1 - begin != DATE) {
      throw PlainBytes.unusual();
    }
    return (int) date(in.bytes, begin).toEpochDay();
  }

  /** Takes a time: microseconds since 1970, of a time without an offset in a zone. */
  static long micros(PlainBytes in, ZoneId zone) {
    int begin = in.plainText();
    int close = in.at - 1;
    int fraction = fraction(in.bytes, begin, close);
    long micros = micros(in.bytes, begin, fraction);
    LocalDateTime local = local(in.bytes, begin);
    return seconds(in.bytes, local, fraction, close, zone) * MILLION + micros;
  }

  /** Takes a time without an offset: microseconds since 1970 by the same calendar. */
  static long localMicros(PlainBytes in) {
    int begin = in.plainText();
    int close = in.at - 1;
    if (fraction(in.bytes, begin, close) != close) {
      throw PlainBytes.unusual();
    }
    return local(in.bytes, begin).toEpochSecond(ZoneOffset.UTC) * MILLION + micros(in.bytes, begin, close);
  }

  private static long seconds(byte[] bytes, LocalDateTime local, int from, int close, ZoneId zone) {
    if (from == close) {
      return local.atZone(zone).toEpochSecond();
    }
    long utc = local.toEpochSecond(ZoneOffset.UTC);
    if (bytes[from] == 'Z' && close == from + 1) {
      return utc;
    }
    if (close - from != OFFSET || bytes[from + 3] != ':' || (bytes[from] != '+' && bytes[from] != '-')) {
      throw PlainBytes.unusual();
    }
    int hours = number(bytes, from + 1, 2);
    int minutes = number(bytes, from + 4, 2);
    if (hours > MOST_HOURS || minutes >= MINUTE) {
      throw PlainBytes.unusual();
    }
    int offset = hours * HOUR + minutes * MINUTE;
    return bytes[from] == '+' ? utc - offset : utc + offset;
  }

  /** After the fraction of a second, or after the seconds where there is none. */
  private static int fraction(byte[] bytes, int begin, int close) {
    int at = begin + SECONDS;
    if (at > close) {
      throw PlainBytes.unusual();
    }
    if (at == close || bytes[at] != '.') {
      return at;
    }
    int first = ++at;
    while (at < close && PlainBytes.isDigit(bytes[at])) {
      at++;
    }
    if (at == first || at > first + MICROS) {
      throw PlainBytes.unusual();
    }
    return at;
  }

  private static long micros(byte[] bytes, int begin, int after) {
    long found = 0;
    int first = begin + SECONDS + 1;
    for (int digit = 0; digit < MICROS; digit++) {
      found = found * BASE + (first + digit < after ? bytes[first + digit] - '0' : 0);
    }
    return found;
  }

  private static LocalDateTime local(byte[] bytes, int begin) {
    byte between = bytes[begin + DATE];
    if ((between != 'T' && between != ' ') || bytes[begin + 13] != ':' || bytes[begin + 16] != ':') {
      throw PlainBytes.unusual();
    }
    LocalDate date = date(bytes, begin);
    try {
      return date.atTime(number(bytes, begin + 11, 2), number(bytes, begin + 14, 2), number(bytes, begin + 17, 2));
    } catch (DateTimeException wrong) {
      throw PlainBytes.unusual();
    }
  }

  private static LocalDate date(byte[] bytes, int begin) {
    if (bytes[begin + 4] != '-' || bytes[begin + 7] != '-') {
      throw PlainBytes.unusual();
    }
    try {
      return LocalDate.of(number(bytes, begin, 4), number(bytes, begin + 5, 2), number(bytes, begin + 8, 2));
    } catch (DateTimeException wrong) {
      throw PlainBytes.unusual();
    }
  }

  private static int number(byte[] bytes, int from, int digits) {
    int found = 0;
    for (int at = from; at < from + digits; at++) {
      if (!PlainBytes.isDigit(bytes[at])) {
        throw PlainBytes.unusual();
      }
      found = found * BASE + (bytes[at] - '0');
    }
    return found;
  }
}
