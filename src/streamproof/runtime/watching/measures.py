"""What a batch took, and what it left: durations of its phases, rates, lag, state.

Spark measures its own phases and says so once it has committed a batch; ours are measured here. Nothing is asked of a broker, and no Spark job runs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streamproof.connectors.lag import Lag
from streamproof.connectors.source import Source
from streamproof.core.clock import monotonic_seconds
from streamproof.core.instants import instant_in
from streamproof.core.phases import Phase
from streamproof.runtime.watching.events import BatchCommitted
from streamproof.runtime.watching.figures import OperatorState

SPARKS = {
    Phase.PLAN: ("latestOffset", "getBatch", "walCommit", "queryPlanning"),
    Phase.COMMIT: ("commitOffsets",),
}
"""Of which durations in Spark's progress a phase consists."""
_OF_ROWS_THAT_SPARK_WRITES = {Phase.WORK: ("addBatch",)}
"""With the real-time trigger the whole work is Spark's; of any other batch this holds our phases too."""
TOTAL = "triggerExecution"
_DISK_BYTES = "rocksdbSstFileSize"


class Stopwatch:
    """How long each phase of one batch takes, as far as it passes in the driver's own code."""

    def __init__(self) -> None:
        self._seconds: dict[Phase, float] = {}
        self._phase: Phase | None = None
        self._since = 0.0

    def enter(self, phase: Phase | None) -> None:
        """The phase that was under way is over, and another one begins; None is for what is in no phase."""
        now = monotonic_seconds()
        if self._phase is not None:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    @property
    def milliseconds(self) -> dict[str, int]:
        """By phase what has been measured so far, in the order of the phases."""
        return {str(phase): round(self._seconds[phase] * 1000) for phase in Phase if phase in self._seconds}


@dataclass(frozen=True)
class Measures:
    """What Spark's progress adds to the event that a batch of a query is over.

    Parameters
    ----------
    sources
        Those of the query, in the order in which Spark numbers them.
    counts_rows
        Whether Spark counts the rows of a state.
    """

    sources: Sequence[Source]
    counts_rows: bool = False

    def complete(self, event: BatchCommitted, progress: Mapping[str, Any]) -> BatchCommitted:
        """The event with what Spark says of the same batch; as it is where that is not as Spark has always said it.

        Nothing depends on these figures, and they are worked out in the query's own thread: no batch fails for one that cannot be read.
        """
        try:
            return self._completed(event, progress)
        except Exception:  # noqa: BLE001 -- whatever Spark or a source says, the batch is committed
            return event

    def _completed(self, event: BatchCommitted, progress: Mapping[str, Any]) -> BatchCommitted:
        spent = progress.get("durationMs", {})
        input_rate = progress.get("inputRowsPerSecond")
        return replace(
            event,
            phases_ms=_phases(event.phases_ms, spent),
            total_ms=spent.get(TOTAL),
            # Of the first batch of a run Spark does not know since when its records have come in, and says 0.
            input_per_second=None if not input_rate and progress.get("numInputRows") else input_rate,
            processed_per_second=progress.get("processedRowsPerSecond"),
            lag=tuple(self._lag(progress)),
            state=tuple(states_in(progress, counts_rows=self.counts_rows)),
            newest_event=newest_event_in(progress),
        )

    def _lag(self, progress: Mapping[str, Any]) -> Iterator[Lag]:
        for source, told in zip(self.sources, progress.get("sources", ()), strict=False):
            if told.get("endOffset") and told.get("latestOffset"):
                yield from source.lag_when_planned(json.dumps(told["endOffset"]), json.dumps(told["latestOffset"]))


def states_in(progress: Mapping[str, Any], *, counts_rows: bool, counts_dropped: bool = False) -> Iterator[OperatorState]:
    """What the operators with state hold after a batch, by Spark's progress; first the one that is nearest the output."""
    for found in progress.get("stateOperators", ()):
        yield OperatorState(
            operator=found["operatorName"],
            rows=found["numRowsTotal"] if counts_rows else None,
            updated=found["numRowsUpdated"],
            removed=found["numRowsRemoved"],
            memory_bytes=found["memoryUsedBytes"],
            disk_bytes=found.get("customMetrics", {}).get(_DISK_BYTES),
            dropped=found.get("numRowsDroppedByWatermark") if counts_dropped else None,
        )


def newest_event_in(progress: Mapping[str, Any]) -> datetime | None:
    """Spark writes it as an instant; a batch without rows has none."""
    return instant_in(progress.get("eventTime", {}).get("max"))


def _phases(ours: Mapping[str, int], sparks: Mapping[str, int]) -> dict[str, int]:
    """By phase what we have measured and what Spark has, in the order of the phases."""
    names = SPARKS if Phase.WORK in ours else {**SPARKS, **_OF_ROWS_THAT_SPARK_WRITES}
    both = {
        str(phase): [*(sparks[name] for name in names.get(phase, ()) if name in sparks), *([ours[phase]] if phase in ours else ())]
        for phase in Phase
    }
    return {phase: sum(found) for phase, found in both.items() if found}
