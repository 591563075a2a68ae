"""The plain model: lateness, deduplication and windows, from the batches a run really had (R10, R12, R13, R23).

In batch n a record is late by the watermark of batch n-1, windows and remembered keys go by the watermark of batch n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation, WindowContents, WindowKey
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.trace import event_id, hash_of
from streamproof.prove.oracle.watermark import Watermark

Boundaries = tuple[tuple[int, int, tuple[str, ...], bool, int | None], ...]


class HistoryGap(Exception):
    """Batches are missing from the logs, so that the model cannot tell what later ones had in state."""


def simulate(
    shape: QueryShape, arrived: Mapping[str, Arrived], batches: Sequence[BatchRead], traces_of_file: Mapping[str, Sequence[str]]
) -> Expectation:
    """What the batches must have led to.

    Parameters
    ----------
    arrived
        Every record by its trace; one that is not there was lost by a plain transform.
    batches
        In order, from 0.
    traces_of_file
        The traces in each file, by its base name.

    Raises
    ------
    HistoryGap
        If the batches are not 0, 1, 2 and so on.
    """
    if [read.batch for read in batches] != list(range(len(batches))):
        raise HistoryGap(
            f"The logs hold the batches {', '.join(str(read.batch) for read in batches)}; the model needs all from 0 on."
        )
    run = _Run(shape, arrived)
    watermark = Watermark(shape.delay_us if shape.stateful else None)
    outcomes: list[BatchOutcome] = []
    bound_us = 0
    for read in batches:
        if not read.effective:
            outcomes.append(BatchOutcome(read, bound_us, watermark.predicted_ms))
            continue
        traces = tuple(trace for name in read.files for trace in traces_of_file.get(name, ()))
        outcome = run.batch(read, traces, bound_us, watermark.predicted_ms)
        outcomes.append(outcome)
        watermark.saw(run.newest_us)
        bound_us = read.watermark_ms * 1_000
    return Expectation(shape, tuple(outcomes), run.frozen_windows(), dict(run.remembered), tuple(run.ambiguous))


class Model:
    """The model of one query over one set of events; what it says is kept for each vector of batch boundaries."""

    def __init__(self, shape: QueryShape, arrived: Mapping[str, Arrived], traces_of_file: Mapping[str, Sequence[str]]) -> None:
        self.shape, self.arrived, self.traces_of_file = shape, arrived, traces_of_file
        self._kept: dict[Boundaries, Expectation] = {}
        times = (record.time_us for record in arrived.values() if record.fate == "passed")
        self._newest_us = max((time for time in times if time is not None), default=0)

    def expect(self, batches: Sequence[BatchRead]) -> Expectation:
        """As `simulate`; the same batches give the same object again."""
        boundaries = tuple(
            (read.batch, read.watermark_ms, read.files, read.effective, self._cut(future_from(self.shape, read)))
            for read in batches
        )
        if boundaries not in self._kept:
            self._kept[boundaries] = simulate(self.shape, self.arrived, batches, self.traces_of_file)
        return self._kept[boundaries]

    def _cut(self, limit_us: int | None) -> int | None:
        """A limit that some event lies beyond; clocks differ from run to run."""
        return limit_us if limit_us is not None and limit_us < self._newest_us else None


def future_from(shape: QueryShape, read: BatchRead) -> int | None:
    """The event time, microseconds, behind which a batch takes events for future ones; None where it does not ask."""
    return None if shape.max_future_us is None else read.timestamp_ms * 1_000 + shape.max_future_us


@dataclass
class _Window:
    hash: int = 0
    traces: list[str] = field(default_factory=list)

    def frozen(self) -> WindowContents:
        return WindowContents(len(self.traces), self.hash, tuple(self.traces))


class _Run:
    """State as it goes from batch to batch."""

    def __init__(self, shape: QueryShape, arrived: Mapping[str, Arrived]) -> None:
        self.shape, self.arrived = shape, arrived
        self.windows: dict[WindowKey, _Window] = {}
        self.remembered: dict[tuple[Any, ...], int] = {}
        self.ambiguous: list[tuple[Any, ...]] = []
        self.newest_us: int | None = None

    def batch(self, read: BatchRead, traces: tuple[str, ...], bound_us: int, predicted_ms: int) -> BatchOutcome:
        passed, rejected, filtered, unknown = self._row_wise(traces)
        passed, future = self._in_future(passed, read)
        self.newest_us = max((record.time_us for record in passed if record.time_us is not None), default=None)
        passed, late = self._late(passed, bound_us)
        passed, duplicates = self._once(passed)
        self._add(passed)
        evicted_us = read.watermark_ms * 1_000
        emitted = self._emit(evicted_us)
        self.remembered = {key: expiry for key, expiry in self.remembered.items() if expiry > evicted_us}
        return BatchOutcome(
            read,
            bound_us,
            predicted_ms,
            traces=traces,
            late=late,
            rejected=(*rejected, *future),
            future=future,
            filtered=filtered,
            unknown=unknown,
            duplicates=duplicates,
            kept=tuple(record.trace for record in passed),
            emitted=emitted,
        )

    def frozen_windows(self) -> dict[WindowKey, WindowContents]:
        return {key: window.frozen() for key, window in self.windows.items()}

    def _row_wise(self, traces: tuple[str, ...]) -> tuple[list[Arrived], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        passed: list[Arrived] = []
        others: dict[str, list[str]] = {"rejected": [], "filtered": [], "unknown": []}
        for trace in traces:
            record = self.arrived.get(trace)
            if record is None:
                others["unknown"].append(trace)
            elif record.fate == "passed":
                passed.append(record)
            else:
                others[str(record.fate)].append(trace)
        return passed, tuple(others["rejected"]), tuple(others["filtered"]), tuple(others["unknown"])

    def _in_future(self, records: list[Arrived], read: BatchRead) -> tuple[list[Arrived], tuple[str, ...]]:
        """What the clock of today takes may have been in the future by the clock that the batch was planned by (R13)."""
        limit_us = future_from(self.shape, read)
        if limit_us is None:
            return records, ()
        beyond = {record.trace for record in records if record.time_us is not None and record.time_us > limit_us}
        return [record for record in records if record.trace not in beyond], tuple(sorted(beyond))

    def _late(self, records: list[Arrived], bound_us: int) -> tuple[list[Arrived], tuple[str, ...]]:
        """Late is decided once per chain, by the strictest rule in it: the deduplication's, else the window's (R10)."""
        if not self.shape.stateful:
            return records, ()
        size = self.shape.window_us if self.shape.deduplicate is None else None
        in_time, late = [], []
        for record in records:
            time_us = record.time_us
            if time_us is None:
                in_time.append(record)
                continue
            decisive = time_us if size is None else time_us - time_us % size + size
            if decisive <= bound_us:
                late.append(record.trace)
            else:
                in_time.append(record)
        return in_time, tuple(late)

    def _once(self, records: list[Arrived]) -> tuple[list[Arrived], tuple[str, ...]]:
        if self.shape.deduplicate is None:
            return records, ()
        kept: list[Arrived] = []
        duplicates: list[str] = []
        first: dict[tuple[Any, ...] | None, Arrived] = {}
        for record in records:
            key = record.dedup or ()
            if key in self.remembered:
                duplicates.append(event_id(record.trace))
                if key in first and not _interchangeable(first[key], record):
                    self.ambiguous.append(key)
                continue
            self.remembered[key] = (record.time_us or 0) + self.shape.delay_us
            first[key] = record
            kept.append(record)
        return kept, tuple(duplicates)

    def _add(self, records: list[Arrived]) -> None:
        size = self.shape.window_us
        if size is None:
            return
        for record in records:
            if record.time_us is None:
                continue
            key = (record.by, record.time_us - record.time_us % size)
            window = self.windows.get(key)
            if window is None:
                window = self.windows[key] = _Window()
            window.hash += hash_of(record.trace)
            window.traces.append(record.trace)

    def _emit(self, watermark_us: int) -> dict[WindowKey, WindowContents]:
        size = self.shape.window_us
        if size is None:
            return {}
        due = [key for key in self.windows if key[1] + size <= watermark_us]
        return {key: self.windows.pop(key).frozen() for key in due}


def _interchangeable(one: Arrived, other: Arrived) -> bool:
    return (event_id(one.trace), one.time_us, one.by) == (event_id(other.trace), other.time_us, other.by)
