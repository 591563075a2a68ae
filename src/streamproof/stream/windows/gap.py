"""The gap of a session by a column: each event brings its own."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from streamproof.core.durations import format_duration, micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.names import quoted
from streamproof.stream.windows.durations import positive_duration

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PARTS = (("DAY", 86_400), ("HOUR", 3_600), ("MINUTE", 60), ("SECOND", 1))


@dataclass(frozen=True)
class Gap:
    """The column that says how long a key may be quiet behind an event, and the longest gap that counts."""

    column: str
    at_most: timedelta

    def __str__(self) -> str:
        return f"gap of {self.column} at most {format_duration(self.at_most)}"

    @property
    def call(self) -> str:
        """As errors name it."""
        return f"gap_of({self.column!r}, at_most={format_duration(self.at_most)!r})"

    def refused(self, rows: "DataFrame") -> "Column":
        """Why the gap of a row is none (string); null where it is one.

        Spark drops a row whose gap is null, zero or negative, and says nothing.
        """
        from pyspark.sql import functions as F

        gap, said = self.micros(rows), f"session gap {self.column}"
        return (
            F.when(gap.isNull(), F.lit(f"{said} (is null)"))
            .when(F.isnan(gap), F.lit(f"{said} (is not a number)"))
            .when(gap < 1, F.lit(f"{said} (is not above zero)"))
            .when(gap > micros_of(self.at_most), F.lit(f"{said} (is above {format_duration(self.at_most)})"))
        )

    def micros(self, rows: "DataFrame") -> "Column":
        """The gap of each row in whole microseconds (double, which is exact for hundreds of years), also of rows that are refused.

        Raises
        ------
        JobDefinitionError
            If the column holds neither seconds nor intervals.
        """
        from pyspark.sql import functions as F
        from pyspark.sql.types import DayTimeIntervalType, NumericType

        type_, value = rows.schema[self.column].dataType, F.col(quoted(self.column))
        if isinstance(type_, DayTimeIntervalType):
            whole = value.cast("interval day to second")
            parts = [F.extract(F.lit(part), whole).cast("double") * float(seconds) for part, seconds in _PARTS]
            return F.rint((parts[0] + parts[1] + parts[2] + parts[3]) * 1e6)
        if isinstance(type_, NumericType):
            return F.rint(value.cast("double") * 1e6)
        raise JobDefinitionError(
            f'{self.call}: the column "{self.column}" is {type_.simpleString()}.',
            required="A gap is a number of seconds, or an interval of days to seconds; a month has no fixed length.",
            remedy="Make such a column by transform(lambda rows: rows.withColumn(...)), before deduplicate() and the window.",
        )


def gap_of(column: str, *, at_most: str | None = None) -> Gap:
    """The gap of a session by a column: `session(gap_of("idle_seconds", at_most="2 hours"))`.

    Parameters
    ----------
    column
        How long the key may be quiet behind each event: a number of seconds, or an interval of days to seconds.
    at_most
        The longest gap that counts, such as "2 hours". An event with a longer one is rejected, so that no event holds its session open for ever.

    Raises
    ------
    JobDefinitionError
        If the column is no name, or `at_most` is missing, no duration, or not longer than zero.
    """
    if not isinstance(column, str) or not column:
        found = "an empty name" if column == "" else f"a {type(column).__name__}"
        raise JobDefinitionError(f"gap_of() got {found}.", required='It takes the name of a column, such as "idle_seconds".')
    if at_most is None:
        raise JobDefinitionError(
            f"gap_of({column!r}) has no at_most.",
            required="One event with a gap of years would hold its session open, and in state, for years.",
            remedy=f'Say how long a gap may be: gap_of({column!r}, at_most="2 hours"). Events with a longer one are rejected.',
        )
    return Gap(column, positive_duration(f"gap_of({column!r}, at_most={at_most!r})", at_most, "the longest gap is"))
