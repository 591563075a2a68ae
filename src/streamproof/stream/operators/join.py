"""The interval join: rows of two streams with one key, of which the right one happened within a stretch of time around the left one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.core.durations import format_duration, micros_of
from streamproof.core.opened import Opened
from streamproof.core.sides import LATE_OF, UNMATCHED_OF, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.names import BETWEEN_TRACES, INSTANT, LEFT, RECORDS, RIGHT, TRACE, TRACE_HASH, quoted, visible
from streamproof.stream.operators.operator import Exercise, Kept, Stateful, typed
from streamproof.stream.problems_of_joins import (
    after_join,
    require_free_names,
    require_no_time_key,
    require_same_types,
)
from streamproof.stream.traces import trace_hash
from streamproof.stream.windows.window import DELAY, delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

SUFFIX = "_right"
"""A column of the right stream is called so where the left one has a column of its name."""
_NO_PARTNER = "no row of the other stream has met it"


class How(StrEnum):
    """Which rows without a partner are part of the output."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"

    @property
    def keeps(self) -> tuple[bool, bool]:
        """Whether the left ones are, and the right ones."""
        return self in (How.LEFT, How.FULL), self in (How.RIGHT, How.FULL)


@dataclass(frozen=True)
class Join(Stateful):
    """Rows of two streams that meet.

    It is Spark's own join of two streams, and always its full one: a row that leaves the state unmatched comes out of that with nulls for the other
    side, and then goes into the output or leaves by the side. So it is the same row in the same batch when the batch is done again.

    Parameters
    ----------
    earliest, latest
        How much later than the left row the right one happens, at least and at most; below zero it happens before.
    """

    name: ClassVar[str] = "join"
    call: ClassVar[str] = "join()"
    ends: ClassVar[str] = "no two rows met"
    open_are: ClassVar[Opened | None] = Opened.ROW
    holds_rows: ClassVar[bool] = True
    known_to_leave: ClassVar[bool] = False  # the instant of a row stands in another store than Spark looks at

    key: tuple[str, ...]
    earliest: timedelta
    latest: timedelta
    how: How = How.INNER

    @property
    def sides(self) -> Sequence[Side]:
        unmatched = (side for side, kept in zip(UNMATCHED_OF, self.how.keeps, strict=True) if not kept)
        return (*LATE_OF, *unmatched)

    @property
    def grouped_by(self) -> Sequence[str]:
        return self.key

    def admit(self, number: int, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: Spark's join takes no row at or below the watermark of the batch before."""
        from pyspark.sql import functions as F

        require_no_time_key(self.key, event_time)
        return doors.late(rows, F.unix_micros(event_time), side=LATE_OF[number])

    def meet(self, coming: Sequence[Kept], doors: "Doors", *, followed: bool) -> Kept:
        from pyspark.sql import functions as F

        left, right = coming
        require_same_types(self.key, left.rows, right.rows)
        names = self._names(visible(left.rows.columns), visible(right.rows.columns))
        met = _named(left.rows, LEFT).join(_named(right.rows, RIGHT), self._condition(left.time, right.time), "full_outer")
        alone = F.col(_of(RIGHT, right.time)).isNull(), F.col(_of(LEFT, left.time)).isNull()
        for side, there, rows, prefix, kept in zip(
            UNMATCHED_OF, alone, (left.rows, right.rows), (LEFT, RIGHT), self.how.keeps, strict=True
        ):
            if not kept:
                met = doors.divert(met, side, there, _payload(rows, prefix), F.lit(_NO_PARTNER))
        trace = [_traces()] if TRACE in left.rows.columns else []
        key = {name: F.coalesce(_of_side(LEFT, name), _of_side(RIGHT, name)) for name in self.key}
        shown = [
            # A file keeps a column's metadata: who reads it as a stream would have a watermark that nobody declared.
            _jvm.without_metadata(key[shown] if shown in key else _of_side(prefix, name), shown)
            for prefix, name, shown in names
        ]
        if not followed:
            return Kept(met.select(*trace, *shown), left.time)
        hidden = [_records(*alone).alias(RECORDS), *([_trace_hash().alias(TRACE_HASH)] if trace else [])]
        rows = met.select(*hidden, *trace, _instant_of(left, right), *shown)
        return Kept(doors.going_on(rows, F.col(RECORDS), after=self.name), INSTANT)

    def _condition(self, left_time: str, right_time: str) -> "Column":
        """A null matches nothing, not even another null; Spark's join of streams takes two nulls of a key for equal."""
        left, right = _of_side(LEFT, left_time), _of_side(RIGHT, right_time)
        condition = (right >= _later(left, self.earliest)) & (right <= _later(left, self.latest))
        for name in self.key:
            ours, theirs = _of_side(LEFT, name), _of_side(RIGHT, name)
            condition = (ours == theirs) & ours.isNotNull() & theirs.isNotNull() & condition
        return condition

    def _names(self, left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str, str]]:
        """The columns that come out, in order: of which side, what it is called there, and here."""
        taken = {name.lower() for name in left}
        others = [name for name in right if name not in self.key]
        found = [(LEFT, name, name) for name in left]
        found += [(RIGHT, name, f"{name}{SUFFIX}" if name.lower() in taken else name) for name in others]
        require_free_names([shown for _, _, shown in found])
        return found

    def refuses(self, method: str) -> JobDefinitionError | None:
        return None if method in ("transform()", "window()") else after_join(method)

    def columns(self, known: Known, look: Look) -> Known:
        return self.columns_of_all((known,), look)

    def columns_of_all(self, coming: Sequence[Known], look: Look) -> Known:
        for known in coming:
            look.mentions(self.mentioned(), known)
        left, right = coming[0], coming[-1]
        further = left.further or right.further
        if further:
            return Known(left.beside(right).names, further)
        return Known(tuple(shown for _, _, shown in self._names(left.names, right.names)))

    def exercises(self) -> Sequence[Exercise]:
        if all(self.how.keeps):
            return ()
        missing = "{query} joins two streams and met no row without a partner."
        return (
            Exercise("unmatched", missing, "Let the keys of one source go beyond those of the other: [source.{source}.columns]"),
        )

    def mentioned(self) -> Sequence[Mention]:
        return (Mention("join(on=...)", self.key, exact=True),)

    def state_of(self, coming: "Sequence[DataFrame]") -> Mapping[str, str]:
        """Whole rows are in state, as far as what follows uses their columns: of other columns Spark says it itself."""
        left, _ = coming
        return {
            "join key": typed(left, self.key),
            "join between": f"{_said(self.earliest)} and {_said(self.latest)}",
            "join unmatched in the output": self.how.value,
        }


def _said(bound: timedelta) -> str:
    return f"-{format_duration(-bound)}" if bound < timedelta() else format_duration(bound)


def _named(rows: "DataFrame", prefix: str) -> "DataFrame":
    """The rows of a side, each column under a name that the other side does not have; the event time bears its watermark on."""
    from pyspark.sql import functions as F

    kept = [*([TRACE] if TRACE in rows.columns else []), *visible(rows.columns)]
    return rows.select(*[F.col(quoted(name)).alias(f"{prefix}{name}") for name in kept])


def _of(prefix: str, name: str) -> str:
    return quoted(f"{prefix}{name}")


def _of_side(prefix: str, name: str) -> "Column":
    from pyspark.sql import functions as F

    return F.col(_of(prefix, name))


def _later(time: "Column", by: timedelta) -> "Column":
    """The instant so much later: an interval of days and less, since Spark takes no other for a bound of its state."""
    from pyspark.sql import functions as F

    micros = micros_of(by)
    sign, (seconds, rest) = "-" if micros < 0 else "", divmod(abs(micros), 1_000_000)
    return time + F.expr(f"INTERVAL '{sign}{seconds}.{rest:06d}' SECOND")


def _payload(rows: "DataFrame", prefix: str) -> "Column":
    """What is written of a row without a partner (struct): its columns as they came, and `reason`."""
    from pyspark.sql import functions as F

    kept = [*([TRACE] if TRACE in rows.columns else []), *visible(rows.columns)]
    return F.struct(*[_of_side(prefix, name).alias(name) for name in kept], F.lit(_NO_PARTNER).alias("reason"))


def _traces() -> "Column":
    """The traces of both records of a row, or of the one that it is of."""
    from pyspark.sql import functions as F

    return F.concat_ws(BETWEEN_TRACES, _of_side(LEFT, TRACE), _of_side(RIGHT, TRACE)).alias(TRACE)


def _instant_of(left: Kept, right: Kept) -> "Column":
    """When a row happened, for the operator with state after the join: when its left row did; where it has none, its right one.

    It bears the longer delay of both watermarks. Of no row that a later batch gives this is at or below the watermark that leaves the join: a
    left row waits until that has passed it, and so does a right one.
    """
    from pyspark.sql import functions as F

    delays = [found[DELAY] for one in (left, right) if (found := delay_of(one.rows, one.time))]
    bearing = {DELAY: max(delays)} if delays else {}  # a batch has none
    return F.coalesce(_of_side(LEFT, left.time), _of_side(RIGHT, right.time)).alias(INSTANT, metadata=bearing)


def _records(no_right: "Column", no_left: "Column") -> "Column":
    """Of how many records a row is (bigint)."""
    from pyspark.sql import functions as F

    return F.when(no_right | no_left, F.lit(1)).otherwise(F.lit(2)).cast("bigint")


def _trace_hash() -> "Column":
    """The hashes of both records of a row, added up (bigint)."""
    from pyspark.sql import functions as F

    ours, theirs = (F.coalesce(trace_hash(_of_side(prefix, TRACE)), F.lit(0)) for prefix in (LEFT, RIGHT))
    return ours + theirs
