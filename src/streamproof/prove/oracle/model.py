"""The plain model: lateness, deduplication and windows, from the batches a run really had (R10, R12, R13, R23).

In batch n a record is late by the watermark of batch n-1, windows and remembered keys go by the watermark of batch n.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.emissions import emission_of
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.operators.deduplicate import Deduplication
from streamproof.prove.oracle.operators.ordered import OrderedDeduplication
from streamproof.prove.oracle.operators.union import AlignedWatermark
from streamproof.prove.oracle.operators.window import Pair, Windows, closed
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.watermark import Watermark

Boundaries = tuple[tuple[int, int, tuple[str, ...], bool, tuple[int | None, ...], str, int], ...]


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
    watermark = _watermark_of(shape)
    outcomes: list[BatchOutcome] = []
    bound_us = 0
    for read in batches:
        if isinstance(watermark, AlignedWatermark):
            watermark.begins(read)
        if not read.effective:
            outcomes.append(BatchOutcome(read, bound_us, watermark.predicted_ms))
            continue
        traces = tuple(trace for name in read.files for trace in traces_of_file.get(name, ()))
        outcome = run.batch(read, traces, bound_us, watermark.predicted_ms)
        outcomes.append(outcome)
        if isinstance(watermark, AlignedWatermark):
            watermark.saw(run.newest_of, {arrived[trace].source for trace in traces if trace in arrived}, read.timestamp_ms)
        else:
            watermark.saw(run.newest_us)
        bound_us = read.watermark_ms * 1_000
    once, windows = run.once, run.behind or run.windows or (run.ordered.waiting if run.ordered is not None else None)
    undecided = once or run.ordered
    return Expectation(
        shape,
        tuple(outcomes),
        windows.frozen() if windows is not None else {},
        dict(once.remembered) if once is not None else {},
        tuple(undecided.ambiguous) if undecided is not None else (),
        run.windows.frozen() if run.windows is not None and run.behind is not None else {},
    )


def _watermark_of(shape: QueryShape) -> Watermark | AlignedWatermark:
    """One for each source, where there are several (R13)."""
    if shape.clocks and shape.stateful:
        clocks = shape.clocks.items()
        idle_after_us = {source: clock.idle_after_us for source, clock in clocks if clock.idle_after_us is not None}
        return AlignedWatermark({source: clock.delay_us for source, clock in clocks}, idle_after_us)
    return Watermark(shape.delay_us if shape.stateful else None)


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
            (read.batch, read.watermark_ms, read.files, read.effective, self._cuts(read), *self._of_union(read)) for read in batches
        )
        if boundaries not in self._kept:
            self._kept[boundaries] = simulate(self.shape, self.arrived, batches, self.traces_of_file)
        return self._kept[boundaries]

    def _of_union(self, read: BatchRead) -> tuple[str, int]:
        """What else tells apart the batches of a query with several sources."""
        asks_clock = any(clock.idle_after_us is not None for clock in self.shape.clocks.values())
        return (read.run if self.shape.clocks else "", read.timestamp_ms if asks_clock else 0)

    def _cuts(self, read: BatchRead) -> tuple[int | None, ...]:
        """The limits that some event lies beyond; clocks differ from run to run."""
        limits = (future_from(self.shape, read, source) for source in self.shape.clocks or ("",))
        return tuple(limit_us if limit_us is not None and limit_us < self._newest_us else None for limit_us in limits)


def future_from(shape: QueryShape, read: BatchRead, source: str = "") -> int | None:
    """The event time, microseconds, behind which a batch takes events of a source for future ones; None where it does not ask."""
    ahead_us = shape.future_of(source)
    return None if ahead_us is None else read.timestamp_ms * 1_000 + ahead_us


class _Run:
    """State as it goes from batch to batch."""

    def __init__(self, shape: QueryShape, arrived: Mapping[str, Arrived]) -> None:
        self.shape, self.arrived = shape, arrived
        self.ordered = OrderedDeduplication(shape.horizon_us, shape.keep == "last") if shape.order_by is not None else None
        self.once = Deduplication(shape.horizon_us) if shape.deduplicate is not None and self.ordered is None else None
        kind = shape.entered.window
        self.windows = Windows(kind) if kind is not None else None
        self.behind = Windows(shape.window) if shape.before is not None and shape.window is not None else None
        self.emission = emission_of(shape)
        self.newest_us: int | None = None
        self.newest_of: dict[str, int] = {}
        """By source, where there are several."""

    def batch(self, read: BatchRead, traces: tuple[str, ...], bound_us: int, predicted_ms: int) -> BatchOutcome:
        passed, rejected, filtered, unknown = self._row_wise(traces)
        passed, future = self._in_future(passed, read)
        self.newest_us = max((record.time_us for record in passed if record.time_us is not None), default=None)
        self.newest_of = {}
        for record in passed if self.shape.clocks else ():
            if record.time_us is not None:
                self.newest_of[record.source] = max(record.time_us, self.newest_of.get(record.source, record.time_us))
        stateful = self._stateful(passed, bound_us, read.watermark_ms * 1_000)
        return BatchOutcome(
            read,
            bound_us,
            predicted_ms,
            traces=traces,
            rejected=(*rejected, *future),
            future=future,
            filtered=filtered,
            unknown=unknown,
            **stateful,
        )

    def _stateful(self, passed: list[Arrived], bound_us: int, watermark_us: int) -> dict[str, Any]:
        """What becomes of the records that reach the first operator with state, as fields of the outcome.

        Late is decided once per chain, by the strictest rule in it: the deduplication's, else the window's (R10).
        """
        once, windows = self.once, self.windows
        found: dict[str, Any] = {}
        if self.ordered is not None:
            found["late"] = tuple(record.trace for record in passed if self.ordered.late(record, bound_us))
            self.ordered.add([record for record in passed if not self.ordered.late(record, bound_us)])
            passed, found["duplicates"] = self.ordered.due(watermark_us)
        if once is not None:
            found["late"] = tuple(record.trace for record in passed if _behind(record, bound_us))
            passed, found["duplicates"] = once.once([record for record in passed if not _behind(record, bound_us)])
        if windows is not None:
            pairs = windows.pairs(passed)
            found["expanded"] = _further(pairs) if windows.kind.several else ()
            if once is None:
                late_pairs = [pair for pair in pairs if windows.is_late(pair, bound_us)]
                found["late"] = tuple(pair.record.trace for pair in late_pairs)
                found["late_ends"] = tuple(pair.end_us for pair in late_pairs) if windows.kind.several else ()
                pairs = [pair for pair in pairs if not windows.is_late(pair, bound_us)]
                within = {pair.record.trace for pair in pairs}
                passed = [record for record in passed if record.trace in within or record.time_us is None]
            given = self.emission.give(windows, windows.add(pairs), watermark_us)
            found["emitted"], found["revisions"], found["newly_emitted"] = given.windows, given.revisions, given.new
        if self.behind is not None and self.shape.before is not None:
            places = [self.shape.before.by.index(name) for name in self.shape.by]
            self.behind.add(closed(found["emitted"], self.behind.kind, places))
            found["emitted"] = self.behind.due(watermark_us)
            found["revisions"] = dict.fromkeys(found["emitted"], 0)
            found["newly_emitted"] = sum(contents.count for contents in found["emitted"].values())
        if once is not None:
            once.forget(watermark_us)
        return {**found, "kept": tuple(record.trace for record in passed)}

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
        limits = {source: future_from(self.shape, read, source) for source in self.shape.clocks or ("",)}
        if not any(limit_us is not None for limit_us in limits.values()):
            return records, ()
        beyond = {
            record.trace
            for record in records
            if record.time_us is not None and (limit_us := limits[record.source]) is not None and record.time_us > limit_us
        }
        return [record for record in records if record.trace not in beyond], tuple(sorted(beyond))


def _behind(record: Arrived, bound_us: int) -> bool:
    return record.time_us is not None and record.time_us <= bound_us


def _further(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The traces of the second and further windows of records."""
    seen: set[str] = set()
    further = []
    for pair in pairs:
        if pair.record.trace in seen:
            further.append(pair.record.trace)
        seen.add(pair.record.trace)
    return tuple(further)
