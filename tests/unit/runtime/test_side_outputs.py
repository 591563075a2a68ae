"""A query with several side outputs of one kind: from the tree over doors, names and staged rows to the account; no Spark is started."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from streamproof.checkpoint.state import OpenWindows
from streamproof.core.account import Account
from streamproof.core.manifest import Digest
from streamproof.core.sides import LATE, REJECTED, Side
from streamproof.errors import JobDefinitionError
from streamproof.runtime.batch.protocol import Done
from streamproof.runtime.batch.staging import Staging
from streamproof.runtime.binding.bound import BoundJob
from streamproof.runtime.binding.sinks import QuerySinks
from streamproof.runtime.rows.columns import Columns
from streamproof.runtime.rows.reports import sums_by_output
from streamproof.runtime.summary import account_of
from streamproof.stream import Outputs, Stream
from streamproof.stream.graph import Read, build
from streamproof.stream.node import source
from streamproof.stream.operators.operator import RowWise
from streamproof.stream.side_output import SideOutput

LEFT, RIGHT = Side("unmatched", "left"), Side("unmatched", "right")


@dataclass(frozen=True)
class Parting(RowWise):
    """Rows leave by several side outputs."""

    sides: tuple[Side, ...] = (LEFT, RIGHT)

    def streaming(self, rows, doors):
        for side in self.sides:
            rows = doors.divert(rows, side, f"is {side.name}", "row", f"no partner of the {side.name}")
        return rows


@dataclass
class Rows:
    """Stands for a DataFrame that only goes through doors."""

    left_by: tuple[str, ...] = ()
    columns: list[str] = field(default_factory=list)

    def drop(self, *_):
        return self


class Doors:
    def divert(self, rows, side, leaves, payload, reason):
        return Rows((*rows.left_by, f"{side}: {leaves}, {reason}"))


def parted(*sides: Side) -> Stream:
    return Stream(source("orders").then(Parting(sides or (LEFT, RIGHT))))


def test_graph_the_plan_takes_rows_out_by_each_of_them():
    plan = build(parted().node, {"orders": Read(Rows())}, Doors())

    assert plan.rows.left_by == (
        "unmatched:left: is left, no partner of the left",
        "unmatched:right: is right, no partner of the right",
    )


def test_a_tree_gives_the_side_outputs_of_its_operators_in_the_order_of_their_places():
    assert parted().deduplicate("id").node.sides == (LATE, REJECTED, Side("duplicate"), LEFT, RIGHT)
    assert Stream(source("orders")).node.sides == (REJECTED,)


def test_naming_one_is_returned_and_the_other_has_a_place_of_its_own():
    paid = parted()
    lost = SideOutput(LEFT, paid.node)

    assert Outputs(paid=paid, lost=lost).sides_of("paid") == {LEFT: "lost"}
    assert BoundJob(None, Outputs(paid=paid, lost=lost), {}).sides_of("paid") == {
        LEFT: "lost",
        REJECTED: "rejected",
        RIGHT: "unmatched_right",
    }


def test_naming_both_are_returned_and_none_twice():
    paid = parted()
    left, right = SideOutput(LEFT, paid.node), SideOutput(RIGHT, paid.node)

    assert Outputs(paid=paid, one=left, other=right).sides_of("paid") == {LEFT: "one", RIGHT: "other"}
    with pytest.raises(JobDefinitionError, match="The outputs one and other are both the unmatched left output of paid"):
        Outputs(paid=paid, one=left, other=left).sides_of("paid")


def test_naming_of_several_queries_each_has_its_own():
    job = BoundJob(None, Outputs(paid=parted(), sent=parted()), {})

    assert job.sides_of("paid") == {REJECTED: "rejected", LEFT: "paid_unmatched_left", RIGHT: "paid_unmatched_right"}
    assert job.sides_of("sent") == {LEFT: "sent_unmatched_left", RIGHT: "sent_unmatched_right"}


def test_naming_a_default_name_is_never_that_of_another_output():
    once = Stream(source("orders")).deduplicate("id")

    assert BoundJob(None, Outputs(kept=once, late=once.rejected), {}).sides_of("kept") == {REJECTED: "late", LATE: "kept_late"}
    with pytest.raises(JobDefinitionError, match="has an output kept_late, and the late rows of kept would go to") as refused:
        BoundJob(None, Outputs(kept=once, kept_late=Stream(source("orders"))), {}).sides_of("kept")
    assert "under a name of your own" in str(refused.value.remedy)


def reported(door: str, rows: int, reason: str) -> dict:
    sums = {"records": 0, "hash": 0, "floats": [], "absolutes": [], "file": None, "size": 0, "checksum": None}
    return {"door": door, "batch": 3, "partition": 0, "attempt": 0, "rows": rows, "reasons": {reason: rows}, **sums}


def accounted(stream: Stream, sides: dict[Side, str], *reports: dict, rows: int):
    sinks = {name: SimpleNamespace(shards=1, place=SimpleNamespace(format="json")) for name in sides.values()}
    targets = {name: (name,) for name in sinks}
    query = SimpleNamespace(
        name="paid", spark=None, journal=None, root=stream.node, sinks=QuerySinks("paid", sinks, targets, sides)
    )
    staging = Staging(query, None, Columns({}, {}))
    taken = rows + sum(report["rows"] for report in reports)
    return staging._accounted(3, "000003-feed", sums_by_output(reports), {"input": taken}, Digest(rows))


def test_account_each_has_its_section_its_count_and_its_reasons():
    sections, counts = accounted(
        parted(),
        {LEFT: "lost", REJECTED: "rejected", RIGHT: "unmatched_right"},
        reported("unmatched:left.0", 2, "no. 1"),
        reported("unmatched:right.1", 3, "no. 1"),
        rows=5,
    )

    assert [(section.output, section.kind, section.digest.rows) for section in sections] == [
        ("rejected", "rejected", 0),
        ("lost", "unmatched:left", 2),
        ("unmatched_right", "unmatched:right", 3),
    ]
    assert (counts["unmatched"], counts["unmatched:left"], counts["unmatched:right"]) == (5, 2, 3)
    done = Done()
    done.add(SimpleNamespace(counts=counts, sections=sections))
    assert (done.reasons_of(LEFT), done.reasons_of(RIGHT), done.reasons_of(REJECTED)) == ({"no. 1": 2}, {"no. 1": 3}, {})


def test_account_the_records_of_a_kind_are_in_the_place_of_that_name():
    """Two side outputs of a kind that has a place: each record is there once, and the account adds up."""
    early, other = Side("late", "left"), Side("late", "right")
    _, counts = accounted(
        parted(early, other),
        {},
        reported("late.0", 1, "late"),
        reported("late:left.1", 2, "late"),
        reported("late:right.2", 3, "late"),
        rows=4,
    )

    totals = {f"total.{place}": count for place, count in counts.items()}
    account = account_of("paid", SimpleNamespace(counts=totals, unknown_since=None), OpenWindows(0, 0, None))
    assert account.account == Account(emitted=4, late=6)
    assert account.adds_up
