"""What the model says a run must have left behind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamproof.core.account import PLACES, Account
from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.operators.twin import Held, Step
from streamproof.prove.oracle.query import Node, Query
from streamproof.prove.oracle.rows import DUPLICATE, UNKNOWN, Row, RowKey, WindowContents, WindowKey
from streamproof.prove.oracle.trace import Vector, together

_NOTHING = Step()


@dataclass(frozen=True)
class BatchOutcome:
    """What one batch does.

    Parameters
    ----------
    read
        The batch as its logs say.
    bound_us
        The late bound (R10): the watermark of the batch before.
    predicted_ms
        The watermark that the model predicts for this batch.
    traces
        The records it read.
    output
        The node whose rows come out.
    steps
        What each operator makes of the batch. What is left out before anything is in state is at the operator that leaves it out; what the source
        itself rejects, or a plain transform has lost, is at the leaf.
    """

    read: BatchRead
    bound_us: int
    predicted_ms: int
    traces: tuple[str, ...] = ()
    output: Node | None = None
    steps: Mapping[Node, Step] = field(default_factory=dict)

    @property
    def batch(self) -> int:
        return self.read.batch

    def of(self, node: Node) -> Step:
        """What an operator makes of the batch."""
        return self.steps.get(node, _NOTHING)

    @property
    def out(self) -> Step:
        """What comes out of the query, and how many records have come out by it."""
        return _NOTHING if self.output is None else self.of(self.output)

    @cached_property
    def emitted(self) -> Mapping[WindowKey, WindowContents]:
        """Windows that give a row, with what they hold then; none where rows come out as they came."""
        return {row.group.key: row.group.contents for row in self.out.rows if row.group is not None}

    @cached_property
    def revisions(self) -> Mapping[WindowKey, int]:
        """Of each of them the number of its row, from 0 on."""
        return {row.group.key: row.group.revision for row in self.out.rows if row.group is not None}

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The traces of the records of the rows that come out and are of no window; of a join a record is there once for each row."""
        return tuple(trace for row in self.out.rows if row.group is None for trace in row.traces)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """What the rows that come out are known by, each by the traces of its records; none of windows."""
        return tuple(together(row.traces) for row in self.out.rows if row.group is None)

    @property
    def dropped(self) -> tuple[str, ...]:
        """What the rows are known by in whose place another one is, a copy of them."""
        return tuple(together(row.traces) for row in self.side(DUPLICATE[0]))

    @cached_property
    def expanded(self) -> tuple[str, ...]:
        """Where a record can lie in several windows, its trace for each further one; where rows of a join go on, that of each record in them."""
        further = [trace for step in self.steps.values() for trace in step.expanded]
        return (*further, *(trace for step in self._going_on for row in step.rows for trace in row.traces))

    @cached_property
    def gathered(self) -> tuple[str, ...]:
        """The traces of the records that have left a join whose rows go on: each is counted in its rows, and waits no more."""
        return tuple(trace for step in self._going_on for trace in step.records)

    @property
    def further(self) -> int:
        """How many more (record, place) there are by this batch than it has read records; below zero where more have left a join than went on."""
        return len(self.expanded) - len(self.gathered)

    @property
    def _going_on(self) -> list[Step]:
        """What joins make of the batch whose rows go on to another operator with state."""
        return [step for node, step in self.steps.items() if node.twin.pairs is not None and node is not self.output]

    def side(self, kind: str, name: str = "") -> list[Row]:
        """The rows that leave by side outputs of a kind; with a name by that of them only."""
        left = [(side, rows) for step in self.steps.values() for side, rows in step.sides.items() if side[0] == kind]
        return [row for (_, found), rows in left if not name or found == name for row in rows]

    def left_by(self, kind: str, name: str = "") -> tuple[str, ...]:
        """The traces of those rows: where windows overlap a record is late once for each that it comes too late for."""
        return tuple(trace for row in self.side(kind, name) for trace in row.traces)

    def names_of(self, kind: str) -> frozenset[str]:
        """The names of the side outputs of a kind that rows leave by; none where the one of the kind has no name."""
        return frozenset(name for step in self.steps.values() for found, name in step.sides if found == kind and name)

    @property
    def sides(self) -> Mapping[str, tuple[str, ...]]:
        """By kind the traces of all rows that leave by side outputs."""
        kinds = dict.fromkeys(kind for step in self.steps.values() for kind, _ in step.sides)
        return {kind: self.left_by(kind) for kind in kinds}


@dataclass(frozen=True)
class Expectation:
    """What all batches together must have led to.

    Parameters
    ----------
    batches
        One outcome per batch in order; a batch without effects has an empty one.
    held
        What is in the state of each operator that keeps one, after the last batch.
    """

    query: Query
    batches: tuple[BatchOutcome, ...]
    held: Mapping[Node, Held]

    @cached_property
    def by_batch(self) -> Mapping[int, BatchOutcome]:
        return {outcome.batch: outcome for outcome in self.batches}

    def given_by(self, node: Node) -> Mapping[WindowKey, WindowContents]:
        """All windows of an operator that have given a row, over all batches, with what they held in the last one."""
        rows = (row for outcome in self.batches for row in outcome.of(node).rows)
        return {row.group.key: row.group.contents for row in rows if row.group is not None}

    @cached_property
    def emitted(self) -> Mapping[WindowKey, WindowContents]:
        """All windows that have given a row of the output, with what they held in the last one."""
        return {key: contents for outcome in self.batches for key, contents in outcome.emitted.items()}

    @property
    def open(self) -> Mapping[WindowKey, WindowContents]:
        """Windows whose rows come out and that are still in state, whether they have given one or not."""
        return self.held.get(self.query.output, Held()).groups

    @property
    def ambiguous(self) -> tuple[tuple[Any, ...], ...]:
        """Keys of which the model cannot tell which row stays."""
        return tuple(key for held in self.held.values() for key in held.ambiguous)

    @cached_property
    def rows(self) -> Mapping[RowKey, WindowContents]:
        """Every row that windows have given, by window and revision."""
        return {(key, outcome.revisions[key]): contents for outcome in self.batches for key, contents in outcome.emitted.items()}

    @cached_property
    def last_rows(self) -> Mapping[WindowKey, int]:
        """The number of the last row of every window that has given one."""
        return {key: revision for outcome in self.batches for key, revision in outcome.revisions.items()}

    @cached_property
    def made(self) -> Mapping[str, Mapping[str, Any]]:
        """The values of the rows that come out, by what tells each apart, where the operator makes them itself; else none."""
        if not self.query.output.twin.makes:
            return {}
        return {trace: row.values for outcome in self.batches for row in outcome.out.rows for trace in row.traces}

    @cached_property
    def survivors(self) -> tuple[str, ...]:
        """Traces in emitted rows: what the batch query and the hand-written model are given."""
        if self.query.grouped is None:
            return tuple(trace for outcome in self.batches for trace in outcome.out.records)
        return tuple(trace for contents in self.emitted.values() for trace in contents.traces)

    @cached_property
    def places(self) -> Mapping[str, Vector]:
        """The account as vectors, place by place, and input, expanded and unknown besides."""
        ways = (*PLACES, UNKNOWN[0])
        aside = {way: Vector.of(trace for outcome in self.batches for trace in outcome.left_by(way)) for way in ways}
        return {
            **aside,
            "input": Vector.of(trace for outcome in self.batches for trace in outcome.traces),
            "expanded": Vector.of(trace for outcome in self.batches for trace in outcome.expanded).minus(
                Vector.of(trace for outcome in self.batches for trace in outcome.gathered)
            ),
            "emitted": Vector.of(self.survivors),
            "open_state": Vector.of(self._waiting),
        }

    @property
    def _waiting(self) -> Iterator[str]:
        """The traces of what is in state, and in no row yet."""
        return (trace for held in self.held.values() for trace in held.waiting)

    @cached_property
    def account(self) -> Account:
        return Account.of({place: vector.count for place, vector in self.places.items()})

    @cached_property
    def fates(self) -> Mapping[str, tuple[str, int]]:
        """Where each record is, and the batch that read it; the dropped copies of an event are named as the model drops them."""
        waiting, found = set(self._waiting), dict[str, tuple[str, int]]()
        for outcome in self.batches:
            found |= {trace: ("open_state" if trace in waiting else "emitted", outcome.batch) for trace in outcome.traces}
        for outcome in self.batches:
            for place, traces in outcome.sides.items():  # a row may leave in a later batch than the one that has read it
                found |= {trace: (place, found[trace][1]) for trace in traces}
        return found
