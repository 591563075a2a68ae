"""Windows: rows for each window and key; when they come is said by the emission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof import _jvm
from streamproof.core.durations import format_duration
from streamproof.core.opened import Opened
from streamproof.stream.aggregates.declared import Declared, columns_of, said_of
from streamproof.stream.emissions import Emission, Final, revisions
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.names import INSTANT, RECORDS, TRACE, TRACE_HASH, hidden_in
from streamproof.stream.operators.operator import Exercise, Kept, OneInput, RowWise, typed
from streamproof.stream.operators.require_gap import RequireGap
from streamproof.stream.operators.spread import DEALS_ALIKE, dealt
from streamproof.stream.traces import trace_hash
from streamproof.stream.windows import Window
from streamproof.stream.windows.window import delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors


BOUNDS = ("window_start", "window_end")


@dataclass(frozen=True)
class WindowAggregate(OneInput):
    """Rows per window and key: one once the window can no longer change, or several, with their revision."""

    name: ClassVar[str] = "window"
    call: ClassVar[str] = "window()"
    sums: ClassVar[bool] = True
    ends: ClassVar[str] = "no window came to its end"
    open_are: ClassVar[Opened | None] = Opened.WINDOW

    window: Window
    by: tuple[str, ...]
    lateness: timedelta
    aggregates: "Mapping[str, Column | Declared]"
    emits: Emission = field(default_factory=Final)
    spread: int | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        return {} if self.spread is None else {**DEALS_ALIKE, **self.window.before_exchange}

    @property
    def emission(self) -> Emission:
        return self.emits

    @property
    def allowed_lateness(self) -> timedelta:
        return self.lateness

    @property
    def known_to_leave(self) -> bool:
        return not self.window.before_exchange  # a session's end moves with each row

    @property
    def grouped_by(self) -> Sequence[str]:
        """Only where all rows of a key come to one task: of other windows, and with `spread`, each task sends a row for each window and key."""
        return self.by if self.window.before_exchange and self.spread is None else ()

    def requires(self) -> Sequence[RowWise]:
        return () if (gap := self.window.own_gap) is None else (RequireGap(gap),)

    def counted(self, *, rows: int, records: int) -> dict[str, int]:
        return {"emitted": records}

    @property
    def multiplies(self) -> bool:
        return self.window.several

    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.window.assigned(rows, event_time, doors)

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.window.divert(rows, event_time, doors)

    def hold(self, rows: "DataFrame", event_time: str, doors: "Doors", *, followed: bool) -> Kept:
        """Groups by window and key, with a hidden record count (and in proofs the sum of trace hashes); for an operator behind it with the
        instant of each row.
        """
        if not followed:
            return Kept(self._aggregated(rows, event_time, doors), event_time)
        return Kept(self._aggregated(rows, event_time, doors, _instant_of(self.window, delay_of(rows, event_time))), INSTANT)

    def _aggregated(self, rows: "DataFrame", event_time: str, doors: "Doors", *instant: "Column") -> "DataFrame":
        from pyspark.sql import functions as F

        from streamproof.stream.problems import checked, require_any_order, require_free, require_no_python

        require_free(self.aggregates, "aggregate()")
        behind = RECORDS in rows.columns
        hidden = [(F.sum(RECORDS) if behind else F.count(F.lit(1))).alias(RECORDS)]
        if TRACE_HASH in rows.columns:
            hidden.append(F.sum(TRACE_HASH).alias(TRACE_HASH))
        elif TRACE in rows.columns:
            hidden.append(F.sum(trace_hash(F.col(TRACE))).alias(TRACE_HASH))
        visible = [column.alias(name) for name, column in columns_of(self.aggregates, rows).items()]

        if self.spread is not None and delay_of(rows, event_time):  # a batch divides its rows as it likes
            rows = dealt(rows, self.spread)
        rows = self.window.placed(rows, event_time)
        if self.emission.revised:
            rows = revisions.marked(rows, self.emission, self.allowed_lateness, doors)
            hidden.append(revisions.counted(rows))

        def group(rows: "DataFrame") -> "DataFrame":
            return self.window.grouped(rows, event_time, self.by).agg(*hidden, *visible)

        grouped = checked(rows, "aggregate()", group)
        require_no_python(grouped)
        if self.spread is not None:
            require_any_order(grouped)
        counts, revision = revisions.shown(self.emission, self.by) if self.emission.revised else ([], [])
        return grouped.select(
            *hidden_in(grouped.columns),
            *counts,
            *instant,
            *self.by,
            _jvm.without_metadata(self.window.start, "window_start"),
            # A file keeps a column's metadata: who reads it as a stream would have a watermark that nobody declared.
            _jvm.without_metadata(self.window.end, "window_end"),
            *revision,
            *self.aggregates,
        )

    def columns(self, known: Known, look: Look) -> Known:
        look.mentions(self.mentioned(), known)
        for name, one in self.aggregates.items():
            for expression in one.expressions() if isinstance(one, Declared) else ():
                there = known if expression.of_rows else Known(expression.own)
                look.text(f"{expression.part} of aggregate({name}=...)", expression.text, there, besides=expression.own)
        revision = (REVISION,) if self.emission.revised else ()
        return Known((*self.by, *BOUNDS, *revision, *self.aggregates))

    def exercises(self) -> Sequence[Exercise]:
        if not self.emission.revised:
            return ()
        remedy = "Let some come late, and not too late: [source.{source}.disorder] delayed = 0.05"
        return (Exercise("revision", "No window of {query} gave a second row.", remedy, called="revision"),)

    def mentioned(self) -> Sequence[Mention]:
        return Mention("window(by=...)", self.by, exact=True), Mention(
            "aggregate()", [one for one in self.aggregates.values() if not isinstance(one, Declared)]
        )

    def made_by(self, rows: "DataFrame") -> Mapping[str, str]:
        parts = {
            "window": str(self.window),
            "window key": typed(rows, self.by),
            "allowed lateness": format_duration(self.allowed_lateness),
        }
        if self.emission.revised:  # of others it says nothing: what a checkpoint has once is not said in another way (R25)
            parts["emission"] = self.emission.name
        made = rows.groupBy(*self.by).agg(*[column.alias(name) for name, column in columns_of(self.aggregates, rows).items()])
        types = {field.name: field.dataType.simpleString() for field in made.schema.fields}
        parts["order of aggregates"] = ", ".join(self.aggregates)
        return parts | {f"aggregate {name}": f"{said_of(column)} {types[name]}" for name, column in self.aggregates.items()}


def _instant_of(window: Window, delay: dict[str, object]) -> "Column":
    """When a row of a window happened, for the window behind it: a microsecond before its end, which lies in no later window.

    It bears the delay of the watermark, as the end of the window did.
    """
    from pyspark.sql import functions as F

    return F.timestamp_micros(F.unix_micros(window.end) - 1).alias(INSTANT, metadata=delay)
