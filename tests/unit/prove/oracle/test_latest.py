"""The twin of the newest row of each key, and the checkers on what it says."""

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import AsTable, Bounded
from streamproof.prove.checkers import run_checkers
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.facts import LastRows
from streamproof.prove.oracle.operators.twin import Rank
from streamproof.prove.oracle.ordering import is_held
from unit.prove.small import (
    SECOND,
    Shape,
    at,
    changed,
    check,
    faultless,
    having,
    held_by,
    model_of,
    only_finding,
    remembered_in,
    rows_of,
    with_held,
    with_left,
    with_rows,
)


@dataclass(frozen=True)
class OfKeys(Shape):
    """The newest row of each client by its version, remembered for twenty seconds."""

    @property
    def stateful(self):
        return True

    @property
    def asked(self):
        checked = Asked("s").then("require", conditions={"positive": "total > 0"}).then("filter", condition="true", name="small")
        return checked.then("latest", key=("client",), order_by="version", within="20 seconds")


NEWEST = OfKeys("totals", "ts", 10 * SECOND)


def versioned(trace, second, version, client="a"):
    return having(at(trace, second, client), version=version)


VERSIONS = [
    [versioned("e-1", 100, 2), versioned("e-2", 101, 5), versioned("e-3", 102, 4), versioned("f-1", 103, None, "f")],
    [versioned("e-4", 104, 3), versioned("e-2+1", 101, 5), versioned("f-2", 101, -1, "f"), versioned("e-5", 102, 5)],
    [versioned("g-1", 135, 1, "g")],
    [versioned("e-6", 124.001, 1), versioned("f-3", 124, 0, "f")],
]
"""The watermark is 10 seconds behind: 125 after the third batch, in which a is remembered until 124 and f until 123."""


def kept(batches, **options):
    return [outcome.kept for outcome in model_of(NEWEST, batches, **options).batches]


def test_a_row_goes_on_where_its_key_changes_and_the_others_are_superseded():
    model = model_of(NEWEST, VERSIONS[:2])

    assert [outcome.kept for outcome in model.batches] == [("e-2", "f-1"), ("e-5", "f-2")]
    assert {place: vector.count for place, vector in model.places.items() if vector.count} == {
        "input": 8,
        "emitted": 4,
        "superseded": 4,
    }
    assert model.fates["e-2+1"] == ("superseded", 1), "a copy of the newest changes nothing"


def test_a_key_is_forgotten_a_horizon_after_the_latest_of_its_rows():
    assert remembered_in(model_of(NEWEST, VERSIONS[:2])) == {("a",): 124 * SECOND, ("f",): 123 * SECOND}
    model = model_of(NEWEST, VERSIONS[:3], no_data=1)

    assert remembered_in(model) == {("g",): 155 * SECOND}


@pytest.mark.parametrize(("second", "gone_on"), [(145, True), (120, False)])
def test_what_is_no_further_apart_than_the_horizon_is_compared(second, gone_on):
    others = [[versioned("g-1", 131, 1, "g")], [versioned("g-2", 131, 2, "g")]]
    batches = [[versioned("e-1", 100, 9)], *others, [versioned("e-2", second, 1)]]

    assert (kept(batches)[3] == ("e-2",)) == gone_on


def test_a_watermark_is_of_whole_milliseconds_so_a_key_is_remembered_up_to_the_next_one():
    assert remembered_in(model_of(NEWEST, [[versioned("e-1", 100.0000004, 1)]])) == {("a",): 120 * SECOND}
    assert remembered_in(model_of(NEWEST, [[versioned("e-1", 100.000001, 1)]])) == {("a",): 120 * SECOND + 1_000}


def test_nan_is_the_greatest_and_no_value_the_least():
    batches = [
        [versioned("e-1", 100, None)],
        [versioned("e-2", 99, 5.0)],
        [versioned("e-3", 98, float("nan"))],
        [versioned("e-4", 97, 9.0)],
    ]

    assert kept(batches) == [("e-1",), ("e-2",), ("e-3",), ()]


def test_of_different_events_with_one_order_and_one_time_nothing_is_promised():
    assert model_of(NEWEST, [[versioned("e-1", 100, 1), versioned("e-2", 100, 1)]]).ambiguous == (("a",),)
    assert model_of(NEWEST, [[versioned("e-1", 100, 1)], [versioned("e-2", 100, 1)]]).ambiguous == (("a",),)
    below = [[versioned("e-1", 100, 2)], [versioned("e-2", 100, 1), versioned("e-3", 100, 1)]]
    assert model_of(NEWEST, below).ambiguous == ()


def test_a_faultless_history_passes_every_checker():
    results = run_checkers(faultless(NEWEST, VERSIONS))

    assert [(result.name, result.verdict, result.findings) for result in results if result.verdict is not Verdict.PASS] == []


def upserted(*traces):
    """A run in which nothing went wrong, into a table that keeps the last row of each client; these are in it."""
    history = faultless(NEWEST, VERSIONS)
    view = history.queries[0]
    rows = {trace: {"total": 1.5, **record.values} for trace, record in view.arrived.items()}
    kept = replace(view, table=AsTable(one_of_key=LastRows(("client",))), bounded=Bounded(rows=rows))
    there = [changed(row, **rows[row.trace]) for row in rows_of(history, "totals") if row.trace in traces]
    return with_rows(replace(history, queries=[kept]), "totals", there)


def test_a_table_that_keeps_the_last_row_of_a_key_passes_every_checker():
    results = run_checkers(upserted("e-5", "f-3", "g-1"))

    assert [(result.name, result.verdict, result.findings) for result in results if result.verdict is not Verdict.PASS] == []


def test_an_upsert_that_a_recovery_did_not_do_is_found():
    finding = only_finding("newest-facts", upserted("e-2", "f-3", "g-1"))

    assert (finding.event, finding.what) == ("e-5", "is lost: totals has an earlier row of its key")


def test_a_row_that_is_not_the_newest_is_found():
    history = faultless(NEWEST, VERSIONS)
    rows = [changed(row, _trace="e-1") if row.trace == "e-2" else row for row in rows_of(history, "totals")]

    result = check("exactly-once", with_rows(history, "totals", rows))

    assert [(finding.code, finding.event) for finding in result.findings] == [("lost", "e-2"), ("unexpected", "e-1")]


def test_a_key_that_is_forgotten_too_early_is_found():
    history = faultless(NEWEST, VERSIONS[:2])
    left = history.queries[0].left

    result = check("state-contents", with_left(history, replace(left, state=with_held(left.state, keys={("a",): 124 * SECOND}))))

    assert [finding.code for finding in result.findings] == ["forgotten-too-early"]


@pytest.mark.parametrize("kept", [Rank(2, 100 * SECOND), Rank(5, 101 * SECOND), Rank(None, 102 * SECOND), None])
def test_a_rank_that_a_recovery_did_not_bring_up_is_found(kept):
    """No later row lies between the two ranks: nothing but the state shows it."""
    history = faultless(NEWEST, VERSIONS[:2])
    left = history.queries[0].left
    newest = held_by(left.state).newest
    assert newest == {("a",): Rank(5, 102 * SECOND), ("f",): Rank(-1, 101 * SECOND)}
    others = {key: rank for key, rank in newest.items() if key != ("a",)}
    state = with_held(left.state, newest=others if kept is None else {**others, ("a",): kept})

    finding = only_finding("state-contents", with_left(history, replace(left, state=state)))

    assert (finding.code, finding.key) == ("other-newest", "a")
    assert finding.expected.startswith("5 of 1970-01-01 00:01:42")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, None),
        (True, 1),
        (-3, -3),
        (0.1, 0.1),
        (-0.0, 0.0),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (Decimal("10.50"), "10.5000"),
        ("2026-01-05", 20458),
        ("2026-01-05", "323032362d30312d3035"),
        ("b\u00e9", "62c3a9"),
    ],
)
def test_a_value_is_held_as_the_state_has_it_and_no_other_is(value, found):
    assert is_held(value, found)
    assert not is_held(value, None if value is not None else 0)
    assert value is None or not is_held(value, "31" if isinstance(found, str) and isinstance(value, str) else 7)
