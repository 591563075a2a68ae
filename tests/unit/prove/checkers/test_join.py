"""The checkers on what a join has left: rows of two records, rows that are alone, and rows that wait."""

from dataclasses import dataclass, replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import run_checkers
from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.query import Clock
from unit.prove.small import SECOND, Shape, changed, faultless, only_finding, rows_of, with_held, with_left, with_rows


@dataclass(frozen=True)
class OfTwo(Shape):
    """Two streams, joined by client within twenty seconds."""

    @property
    def stateful(self):
        return True

    @property
    def asked(self):
        return Asked("l").then("join", Asked("r"), on="client", between=("-20 seconds", "20 seconds"), how="inner")


JOINED = OfTwo("paid", "ts", clocks={"l": Clock(10 * SECOND, column="ts"), "r": Clock(10 * SECOND, column="ts")})


def at(trace, second, client="a"):
    return Arrived(trace, time_us=second * SECOND, values={"client": client}, source=trace[0])


BATCHES = [
    [at("l-1", 100), at("r-1", 101), at("r-2", 102), at("l-2", 100, "b"), at("r-3", 100, None)],
    [at("l-3", 200, "c"), at("r-4", 201, "c"), at("l-4", 80, "z"), at("r-5", 210, "y")],
]
READS = [BatchRead(number, at, 0, (f"part-{number}-0.json",), run="r") for number, at in enumerate((0, 90_000))]
READS.append(BatchRead(2, 190_000, 0, (), run="r"))


def history():
    return faultless(JOINED, BATCHES, reads=READS)


def test_a_faultless_run_passes_every_checker():
    found = {result.name: result for result in run_checkers(history())}

    assert {name: result.findings for name, result in found.items() if result.verdict is not Verdict.PASS} == {}
    assert {row.trace for row in rows_of(history(), "paid")} == {"l-1|r-1", "l-1|r-2", "l-3|r-4"}
    assert [row.trace for row in rows_of(history(), "unmatched_left")] == ["l-2", "l-4"]


def test_a_pair_that_is_lost_or_there_twice_is_named_with_both_records():
    rows = rows_of(history(), "paid")

    lost = only_finding("exactly-once", with_rows(history(), "paid", rows[1:]))
    again = only_finding("exactly-once", with_rows(history(), "paid", [*rows, rows[0]]))

    assert (lost.code, lost.event) == ("lost", "l-1|r-1")
    assert "l-1 arrived as row 1" in lost.how
    assert "r-1 arrived as row 2" in lost.how
    assert again.code in ("doubled", "published-again")


def test_a_pair_that_does_not_meet_is_named():
    rows = rows_of(history(), "paid")

    found = only_finding("exactly-once", with_rows(history(), "paid", [*rows, changed(rows[0], _trace="l-2|r-4")]))

    assert (found.code, found.event) == ("unexpected", "l-2|r-4")
    assert found.what == "is in paid though it is unmatched and in an open window"


@pytest.mark.parametrize("side", ["unmatched_left", "unmatched_right"])
def test_a_row_without_a_partner_that_is_lost_doubled_or_in_another_batch_is_named(side):
    rows = rows_of(history(), side)

    codes = [
        only_finding("side-routing", with_rows(history(), side, changed_rows)).code
        for changed_rows in (
            rows[1:],
            [*rows, rows[0]],
            [replace(rows[0], batch=1), *rows[1:]],
            [*rows, changed(rows[0], _trace="l-1")],
        )
    ]

    assert codes == ["not-delivered", "delivered-again", "wrong-batch", "wrongly-delivered"]
    assert only_finding("account", with_rows(history(), side, rows[1:])).code == "in-no-place"


def test_what_waits_in_state_is_compared_row_by_row():
    state = history().queries[0].left.state
    (operator,) = state.operators
    assert set(operator.rows) == {"l-3", "r-4", "r-5"}

    def left(rows):
        return with_left(history(), replace(history().queries[0].left, state=with_held(state, rows=tuple(rows))))

    gone = only_finding("state-contents", left(operator.rows[1:]))
    still = only_finding("state-contents", left([*operator.rows, "l-1"]))
    twice = only_finding("state-contents", left([*operator.rows, "l-3"]))

    assert (gone.code, still.code, twice.code) == ("missing", "still-in-state", "held-twice")
    assert still.what == "is in the state of paid though it is emitted"
    assert only_finding("account", left([*operator.rows, "l-2"])).code == "in-two-places"
