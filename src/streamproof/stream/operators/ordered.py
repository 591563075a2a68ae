"""Deduplication by an order: which row of a key stays is known once no other can come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.core.durations import format_duration
from streamproof.core.opened import Opened
from streamproof.errors import JobDefinitionError
from streamproof.stream.known import Mention
from streamproof.stream.names import RECORDS, TRACE, TRACE_HASH, quoted, visible
from streamproof.stream.operators.deduplicate import COPIES
from streamproof.stream.operators.operator import Exercise, Kept, OneInput, typed
from streamproof.stream.operators.ordering import require_order, row_hash
from streamproof.stream.traces import trace_hash
from streamproof.stream.windows import Session

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

KEEP = ("first", "last")
_ROW = "_row"


@dataclass(frozen=True)
class OrderedDeduplicate(OneInput):
    """Of the rows of a key that follow each other within a horizon, the first or the last by a column; it comes when no other can join them.

    They are a session of the key, and its one aggregate is a whole row.
    """

    name: ClassVar[str] = "ordered deduplicate"
    call: ClassVar[str] = "deduplicate(order_by=...)"
    ends: ClassVar[str] = "the horizon of none came to its end"
    open_are: ClassVar[Opened | None] = Opened.KEY

    key: tuple[str, ...]
    within: timedelta
    order_by: str
    keep: str

    @property
    def session(self) -> Session:
        return Session(self.within)

    @property
    def grouped_by(self) -> Sequence[str]:
        return self.key

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.session.divert(rows, event_time, doors)

    @property
    def waits(self) -> timedelta:
        return self.within

    def counted(self, *, rows: int, records: int) -> dict[str, int]:
        """A row that stays stands for the copies that it is chosen from."""
        return {"emitted": rows, "duplicate": records - rows}

    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        return Kept(self._chosen(rows, event_time), event_time)

    def _chosen(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        """The rows that stay, with the hidden number of rows that each stands for (and in proofs the sum of their trace hashes)."""
        from pyspark.sql import functions as F

        require_order(rows, "deduplicate", self.order_by)
        kept = [*([TRACE] if TRACE in rows.columns else []), *visible(rows.columns)]
        row = F.struct(*map(quoted, kept))
        chosen = (F.min_by if self.keep == "first" else F.max_by)(row, self._rank(rows, event_time))
        hidden = [F.count(F.lit(1)).alias(RECORDS)]
        if TRACE in rows.columns:
            hidden.append(F.sum(trace_hash(F.col(TRACE))).alias(TRACE_HASH))
        grouped = self.session.grouped(rows, event_time, [quoted(name) for name in self.key]).agg(*hidden, chosen.alias(_ROW))
        hashed = [TRACE_HASH] if TRACE in rows.columns else []
        # The event time bears the delay of the watermark: who reads the files as a stream would have one that nobody declared.
        found = {name: F.col(f"{_ROW}.{quoted(name)}") for name in kept}
        shown = [_jvm.without_metadata(one, name) if name == event_time else one.alias(name) for name, one in found.items()]
        return grouped.select(RECORDS, *hashed, *shown)

    def _rank(self, rows: "DataFrame", event_time: str) -> "Column":
        """What is least of the row that stays, or greatest: a row without an order only where no other has one; then the event time, then a
        hash of the whole row, so that it does not depend on the order in which rows come.
        """
        from pyspark.sql import functions as F

        order = F.col(quoted(self.order_by))
        without = order.isNull() if self.keep == "first" else order.isNotNull()
        return F.struct(
            without, order, F.unix_micros(quoted(event_time)), row_hash(rows), *([F.col(TRACE)] if TRACE in rows.columns else [])
        )

    def refuses(self, method: str) -> JobDefinitionError | None:
        return JobDefinitionError(
            f"{method} stands behind deduplicate(order_by=...).",
            required="A row that stays comes when the watermark is beyond its event time and the horizon: every window of that time would be over by then.",
            remedy="Return it as an output, and read that by another job; or leave order_by out, where it does not matter which copy stays.",
        )

    def exercises(self) -> Sequence[Exercise]:
        return (COPIES,)

    def mentioned(self) -> Sequence[Mention]:
        return (
            Mention("deduplicate()", self.key, exact=True),
            Mention("deduplicate(order_by=...)", (self.order_by,), exact=True),
        )

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        """Whole rows are in state: other columns are other state."""
        return {
            "deduplication key": typed(rows, self.key),
            "deduplication within": format_duration(self.within),
            "deduplication keeps": f"the {self.keep} by {typed(rows, (self.order_by,))}",
            "deduplicated row": typed(rows, tuple(visible(rows.columns))),
        }


def require_ordered(order_by: object, keep: object, within: str | None) -> None:
    """JobDefinitionError unless `order_by` and `keep` say together which row stays, and `within` how long others are waited for."""
    if order_by is None and keep is None:
        return
    if order_by is None:
        raise JobDefinitionError(
            f"deduplicate(keep={keep!r}) does not say by which column.",
            required="Without an order the row that comes first stays, and which that is is not promised.",
            remedy='Say what puts the rows in order: order_by="version".',
        )
    if not isinstance(order_by, str):
        raise JobDefinitionError(
            f"deduplicate(order_by=...) got a {type(order_by).__name__}.",
            required='It takes the name of a column, such as "version".',
        )
    if keep not in KEEP:
        said = "does not say which row stays" if keep is None else f"has keep={keep!r}"
        raise JobDefinitionError(
            f"deduplicate(order_by={order_by!r}) {said}.",
            required='keep is "first" or "last": the least or the greatest by that column.',
        )
    if within is None:
        raise JobDefinitionError(
            f"deduplicate(order_by={order_by!r}) does not say how long other rows are waited for.",
            required="Which row stays is known once no other can come: a row waits until none of its key has come for that long.",
            remedy='Write how far apart copies can be, such as within="10 minutes".',
        )
