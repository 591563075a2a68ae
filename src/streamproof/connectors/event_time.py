"""Event time, and which records are usable at all: what every source hands to the job (S2)."""

from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, NumericType, StringType, TimestampNTZType, TimestampType

from streamproof import _jvm
from streamproof.core import rejections
from streamproof.core.clock import LAST_MICROS
from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import ConfigurationError
from streamproof.stream.doors import SourceDoors
from streamproof.stream.names import CORRUPT, INSTANT, ORIGINAL, PROBLEM
from streamproof.stream.problems import column_error

if TYPE_CHECKING:
    from streamproof.config import EventTime, SourceConfig

_TOMBSTONE = "no value (a tombstone)"
_LAST_BIGINT = 2**63 - 2_000  # far enough from the end to be rounded down to whole microseconds
_ZONE_LETTERS = "VzOXxZ"
"""Of Spark's patterns for times, the letters of a zone or an offset."""
_ZONE_BEHIND = r"(?:[A-Za-z\]]|:\d{1,2}(?:\.\d*)?\s*[A-Za-z/_]*[+-]\d{1,2}(?::?\d{2}){0,2})\s*$"
"""A name, or an offset after hours and minutes; without them it would be the day of a date."""
_IN_QUOTES = "decimal(38,9)"
"""What a number in quotes is read as: exactly, up to a nanosecond of a second."""
_TICKS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}


def accepted(rows: DataFrame, name: str, source: "SourceConfig", doors: SourceDoors) -> DataFrame:
    """The rows that parse and have a usable event time, the event-time column as TIMESTAMP; the others leave by the door.

    Raises
    ------
    ConfigurationError
        If the event-time column is not there or its type does not fit the declaration.
    """
    declared = source.event_time
    reason = F.lit(None).cast("string")
    if declared is not None:
        if declared.column not in rows.columns:
            raise column_error(f"[source.{name}] event_time", declared.column, rows.columns)
        # A column, and not the expression at each use: docs/decisions/plan-of-a-query.md says why the generated loop must stay short.
        rows = rows.withColumn(INSTANT, _instant(rows, name, declared))
        reason = _time_reason(declared, doors.clock())
    if PROBLEM in rows.columns:
        unread = F.col(PROBLEM)
        if ORIGINAL in rows.columns:  # rows of files that say their types have none
            unread = F.when(F.col(ORIGINAL).isNull(), F.lit(_TOMBSTONE)).otherwise(unread)
        reason = F.when(F.col(PROBLEM).isNotNull(), unread).otherwise(reason)
    if CORRUPT in rows.columns:
        more = _jvm.text_behind_record(rows.sparkSession, F.col(ORIGINAL).cast("string"))
        reason = F.when(more, F.lit("more than a record in its line")).otherwise(reason)
        broken = F.when(F.col(ORIGINAL).isNull(), F.lit(_TOMBSTONE)).otherwise(F.col(CORRUPT))
        reason = F.when(F.col(CORRUPT).isNotNull(), broken).otherwise(reason)
    rows = doors.reject(rows, reason)
    if declared is not None:
        rows = rows.withColumn(declared.column, F.col(INSTANT))
    return rows.drop(CORRUPT, INSTANT, PROBLEM)


def _instant(rows: DataFrame, name: str, declared: "EventTime") -> Column:
    """The event time as TIMESTAMP in UTC; null where it is missing or cannot be read."""
    column, type_ = F.col(declared.column), rows.schema[declared.column].dataType
    if isinstance(type_, TimestampType):
        return _printable(column)
    if isinstance(type_, TimestampNTZType | DateType):
        return _printable(F.to_utc_timestamp(column.cast("timestamp"), declared.zone))
    if isinstance(type_, StringType) and declared.unit is not None:  # a number in quotes
        return _of_number(column.try_cast(_IN_QUOTES), declared.unit)
    if isinstance(type_, StringType):
        parsed = F.try_to_timestamp(column, F.lit(declared.format)) if declared.format else F.try_to_timestamp(column)
        if declared.zone == "UTC":
            return _printable(parsed)
        zoned = F.when(_says_its_zone(column, declared.format), parsed).otherwise(F.to_utc_timestamp(parsed, declared.zone))
        return _printable(zoned)
    if isinstance(type_, NumericType):
        if declared.unit is None:
            raise ConfigurationError(
                f"[source.{name}] event_time: the column {declared.column} is a {type_.simpleString()} and no unit is given.",
                required="A number needs a unit: seconds, milliseconds, microseconds or nanoseconds.",
                remedy=f'event_time = {{ column = "{declared.column}", unit = "milliseconds", ... }}',
            )
        return _of_number(column, declared.unit)
    raise ConfigurationError(
        f"[source.{name}] event_time: the column {declared.column} is a {type_.simpleString()}.",
        required="An event time is a number with a unit, a text with a format or a unit, or a timestamp.",
    )


def _of_number(column: Column, unit: str) -> Column:
    """What a number counts, as TIMESTAMP; null where no timestamp holds it."""
    last = min(LAST_MICROS // 1_000_000 * _TICKS[unit], _LAST_BIGINT)
    return F.when(column.between(F.lit(-last), F.lit(last)), _from_number(column, unit))


def _printable(instant: Column) -> Column:
    """Null in place of a time whose year has more than four digits."""
    return F.when(F.unix_micros(instant).between(F.lit(-LAST_MICROS), F.lit(LAST_MICROS)), instant)


def _says_its_zone(text: Column, pattern: str | None) -> Column:
    """Whether a text that can be read says its own zone, or offset: by what stands after the time of day, or by its pattern."""
    if pattern is None:
        return text.rlike(_ZONE_BEHIND)
    without = without_zone(pattern)
    return F.lit(True) if without is None else F.try_to_timestamp(text, F.lit(without)).isNull()


def without_zone(pattern: str) -> str | None:
    """A pattern without the optional parts in which a zone stands; None where one stands outside of them, so that every text has it."""
    parts, quoted, zoned = [""], False, [False]
    for letter in pattern:
        quoted ^= letter == "'"
        if letter == "[" and not quoted:
            parts.append("")
            zoned.append(False)
        elif letter == "]" and not quoted and len(parts) > 1:
            inner, has_zone = parts.pop(), zoned.pop()
            parts[-1] += "" if has_zone else f"[{inner}]"
        else:
            zoned[-1] |= letter in _ZONE_LETTERS and not quoted
            parts[-1] += letter
    return None if zoned[0] else "[".join(parts)


def _from_number(column: Column, unit: str) -> Column:
    if unit == "seconds":
        return F.timestamp_seconds(column)
    if unit == "milliseconds":
        return F.timestamp_millis(column.cast("bigint"))
    micros = column.cast("bigint")
    if unit == "nanoseconds":  # in whole numbers: a quotient of doubles would round 999 nanoseconds up
        micros = F.call_function("div", micros - F.pmod(micros, F.lit(1000)), F.lit(1000))
    return F.timestamp_micros(micros)


def _time_reason(declared: "EventTime", clock: Column) -> Column:
    """What is wrong with the event time of a row; null if nothing is."""
    instant = F.col(INSTANT)
    missing = F.when(F.col(declared.column).isNull(), F.lit(rejections.no_time(declared.column)))
    reason = F.when(instant.isNull(), missing.otherwise(F.lit(rejections.time_not_readable(declared.column))))
    if declared.max_future is not None:
        limit = clock + F.lit(micros_of(declared.max_future))
        text = rejections.time_in_future(format_duration(declared.max_future))
        reason = reason.when(F.unix_micros(instant) > limit, F.lit(text))
    return reason
