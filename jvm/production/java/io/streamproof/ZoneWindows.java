package io.streamproof;

import java.io.Serializable;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.TemporalAdjusters;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/**
 * Windows that begin at times of the clock of a zone: on each day, each Monday or each first of a month. One lasts until the next begins.
 *
 * <p>A time that the clock leaves out begins when the clocks go on, one that it shows twice at its first. So an instant is in the window that
 * has begun last, whatever date its own clock shows. The window of the row before is kept: that of most rows is the same.
 */
public final class ZoneWindows implements Serializable {
  private static final long MICROS = TimeUnit.SECONDS.toMicros(1);

  private final String unit;
  private final int[] minutes;
  private final String zone;

  private transient ZoneRules rules;
  private transient long[] last;

  /**
   * @param unit "day", "week" or "month"
   * @param minutes the times after midnight at which windows begin, from early to late
   */
  public ZoneWindows(String unit, int[] minutes, String zone) {
    this.unit = unit;
    this.minutes = minutes.clone();
    this.zone = zone;
    rules(); // a zone that Java does not have is told on the driver
  }

  /** When the window of an instant ends, as a column (bigint); both in microseconds. */
  public Column endOf(Column instant) {
    return Called.pure(this, "end", DataTypes.LongType, instant);
  }

  /** When it begins. */
  public Column beginOf(Column instant) {
    return Called.pure(this, "begin", DataTypes.LongType, instant);
  }

  public long end(long instant) {
    return window(instant)[1];
  }

  public long begin(long instant) {
    return window(instant)[0];
  }

  private long[] window(long instant) {
    long[] known = last;
    if (known == null || instant < known[0] || instant >= known[1]) {
      known = found(instant);
      last = known[0] == Long.MIN_VALUE ? null : known; // at the beginning of Spark's time nothing is known of the window before
    }
    return known;
  }

  private long[] found(long instant) {
    Instant second = Instant.ofEpochSecond(Math.floorDiv(instant, MICROS));
    LocalDate shown = second.atOffset(rules().getOffset(second)).toLocalDate();
    long begin = Long.MIN_VALUE;
    for (LocalDate day = plus(first(shown), -1); ; day = plus(day, 1)) {
      for (int minute : minutes) {
        long next = micros(begins(day.atStartOfDay().plusMinutes(minute)));
        if (next > instant || next == Long.MAX_VALUE) {
          return new long[] {begin, next};
        }
        begin = next;
      }
    }
  }

  private ZoneRules rules() {
    if (rules == null) {
      rules = ZoneId.of(zone, ZoneId.SHORT_IDS).getRules();
    }
    return rules;
  }

  private LocalDate first(LocalDate day) {
    return switch (unit) {
      case "week" -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
      case "month" -> day.withDayOfMonth(1);
      default -> day;
    };
  }

  private LocalDate plus(LocalDate day, int further) {
    return switch (unit) {
      case "week" -> day.plusWeeks(further);
      case "month" -> day.plusMonths(further);
      default -> day.plusDays(further);
    };
  }

  private Instant begins(LocalDateTime clock) {
    ZoneOffsetTransition change = rules().getTransition(clock);
    return change != null && change.isGap() ? change.getInstant() : clock.toInstant(rules().getValidOffsets(clock).get(0));
  }

  /** Beyond Spark's time the first or the last instant that it has. */
  private static long micros(Instant instant) {
    long seconds = instant.getEpochSecond();
    if (seconds <= Long.MIN_VALUE / MICROS) {
      return Long.MIN_VALUE;
    }
    return seconds >= Long.MAX_VALUE / MICROS ? Long.MAX_VALUE : seconds * MICROS;
  }

  @Override
  public String toString() {
    return "windows of " + zone;
  }
}
