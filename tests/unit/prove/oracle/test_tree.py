"""The walk over the tree of twins, with an operator of the test's own: a join, which has two inputs, two side outputs, and a watermark of its own."""

from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import pytest

from streamproof.prove.oracle import operators
from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.operators import leaf, twin_of
from streamproof.prove.oracle.operators.twin import Arriving, Held, State, Step, Twin
from streamproof.prove.oracle.query import Clock, Node, Query, query_asked, twins_of
from streamproof.prove.oracle.rows import LATE, Row
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.oracle.windows import PlainTumbling

SECOND = 1_000_000


def test_p9_every_twin_can_be_called_by_the_method_that_asks_for_it():
    called = set(operators._METHODS.values())

    assert called == set(operators._TWINS)
    assert operators.method_of(leaf()) == "source"


WITHIN = 20 * SECOND
UNMATCHED = {0: ("unmatched", "left"), 1: ("unmatched", "right")}


@dataclass(frozen=True)
class Join(Twin):
    """Rows of both sides with one key, at most `WITHIN` apart."""

    keeps: ClassVar[bool] = True
    holds: ClassVar[str] = "row"

    key: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.key,)

    def leaves(self, *watermarks_us: int) -> int:
        """A row waits for its partner, and is then as old as the older of the two."""
        return min(watermarks_us) - WITHIN

    def begin(self, delay_us: int) -> State:
        return Sides(self.key)


@dataclass
class Sides(State):
    key: str
    rows: dict[int, list[Row]] = field(default_factory=lambda: {0: [], 1: []})
    matched: set[int] = field(default_factory=set)

    def step(self, *coming: Arriving) -> Step:
        joined, sides = [], {LATE: []}
        for side, arriving in enumerate(coming):
            for row in arriving.rows:
                if arriving.first and row.time_us + WITHIN <= arriving.bound_us:
                    sides[LATE].append(row)
                    continue
                for other in self.rows[1 - side]:
                    if self._meet(row, other):
                        joined.append(self._joined(*((row, other) if side == 0 else (other, row))))
                        self.matched |= {id(row), id(other)}
                self.rows[side].append(row)
        over_all = []
        for side, arriving in enumerate(coming):
            over = [row for row in self.rows[side] if row.time_us + WITHIN <= arriving.watermark_us]
            self.rows[side] = [row for row in self.rows[side] if row not in over]
            over_all += over
            sides[UNMATCHED[side]] = [row for row in over if id(row) not in self.matched]
        left = [trace for row in over_all if id(row) in self.matched for trace in row.traces]
        return Step(joined, sides, left=left)

    def held(self) -> Held:
        return Held(waiting=[trace for rows in self.rows.values() for row in rows for trace in row.traces])

    def _meet(self, one: Row, other: Row) -> bool:
        return one.values[self.key] == other.values[self.key] and abs(one.time_us - other.time_us) <= WITHIN

    def _joined(self, left: Row, right: Row) -> Row:
        return Row((*left.traces, *right.traces), min(left.time_us, right.time_us), {**left.values, **right.values})


def record(trace: str, source: str, second: int, key: str = "a") -> Arrived:
    return Arrived(trace, time_us=second * SECOND, values={"key": key}, source=source)


BATCHES = [
    [record("l1", "l", 100), record("l2", "l", 101, "x"), record("r1", "r", 110)],
    [record("l3", "l", 200), record("r2", "r", 200, "y")],
    [record("r3", "r", 175, "z"), record("r4", "r", 195)],
]
READS = [BatchRead(number, at * 1_000, files=(str(number),), run="r") for number, at in enumerate([0, 90, 190])]
CLOCKS = {"l": Clock(10 * SECOND), "r": Clock(10 * SECOND)}


def of(root: Node, reads: list[BatchRead] = READS) -> Any:
    arrived = {one.trace: one for batch in BATCHES for one in batch}
    files = {str(number): [one.trace for one in batch] for number, batch in enumerate(BATCHES)}
    return simulate(Query("both", root, CLOCKS, "ts"), arrived, reads, files)


def joined() -> Node:
    return Node(Join("key"), (Node(leaf(), source="l"), Node(leaf(), source="r")))


def test_a_joined_row_is_of_both_its_records():
    model = of(joined())

    assert [outcome.kept for outcome in model.batches] == [("l1", "r1"), (), ("l3", "r4")]


def test_side_outputs_have_a_kind_and_a_name():
    model = of(joined())

    (node,) = model.query.keeping
    left = {side: [row.traces for row in rows] for side, rows in model.batches[2].of(node).sides.items()}
    assert left == {("late", ""): [], ("unmatched", "left"): [("l2",)], ("unmatched", "right"): []}
    assert model.batches[2].left_by("unmatched") == ("l2",)
    assert model.fates["l2"] == ("unmatched", 0)
    assert model.fates["r3"] == ("open_state", 2), "it can still meet one"


def test_each_record_of_a_join_is_in_one_place_however_many_rows_it_is_in():
    model = of(joined())

    assert model.places["emitted"] == Vector.of(["l1", "r1"]), "l3 and r4 are in a row, and still in state"
    assert model.places["open_state"] == Vector.of(["l3", "r2", "r3", "r4"])
    unmatched = Vector.of(trace for outcome in model.batches for trace in outcome.left_by("unmatched"))
    parts = [model.places["emitted"], model.places["open_state"], unmatched]
    assert reduce(Vector.plus, parts) == model.places["input"]


def test_what_stands_behind_goes_by_the_watermark_that_leaves_it_and_decides_no_more_what_is_late():
    given = {"window": PlainTumbling(30 * SECOND), "by": "key", "allowed_lateness": "0 s", "emit": "final", "aggregates": {}}
    root = Node(twin_of("window", given), (joined(),))

    # The window of 90 to 120 is over at 120 for the join's rows: at 140 of the sources.
    for watermark, emitted in ((139_999, {}), (140_000, {(("a",), 90 * SECOND): ("l1", "r1")})):
        model = of(root, [READS[0], READS[1], BatchRead(2, watermark, files=("2",), run="r")])
        found = {key: contents.traces for key, contents in model.batches[2].emitted.items()}
        assert found == emitted
        assert model.batches[2].left_by("late") == ()


def test_a_stream_that_is_shared_has_one_node_and_one_state():
    once = Asked("s").then("deduplicate", key=("id",))
    both = twins_of(once.then("require", conditions={}).then("union", once.then("filter", condition="x", name="n")))

    assert sum(node.twin.keeps for node in both.walk()) == 1
    assert both.inputs[0].inputs == both.inputs[1].inputs


def test_a_method_that_has_no_twin_is_no_operator_to_leave_out():
    with pytest.raises(ValueError, match=r"no twin of sorted\(\)"):
        query_asked("q", Asked("s").then("sorted", by="id"), AskedTime("ts"))
