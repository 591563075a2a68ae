"""The checkers on what stands after a join: windows of rows that are of two records, and copies of such rows."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import run_checkers
from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.windows import PlainTumbling
from unit.prove.checkers.test_join import JOINED, OfTwo
from unit.prove.small import SECOND, Level, changed, faultless, only_finding, rows_of, with_left, with_rows


def at(trace, second, client="a"):
    """Copies of a right row have its till."""
    till = {"till": trace.partition("+")[0]} if trace.startswith("r") else {}
    return Arrived(trace, time_us=second * SECOND, values={"client": client, **till}, source=trace[0])


BATCHES = [
    [at("l-1", 100), at("r-1", 101), at("r-2", 102), at("l-2", 100, "b"), at("r-3", 100, None), at("r-2+1", 102)],
    [at("l-3", 200, "c"), at("r-4", 201, "c"), at("l-4", 80, "z"), at("r-5", 210, "y")],
]
READS = [BatchRead(number, at, 0, (f"part-{number}-0.json",), run="r") for number, at in enumerate((0, 90_000))]
READS.append(BatchRead(2, 190_000, 0, (), run="r"))


@dataclass(frozen=True)
class Windowed(OfTwo):
    """Windows of ten seconds after the join, by client; how="left"."""

    @property
    def asked(self):
        joined = Asked("l").then("join", Asked("r"), on="client", between=("-20 seconds", "20 seconds"), how="left")
        return self._cut(joined, Level(self.window, self.by, self.aggregates), self.emit)


@dataclass(frozen=True)
class Once(OfTwo):
    """One row of each pair of times after the join."""

    @property
    def asked(self):
        return super().asked.then("deduplicate", key=self.deduplicate, within=timedelta(minutes=1))


WINDOWED = Windowed("paid", "ts", clocks=JOINED.clocks, window=PlainTumbling(10 * SECOND), by=("client",), aggregates=("total",))
ONCE = Once("paid", "ts", clocks=JOINED.clocks, deduplicate=("client", "till"))


def history(shape=WINDOWED):
    return faultless(shape, BATCHES, reads=READS)


@pytest.mark.parametrize("shape", [WINDOWED, ONCE], ids=["a window", "a deduplication"])
def test_a_faultless_run_passes_every_checker(shape):
    found = {result.name: result for result in run_checkers(history(shape))}

    failed = {name: result.findings for name, result in found.items() if result.verdict is not Verdict.PASS}
    assert failed == {}


def test_a_row_without_a_partner_that_its_window_has_dropped_is_named():
    """l-2 comes out alone in batch 2, when its window is due; the account is short of it too."""
    rows = rows_of(history(), "paid")
    alone = next(row for row in rows if row.values["client"] == "b")
    assert alone.values["_records"] == 1

    lost = only_finding("exactly-once", with_rows(history(), "paid", [row for row in rows if row is not alone]))
    account = only_finding("account", with_rows(history(), "paid", [row for row in rows if row is not alone]))

    assert (lost.code, lost.event, account.code, account.event) == ("lost", "l-2", "in-no-place", "l-2")


def test_a_row_that_is_of_two_records_counts_as_two():
    rows = rows_of(history(), "paid")
    both = next(row for row in rows if row.values["client"] == "a")
    assert both.values["_records"] == 6, "l-1 with r-1, with r-2 and with its copy"

    short = [row if row is not both else changed(row, _records=5) for row in rows]
    assert only_finding("exactly-once", with_rows(history(), "paid", short)).code == "other-events"


def test_state_of_both_operators_is_compared():
    state = history().queries[0].left.state
    window, join = state.operators
    assert (len(window.groups), set(join.rows)) == (1, {"l-3", "r-4", "r-5"})

    gone = with_left(
        history(), replace(history().queries[0].left, state=replace(state, operators=(replace(window, groups={}), join)))
    )
    waits = with_left(
        history(), replace(history().queries[0].left, state=replace(state, operators=(window, replace(join, rows=()))))
    )

    assert only_finding("state-contents", gone).code == "missing"
    assert {one.code for one in findings("state-contents", waits)} == {"missing"}
    assert only_finding("account", gone).code == "in-no-place"


def findings(name, history):
    return next(result.findings for result in run_checkers(history) if result.name == name)


def test_a_copy_of_a_joined_row_is_known_by_the_events_of_both():
    rows, again = rows_of(history(ONCE), "paid"), rows_of(history(ONCE), "again")
    assert ([row.trace for row in again], len(rows)) == (["l-1|r-2+1"], 3)

    lost = only_finding("duplicate-routing", with_rows(history(ONCE), "again", []))
    twice = only_finding("exactly-once", with_rows(history(ONCE), "paid", [*rows, rows[0]]))

    assert (lost.code, twice.code) == ("not-delivered", "doubled")
    assert only_finding("account", with_rows(history(ONCE), "again", [])).code in ("does-not-add-up", "in-no-place")
