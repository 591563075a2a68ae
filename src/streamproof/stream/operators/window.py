"""Windows: rows for each window and key; when they come is said by the emission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from streamproof.core.durations import format_duration
from streamproof.stream.aggregates.declared import Declared, columns_of, said_of
from streamproof.stream.emissions import Emission, Final, revisions
from streamproof.stream.names import ADDED, DUE, RECORDS, TRACE, TRACE_HASH, WHOSE
from streamproof.stream.operators.operator import Mention, Stateful, typed
from streamproof.stream.windows import Window
from streamproof.stream.windows.window import delay_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class WindowAggregate(Stateful):
    """Rows per window and key: one once the window can no longer change, or several, with their revision."""

    name: ClassVar[str] = "window"

    window: Window
    by: tuple[str, ...]
    allowed_lateness: timedelta
    aggregates: "Mapping[str, Column | Declared]"
    emission: Emission = field(default_factory=Final)

    @property
    def multiplies(self) -> bool:
        return self.window.several

    def ready(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.window.assigned(rows, event_time, doors)

    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        return self.window.divert(rows, event_time, doors)

    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """Groups by window and key, with a hidden record count (and in proofs the sum of trace hashes)."""
        return self._aggregated(rows, event_time, doors)

    def before_window(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The same for a window behind it, with the instant of each row."""
        from streamproof.stream.operators.window_behind import instant_of

        return self._aggregated(rows, event_time, doors, instant_of(self, delay_of(rows, event_time)))

    def _aggregated(self, rows: "DataFrame", event_time: str, doors: "Doors", *instant: "Column") -> "DataFrame":
        from pyspark.sql import functions as F

        from streamproof.stream.problems import checked, require_free, require_no_python

        require_free(self.aggregates, "aggregate()")
        behind = RECORDS in rows.columns
        hidden = [(F.sum(RECORDS) if behind else F.count(F.lit(1))).alias(RECORDS)]
        if TRACE_HASH in rows.columns:
            hidden.append(F.sum(TRACE_HASH).alias(TRACE_HASH))
        if TRACE in rows.columns:
            hidden.append(F.sum(trace_hash(F.col(TRACE))).alias(TRACE_HASH))
        visible = [column.alias(name) for name, column in columns_of(self.aggregates, rows).items()]

        rows = self.window.placed(rows, event_time)
        if self.emission.revised:
            rows = revisions.marked(rows, self.emission, self.allowed_lateness, doors)
            hidden.append(revisions.counted(rows))

        def group(rows: "DataFrame") -> "DataFrame":
            return self.window.grouped(rows, event_time, self.by).agg(*hidden, *visible)

        grouped = checked(rows, "aggregate()", group)
        require_no_python(grouped)
        counts, revision = revisions.shown(self.emission, self.by) if self.emission.revised else ([], [])
        return grouped.select(
            *hidden_in(grouped),
            *counts,
            *instant,
            *self.by,
            self.window.start.alias("window_start", metadata={}),
            # A file keeps a column's metadata: who reads it as a stream would have a watermark that nobody declared.
            self.window.end.alias("window_end", metadata={}),
            *revision,
            *self.aggregates,
        )

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
        if self.emission.revised:  # what versions before 0.2 wrote names none
            parts["emission"] = self.emission.name
        made = rows.groupBy(*self.by).agg(*[column.alias(name) for name, column in columns_of(self.aggregates, rows).items()])
        types = {field.name: field.dataType.simpleString() for field in made.schema.fields}
        parts["order of aggregates"] = ", ".join(self.aggregates)
        return parts | {f"aggregate {name}": f"{said_of(column)} {types[name]}" for name, column in self.aggregates.items()}


def hidden_in(rows: "DataFrame") -> list[str]:
    """The hidden aggregates of rows; they stand in front: Spark orders a state's value by the final projection, and readers count on it."""
    return [name for name in (RECORDS, TRACE_HASH, ADDED, DUE, WHOSE) if name in rows.columns]


def trace_hash(trace: "Column") -> "Column":
    """40 bits of the MD5 of the event id (the trace id up to a "+"), bigint; sums of up to 8 million stay exact."""
    from pyspark.sql import functions as F

    event = F.substring_index(trace, "+", 1)
    return F.conv(F.substring(F.md5(event.cast("binary")), 1, 10), 16, 10).cast("bigint")
