"""The plain model: the tree of twins, walked batch by batch, over the batches a run really had (R10, R12, R13, R23).

In batch n a record is late by the watermark of batch n-1; windows and remembered keys go by the watermark of batch n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from streamproof.prove.oracle.arrived import Arrived, BatchRead, RowFate, Tables
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.operators.twin import Arriving, Step
from streamproof.prove.oracle.query import Node, Query
from streamproof.prove.oracle.rows import REJECTED, UNKNOWN, Row, Side
from streamproof.prove.oracle.tables import PlainTable
from streamproof.prove.oracle.watermark import AlignedWatermark, Watermark

Boundaries = tuple[tuple[int, int, tuple[str, ...], bool, tuple[int | None, ...], str, int, Tables], ...]
ByTables = Mapping[Tables, Mapping[str, Arrived]]
TableStates = Mapping[str, Sequence[PlainTable]]


class HistoryGap(Exception):
    """Batches are missing from the logs, so that the model cannot tell what later ones had in state."""


def simulate(
    query: Query,
    arrived: Mapping[str, Arrived],
    batches: Sequence[BatchRead],
    traces_of_file: Mapping[str, Sequence[str]],
    by_tables: "ByTables | None" = None,
    tables: "TableStates | None" = None,
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
    by_tables
        Where rows are looked up in tables: every record by its trace, for each thing that the tables can hold.
    tables
        What each table holds, one state after another.

    Raises
    ------
    HistoryGap
        If the batches are not 0, 1, 2 and so on.
    """
    if [read.batch for read in batches] != list(range(len(batches))):
        raise HistoryGap(
            f"The logs hold the batches {', '.join(str(read.batch) for read in batches)}; the model needs all from 0 on."
        )
    run = _Run(query, arrived, by_tables or {}, tables or {})
    watermark = _watermark_of(query)
    outcomes: list[BatchOutcome] = []
    bound_us = 0
    for read in batches:
        watermark.begins(read)
        if not read.effective:
            outcomes.append(BatchOutcome(read, bound_us, watermark.predicted_ms))
            continue
        traces = tuple(trace for name in read.files for trace in traces_of_file.get(name, ()))
        outcomes.append(run.batch(read, traces, bound_us, watermark.predicted_ms))
        delivered = {arrived[trace].source for trace in traces if trace in arrived} if query.several else ()
        watermark.saw(run.newest_us, delivered, read.timestamp_ms)
        bound_us = read.watermark_ms * 1_000
    return Expectation(query, tuple(outcomes), {node: run.tree.states[node].held() for node in query.keeping})


def _watermark_of(query: Query) -> Watermark | AlignedWatermark:
    """One for each source, where there are several (R13)."""
    if query.several and query.stateful:
        clocks = query.clocks.items()
        idle_after_us = {source: clock.idle_after_us for source, clock in clocks if clock.idle_after_us is not None}
        return AlignedWatermark({source: clock.delay_us for source, clock in clocks}, idle_after_us)
    return Watermark(query.delay_us if query.stateful else None)


class Model:
    """The model of one query over one set of events; what it says is kept for each vector of batch boundaries."""

    def __init__(
        self,
        query: Query,
        arrived: Mapping[str, Arrived],
        traces_of_file: Mapping[str, Sequence[str]],
        by_tables: "ByTables | None" = None,
        tables: "TableStates | None" = None,
    ) -> None:
        self.query, self.arrived, self.traces_of_file, self.by_tables = query, arrived, traces_of_file, by_tables
        self.tables = tables
        self._kept: dict[Boundaries, Expectation] = {}
        times = (record.time_us for record in arrived.values() if record.fate == "passed")
        self._newest_us = max((time for time in times if time is not None), default=0)

    def expect(self, batches: Sequence[BatchRead]) -> Expectation:
        """As `simulate`; the same batches give the same object again."""
        boundaries = tuple(
            (read.batch, read.watermark_ms, read.files, read.effective, self._cuts(read), *self._of_several(read), read.tables)
            for read in batches
        )
        if boundaries not in self._kept:
            self._kept[boundaries] = simulate(self.query, self.arrived, batches, self.traces_of_file, self.by_tables, self.tables)
        return self._kept[boundaries]

    def _of_several(self, read: BatchRead) -> tuple[str, int]:
        """What else tells apart the batches of a query with several sources."""
        if not self.query.several:
            return "", 0
        asks_clock = any(clock.idle_after_us is not None for clock in self.query.clocks.values())
        return read.run, read.timestamp_ms if asks_clock else 0

    def _cuts(self, read: BatchRead) -> tuple[int | None, ...]:
        """The limits that some event lies beyond; clocks differ from run to run."""
        limits = (future_from(self.query, read, source) for source in self.query.clocks)
        return tuple(limit_us if limit_us is not None and limit_us < self._newest_us else None for limit_us in limits)


def future_from(query: Query, read: BatchRead, source: str = "") -> int | None:
    """The event time, microseconds, behind which a batch takes events of a source for future ones; None where it does not ask."""
    ahead_us = query.clock_of(source).max_future_us
    return None if ahead_us is None else read.timestamp_ms * 1_000 + ahead_us


@dataclass(frozen=True, slots=True)
class Leaving:
    """A record that is left out before anything is in state: by which side, and for what reason, where that is known."""

    row: Row
    side: Side
    reason: str = ""
    source: str = ""


class Tree:
    """The states of all operators of a query, and what goes from one to the next in a batch."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.states = {node: node.twin.begin(query.delay_us) for node in query.nodes}
        self._decided = {node: any(below.twin.keeps for below in node.walk()) for node in query.nodes}
        leaves = [node for node in query.nodes if node.source]
        self._one_by_one = {
            leaf.source: [node for node in query.nodes if not self._decided[node] and leaf in node.walk()] for leaf in leaves
        }
        """By source its leaf, and the operators that look at each of its records by itself in front of all state."""

    def begins(self, tables: Mapping[str, PlainTable]) -> None:
        """What operators hold before the first batch, from what tables hold then."""
        for state in self.states.values():
            state.begins(tables)

    def walk(self, passed: Sequence[Arrived], bound_us: int, watermark_us: int, left: Sequence[Leaving] = ()) -> dict[Node, Step]:
        """What each operator makes of the records of a batch, of which some are left out before anything is in state."""
        steps: dict[Node, Step] = {}
        aside = self._left_at(left)
        bounds: dict[Node, tuple[int, int]] = {}
        for node in self.query.nodes:
            if node.source:
                steps[node], bounds[node] = Step(self._read_of(node, passed), aside.get(node, {})), (bound_us, watermark_us)
                continue
            coming = [Arriving(steps[one].rows, *bounds[one], not self._decided[one]) for one in node.inputs]
            step = self.states[node].step(*coming)
            steps[node] = replace(step, sides={**aside[node], **step.sides}) if node in aside else step
            late, watermark = zip(*(bounds[one] for one in node.inputs), strict=True)
            bounds[node] = node.twin.leaves(*late), node.twin.leaves(*watermark)
        return steps

    def _left_at(self, left: Sequence[Leaving]) -> Mapping[Node, Mapping[Side, Sequence[Row]]]:
        """By node what leaves there, in front of all state."""
        found: dict[Node, dict[Side, list[Row]]] = {}
        for one in left:
            found.setdefault(self._leaves_at(one), {}).setdefault(one.side, []).append(one.row)
        return found

    def _leaves_at(self, one: Leaving) -> Node:
        """The first operator on the way of its source that leaves out such a row, else the leaf."""
        leaf, *others = self._one_by_one.get(one.source) or next(iter(self._one_by_one.values()))
        return next((node for node in others if node.twin.takes_out(one.side, one.reason)), leaf)

    def _read_of(self, node: Node, passed: Sequence[Arrived]) -> list[Row]:
        """The records of a source; a query with one source does not say whose they are."""
        return [record.row for record in passed if record.source == node.source or not self.query.several]


class _Run:
    """State as it goes from batch to batch."""

    def __init__(self, query: Query, arrived: Mapping[str, Arrived], by_tables: ByTables, tables: TableStates) -> None:
        self.query, self.arrived, self.by_tables, self.tables = query, arrived, by_tables, tables
        self.tree = Tree(query)
        self.newest_us: dict[str, int] = {}
        """By source, of the newest batch."""

    def batch(self, read: BatchRead, traces: tuple[str, ...], bound_us: int, predicted_ms: int) -> BatchOutcome:
        if read.batch == 0:
            self.tree.begins({name: self.tables[name][number] for name, number in read.tables if name in self.tables})
        passed, left = self._row_wise(traces, self.by_tables.get(read.tables, self.arrived))
        passed, future = self._in_future(passed, read)
        self.newest_us = {}
        for record in passed:
            if record.time_us is not None:
                self.newest_us[record.source] = max(record.time_us, self.newest_us.get(record.source, record.time_us))
        return BatchOutcome(
            read,
            bound_us,
            predicted_ms,
            traces,
            self.query.output,
            self.tree.walk(passed, bound_us, read.watermark_ms * 1_000, [*left, *future]),
        )

    def _row_wise(self, traces: tuple[str, ...], arrived: Mapping[str, Arrived]) -> tuple[list[Arrived], list[Leaving]]:
        passed: list[Arrived] = []
        left: list[Leaving] = []
        for trace in traces:
            record = arrived.get(trace)
            if record is None:
                left.append(Leaving(Row((trace,), None, {}), UNKNOWN))
            elif record.fate == RowFate.PASSED:
                passed.append(record)
            else:
                left.append(Leaving(record.row, (str(record.fate), ""), record.reason or "", record.source))
        return passed, left

    def _in_future(self, records: list[Arrived], read: BatchRead) -> tuple[list[Arrived], list[Leaving]]:
        """What the clock of today takes may have been in the future by the clock that the batch was planned by (R13): the source rejects it."""
        limits = {source: future_from(self.query, read, source) for source in self.query.clocks}
        if not any(limit_us is not None for limit_us in limits.values()):
            return records, []
        beyond = {
            record.trace
            for record in records
            if record.time_us is not None and (limit_us := limits[record.source]) is not None and record.time_us > limit_us
        }
        left = [Leaving(record.row, REJECTED, source=record.source) for record in records if record.trace in beyond]
        return [record for record in records if record.trace not in beyond], left
