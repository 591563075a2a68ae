"""The input of the checkers: what a scenario left behind, and what the oracle says it must have left."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.scenario.generate import Event
from streamproof.prove.artifacts.reading import (
    OperatorState,
    OutputHistory,
    OutputLayout,
    OutputRow,
    QueryHistory,
    QueryLayout,
    StateContents,
    read_history,
)
from streamproof.prove.artifacts.table_versions import UsedTable
from streamproof.prove.scenario.offered import Mistakes, Offered, mistakes
from streamproof.prove.oracle.arrived import Arrived, RowFate, plain
from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.rows import RowKey, WindowKey
from streamproof.prove.oracle.facts import Key, OneOfKey
from streamproof.prove.oracle.operators.twin import Grouped, Held
from streamproof.prove.oracle.query import Node
from streamproof.prove.oracle.trace import Vector, events_of
from streamproof.prove.scenario.scenario import Expect

__all__ = [
    "History",
    "OperatorState",
    "OutputHistory",
    "OutputLayout",
    "OutputRow",
    "QueryHistory",
    "QueryLayout",
    "QueryView",
    "StateContents",
    "read_history",
]


@dataclass(frozen=True)
class Bounded:
    """What the query gives as a batch query over the survivors; None of each where none was run, or there was none to run.

    Parameters
    ----------
    windows
        The aggregates of every emitted window.
    rows_of_windows
        Where windows give several rows, the aggregates of each of these.
    rows
        The columns of every record that passes the row-wise steps, by trace; and those of the rows that records make together, by all their
        traces.
    steps
        Which aggregates depend on the order in which floats are added, and how far they may be apart.
    """

    windows: Mapping[WindowKey, Mapping[str, Any]] | None = None
    rows_of_windows: Mapping[RowKey, Mapping[str, Any]] | None = None
    rows: Mapping[str, Mapping[str, Any]] | None = None
    steps: Steps = field(default_factory=dict)


@dataclass(frozen=True)
class Handwritten:
    """What the user's hand-written model says; None of each without one.

    Parameters
    ----------
    windows
        The aggregates of every emitted window.
    fates
        Of each event by itself, by trace: "kept", "rejected" or "filtered".
    """

    windows: Mapping[WindowKey, Mapping[str, Any]] | None = None
    fates: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Declared:
    """What the user's files ask for.

    Parameters
    ----------
    root
        The twins of the calls of the user's function that made this output; None where they are not known.
    time
        The event time of its source, as the user's file says it.
    times
        Of a union by source the event time of each.
    """

    root: Node | None = None
    time: AskedTime | None = None
    times: Mapping[str, AskedTime | None] = field(default_factory=dict)


@dataclass(frozen=True)
class AsTable:
    """How the main output holds rows, where it is a table.

    Parameters
    ----------
    keeps_last
        Whether of the rows of a window it holds the last one only.
    one_of_key
        What tells its rows apart, where it holds one of each key; None else, and of windows.
    """

    keeps_last: bool = False
    one_of_key: OneOfKey | None = None


@dataclass(frozen=True)
class QueryView:
    """One query: what it left behind, and what the model says.

    Parameters
    ----------
    left
        What is on disk.
    model
        What must be, for the batches that are on disk.
    arrived
        Every record after the row-wise steps of this query, by trace.
    bounded, handwritten
        What two others say of its rows.
    declared
        What the user's files ask for.
    table
        Whether a row of its main output takes the place of another.
    files
        The names of the files of its sources; None where the job has one source only.
    mistakes
        What the row-wise steps did wrong, where somebody has worked it out already.
    used
        The tables that its batches have looked rows up in.
    """

    left: QueryHistory
    model: Expectation
    arrived: Mapping[str, Arrived]
    bounded: Bounded = field(default_factory=Bounded)
    handwritten: Handwritten = field(default_factory=Handwritten)
    declared: Declared = field(default_factory=Declared)
    table: AsTable = field(default_factory=AsTable)
    files: frozenset[str] | None = None
    mistakes: Mistakes | None = None
    used: Sequence[UsedTable] = ()

    @property
    def name(self) -> str:
        return self.left.query

    def time_of(self, trace: str) -> AskedTime | None:
        """The event time that the user's file declares for the source of a record."""
        record = self.arrived.get(trace)
        return self.declared.times.get(record.source, self.declared.time) if record is not None else self.declared.time

    @property
    def windowed(self) -> bool:
        """Whether the rows of the main output are of windows."""
        return self.model.query.grouped is not None

    @property
    def grouped(self) -> Grouped:
        """Of which windows they are; asked only where they are of some."""
        grouped = self.model.query.grouped
        assert grouped is not None, f"the rows of {self.name} are of no window"
        return grouped

    @cached_property
    def states(self) -> Sequence[tuple[Node, Held, OperatorState]]:
        """Each operator that keeps state, the last one first, with what must be in its state and what was found there.

        State that no operator should have is held against the first operator that holds such a thing, which then must hold nothing of it.
        """
        found = list(self.left.state.operators) if self.left.state is not None else []
        nodes, paired = self.model.query.keeping[::-1], []
        for node in nodes:
            place = next((place for place, state in enumerate(found) if state.holds == node.twin.holds), None)
            own = OperatorState(node.twin.holds) if place is None else found.pop(place)
            paired.append((node, self.model.held[node], own.in_order(node.twin.once)))
        for state in found:
            alike = [node for node in nodes if node.twin.holds == state.holds]
            paired += [(node, Held(), state) for node in alike[-1:]]
        return paired

    @property
    def batches(self) -> Sequence[BatchOutcome]:
        """The batches that had effects."""
        return [outcome for outcome in self.model.batches if outcome.read.effective]

    @property
    def main(self) -> OutputHistory:
        """The main output; an empty one if nothing of it was ever written."""
        return self.left.outputs.get(self.name, OutputHistory(self.name, "main"))

    def sides(self, kind: str) -> Sequence[OutputHistory]:
        """The side outputs of a kind that this query delivers: several where they have names, none where such records leave no row."""
        return [output for output in self.left.outputs.values() if output.side.kind == kind]

    @cached_property
    def future(self) -> frozenset[str]:
        """The rejected records that only the clock of their batch takes for future ones: the row-wise steps let them pass."""
        rejected = {trace for outcome in self.batches for trace in outcome.left_by("rejected")}
        return frozenset(trace for trace in rejected if trace in self.arrived and self.arrived[trace].fate == RowFate.PASSED)

    def key_of(self, row: OutputRow) -> WindowKey:
        """The window that a published row is of."""
        return tuple(plain(row.values.get(column)) for column in self.grouped.by), int(row.values["window_start"])

    def revision_of(self, row: OutputRow) -> int:
        """Which of the rows of its window a published row is."""
        return int(row.values["revision"]) if self.grouped.revised else 0

    @cached_property
    def rows_of_windows(self) -> Mapping[RowKey, tuple[OutputRow, ...]]:
        """The published rows of every window by their number; more than one of a number is too many."""
        grouped: dict[RowKey, list[OutputRow]] = {}
        for row in self.main.rows:
            grouped.setdefault((self.key_of(row), self.revision_of(row)), []).append(row)
        return {key: tuple(rows) for key, rows in grouped.items()}

    @cached_property
    def windows(self) -> Mapping[WindowKey, tuple[OutputRow, ...]]:
        """The published rows of every window, where it can give several those of the highest number: they hold all its records."""
        last: dict[WindowKey, int] = {}
        for key, revision in self.rows_of_windows:
            last[key] = max(revision, last.get(key, revision))
        return {key: self.rows_of_windows[key, revision] for key, revision in last.items()}

    @cached_property
    def sums(self) -> Mapping[WindowKey, Vector]:
        """The hidden counts and hashes of those rows, added up."""
        return {key: total(rows) for key, rows in self.windows.items()}

    def identity(self, trace: str) -> str:
        """What a row is known by: its trace, or where it is not promised which copy stays, its event."""
        return events_of(trace) if self.model.query.any_stays else trace

    @cached_property
    def given_once(self) -> Mapping[str, tuple[str, int]]:
        """The trace of each row that the job has given, and the batch that has given it, by identity."""
        return {self.identity(trace): (trace, outcome.batch) for outcome in self.batches for trace in outcome.kept}

    @cached_property
    def stay(self) -> Mapping[Key, frozenset[str]]:
        """Of each key the identities of the rows that may be the one in its table."""
        kept, rows = self.table.one_of_key, self.bounded.rows
        if kept is None or rows is None:
            return {}
        given = self.given_once.items()
        return kept.greatest({name: rows[trace] for name, (trace, _) in given}, {name: batch for name, (_, batch) in given})

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The identities of the rows in whose place another one is, or none any more: they leave no row behind."""
        if self.table.one_of_key is None or self.bounded.rows is None:
            return frozenset()
        there = {self.identity(row.trace) for row in self.main.rows if row.trace is not None}
        stands = {min(names & there or names) for names in self.stay.values()}
        return frozenset(self.given_once) - stands

    @cached_property
    def batch_of_file(self) -> Mapping[str, int]:
        """The batch that read a file; the first, if several did."""
        found: dict[str, int] = {}
        for outcome in self.batches:
            for name in outcome.read.files:
                found.setdefault(name, outcome.batch)
        return found


@dataclass(frozen=True)
class History:
    """Everything that checkers look at.

    Parameters
    ----------
    queries
        One view per main output; where outputs have several sinks, one per reading of it, so that each sink is in one.
    offered
        The events and their files.
    expectations
        The scenario's.
    power_failure
        Whether the machine died: it can have taken files that the death of a process leaves.
    tries
        How often an API was asked to do each thing, by "path key".
    """

    queries: Sequence[QueryView]
    offered: Offered
    expectations: Expect = field(default_factory=Expect)
    power_failure: bool = False
    tries: Mapping[str, int] = field(default_factory=dict)

    @property
    def events(self) -> Mapping[str, Event]:
        """The generated events by trace."""
        return self.offered.events

    @property
    def read_again(self) -> bool:
        """Whether a query is in several readings, so that what is wrong with it is found in each."""
        return len({view.name for view in self.queries}) < len(self.queries)

    def mistakes(self, view: QueryView) -> Mistakes:
        """What the row-wise steps of a query did wrong with the events."""
        return view.mistakes if view.mistakes is not None else mistakes(self.events, view.arrived)

    def came_in(self, view: QueryView, trace: str) -> str:
        """Where a record came in, in words: "arrived as row 412 of part-3-0.json in batch 3"."""
        file, row = self.offered.files_of_trace.get(trace, ("", 0))
        if not file:
            return "is no event of the scenario"
        batch = view.batch_of_file.get(file)
        return f"arrived as row {row} of {file}" + (f" in batch {batch}" if batch is not None else ", which no batch has read")

    def groups(self, view: QueryView, traces: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """All the traces, and those of each batch and file, with words for each group: what may be lost or doubled together."""
        yield "of the window", tuple(traces)
        grouped: dict[str, list[str]] = {}
        for trace in traces:
            file, _ = self.offered.files_of_trace.get(trace, ("", 0))
            batch = view.batch_of_file.get(file)
            grouped.setdefault(f"of batch {batch}", []).append(trace)
            grouped.setdefault(f"of batch {batch} in {file}", []).append(trace)
        yield from ((words, tuple(members)) for words, members in grouped.items())

    def copies(self, event: str) -> Sequence[str]:
        """The traces of an event and its copies."""
        return self.offered.copies.get(event, [event])

    def home_made(self, kind: str) -> Iterator[tuple[QueryView, QueryView]]:
        """Main outputs named like a side output, each with the query whose model says what such an output must hold."""
        for view in self.queries:
            if view.name == kind:
                others = [other for other in self.queries if other.name != view.name]
                fitting = [other for other in others if other.model.query.stateful] or others
                yield from ((view, other) for other in fitting[:1])


def total(rows: Sequence[OutputRow]) -> Vector:
    """The hidden count and hash of window rows, added up."""
    return Vector(sum(int(row.values["_records"]) for row in rows), sum(int(row.values["_trace_hash"]) for row in rows))
