"""The newest row of each key: a row goes on where it is newer than those of its key before it, the others are superseded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.core.durations import format_duration, micros_of
from streamproof.core.sides import LATE, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.emissions import Emission
from streamproof.stream.known import Mention
from streamproof.stream.names import GIVES, PLACE, TRACE, quoted, require_names, visible
from streamproof.stream.operators.horizon import horizon_of
from streamproof.stream.operators.operator import Exercise, Kept, OneInput, typed
from streamproof.stream.operators.ordering import comparable, require_order, row_hash
from streamproof.stream.windows.window import delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

SUPERSEDED = Side("superseded", if_returned=True)
_REASON = "a row of its key is newer"
_REMEDY = 'Write how far apart rows of a key can be that must be compared, such as within="1 day".'


@dataclass(frozen=True)
class Changes(Emission):
    """A row for each batch in which a key changes. None changes again, so none has a revision: what puts them in order tells them apart."""

    name: ClassVar[str] = "changes"
    revised: ClassVar[bool] = False
    gives_several: ClassVar[str] = "A key of latest() gives a row whenever it changes"
    or_else: ClassVar[str] = "rows of a key that are alike in it are one call"

    order_by: str

    @property
    def apart(self) -> str:
        return self.order_by

    def gives(self, lateness: timedelta, doors: "Doors") -> "Column":
        from pyspark.sql import functions as F

        return F.lit(True)

    def emitted_up_to(self, watermark_us: int, lateness_us: int) -> int | None:
        return None


@dataclass(frozen=True)
class Latest(OneInput):
    """Of each key the newest row by a column, in every batch that has brought a newer one.

    Spark has no aggregation that forgets a key by its newest row, so Java compares the rows (`Newest`). A batch that is done again compares the
    same rows with the same state, in whatever order they come.
    """

    name: ClassVar[str] = "latest"
    call: ClassVar[str] = "latest()"

    key: tuple[str, ...]
    order_by: str
    within: timedelta

    @property
    def sides(self) -> Sequence[Side]:
        return (LATE, SUPERSEDED)

    @property
    def emission(self) -> Emission:
        return Changes(self.order_by)

    @property
    def grouped_by(self) -> Sequence[str]:
        return self.key

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """By the event time itself: an old row of a key that is forgotten would pass for its newest (R10)."""
        from pyspark.sql import functions as F

        return doors.late(rows, F.unix_micros(event_time))

    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        from pyspark.sql import functions as F

        from streamproof._jvm import newest_of_keys

        shown = visible(rows.columns)
        kept = [*([TRACE] if TRACE in rows.columns else []), *shown]
        ranked = rows.select(*map(quoted, kept), self._rank(rows, event_time).alias(PLACE), F.lit(False).alias(GIVES))
        forgets = bool(delay_of(rows, event_time))
        compared = newest_of_keys(ranked, self.key, micros_of(self.within), forgets=forgets)
        newest = doors.divert(compared, SUPERSEDED, ~F.col(GIVES), F.struct(*map(quoted, shown)), F.lit(_REASON))
        return Kept(newest.select(*map(quoted, kept)), event_time)

    def _rank(self, rows: "DataFrame", event_time: str) -> "Column":
        """What is greatest of the newest row: the column, null below all; the event time; a hash of the row. Two rows that are alike are one.

        In a batch of a proof the trace decides between these, so that it is known which of them goes on.
        """
        from pyspark.sql import functions as F

        tie = F.col(TRACE) if TRACE in rows.columns else F.lit(None).cast("string")
        require_order(rows, self.name, self.order_by)
        order = comparable(rows, self.order_by)
        return F.struct(
            order.alias("order"), F.unix_micros(quoted(event_time)).alias("time"), row_hash(rows).alias("hash"), tie.alias("tie")
        )

    def refuses(self, method: str) -> JobDefinitionError | None:
        return JobDefinitionError(
            f"{method} stands after latest().",
            required="A key gives several rows, of which the last counts: what stands after it would count them all.",
            remedy="Return it as an output. Put transform() before latest(); read the output by another job for the rest.",
        )

    def exercises(self) -> Sequence[Exercise]:
        missing = "{query} takes the newest row of each key, and met none that was not newer."
        return (Exercise(SUPERSEDED.kind, missing, "Let some come out of order: [source.{source}.disorder] delayed = 0.05"),)

    def mentioned(self) -> Sequence[Mention]:
        return Mention("latest()", self.key, exact=True), Mention("latest(order_by=...)", (self.order_by,), exact=True)

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        """The hash of a whole row is in state: other columns are other state."""
        return {
            "latest key": typed(rows, self.key),
            "latest order": typed(rows, (self.order_by,)),
            "latest within": format_duration(self.within),
            "latest row": typed(rows, tuple(visible(rows.columns))),
        }


def latest_of(key: tuple[str, ...], order_by: Any, within: Any) -> Latest:
    """JobDefinitionError unless the arguments of latest() make sense."""
    if not key:
        raise JobDefinitionError(
            "latest() needs the columns of the key.",
            remedy='For example: latest("instrument", order_by="version", within="1 day").',
        )
    require_names("latest()", key)
    require_names("latest(order_by=...)", (order_by,))
    return Latest(key, order_by, horizon_of("latest", within, _REMEDY))
