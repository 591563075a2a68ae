"""A table with versions has of each key the greatest fact; one that is replaced is in the account, and in no row."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import AsTable, Bounded, History, OutputRow
from streamproof.prove.oracle.facts import Facts, LastRows
from unit.prove.small import DEDUPLICATED, PLAIN, at, check, faultless, only_finding, rows_of, with_rows

FACTS = Facts(("account",), "version", "gone")
RECORDS = [[at("e-1", 61), at("e-2", 62)], [at("e-3", 7), at("e-4", 131)], [at("e-4+1", 131), at("e-5", 8)]]
ROWS: Mapping[str, Mapping[str, Any]] = {
    "e-1": {"account": "a", "version": 5, "gone": False},
    "e-2": {"account": "b", "version": 2, "gone": False},
    "e-3": {"account": "a", "version": 3, "gone": False},
    "e-4": {"account": "b", "version": 4, "gone": False},
    "e-4+1": {"account": "b", "version": 4, "gone": False},
    "e-5": {"account": "c", "version": 1, "gone": True},
}


@pytest.fixture
def history() -> History:
    """What a right table holds."""
    given = faultless(PLAIN, RECORDS)
    view = replace(given.queries[0], table=AsTable(one_of_key=FACTS), bounded=Bounded(rows=ROWS))
    rows = [replace(row, values={**row.values, **ROWS[row.trace or ""]}) for row in rows_of(given, "rows")]
    return with_rows(History([view], given.offered), "rows", [row for row in rows if row.trace in ("e-1", "e-4", "e-5")])


def row_of(history: History, trace: str) -> OutputRow:
    """A row of a fact that is not in the table."""
    some = rows_of(history, "rows")[0]
    return replace(some, values={**some.values, **ROWS.get(trace, ROWS["e-1"]), "_trace": trace})


def test_the_greatest_fact_of_each_key_is_right(history: History) -> None:
    assert check("newest-facts", history).verdict is Verdict.PASS
    assert check("exactly-once", history).verdict is Verdict.PASS
    assert check("account", history).verdict is Verdict.PASS


def test_either_of_two_equal_facts_may_be_there(history: History) -> None:
    first, _, third = rows_of(history, "rows")
    other = with_rows(history, "rows", [first, row_of(history, "e-4+1"), third])

    assert check("newest-facts", other).verdict is Verdict.PASS
    assert check("account", other).verdict is Verdict.PASS


def test_an_older_fact_in_the_place_of_a_newer_one_is_found(history: History) -> None:
    _, *others = rows_of(history, "rows")
    broken = with_rows(history, "rows", [row_of(history, "e-3"), *others])

    finding = only_finding("newest-facts", broken)

    assert (finding.code, finding.event, finding.key) == ("older-fact", "e-1", "account a")
    assert "version 5" in (finding.expected or "")
    assert "version 3" in (finding.found or "")
    assert check("account", broken).verdict is Verdict.FAIL


def test_a_key_without_a_fact_is_found(history: History) -> None:
    broken = with_rows(history, "rows", rows_of(history, "rows")[:2])

    assert only_finding("newest-facts", broken).code == "no-fact"
    assert check("account", broken).verdict is Verdict.FAIL


def test_two_facts_of_a_key_are_found(history: History) -> None:
    broken = with_rows(history, "rows", [*rows_of(history, "rows"), row_of(history, "e-2")])

    assert only_finding("newest-facts", broken).code == "several-facts"


def test_a_fact_that_the_job_has_not_given_is_found(history: History) -> None:
    broken = with_rows(history, "rows", [*rows_of(history, "rows"), row_of(history, "e-9")])

    assert only_finding("newest-facts", broken).code == "unexpected-fact"


def test_rows_without_traces_leave_it_unknown(history: History) -> None:
    untraced = History([replace(history.queries[0], bounded=Bounded())], history.offered)

    assert check("newest-facts", untraced).verdict is Verdict.UNKNOWN


def test_a_tombstone_counts_more_than_a_row_of_its_version() -> None:
    rows = {
        "e-1": {"account": "a", "version": 1, "gone": True},
        "e-2": {"account": "a", "version": 1, "gone": False},
        "e-3": {"account": "a", "version": None, "gone": True},
        "e-4": {"account": None, "version": 1, "gone": None},
    }

    assert FACTS.greatest(rows, {}) == {("a",): {"e-1"}, (None,): {"e-4"}}
    assert Facts(("account",), "version").greatest(rows, {})["a",] == {"e-1", "e-2"}


def test_behind_a_deduplication_either_copy_may_be_there() -> None:
    given = faultless(DEDUPLICATED, [[at("e-1", 61), at("e-1+1", 61)], [at("e-2", 62, "b")]])
    rows = {name: {"account": name[:3], "version": 1, "gone": False} for name in ("e-1", "e-1+1", "e-2")}
    view = replace(given.queries[0], table=AsTable(one_of_key=FACTS), bounded=Bounded(rows=rows))
    name = view.main.name
    other = [replace(row, values={**row.values, "_trace": "e-1+1"}) if row.trace == "e-1" else row for row in view.main.rows]
    history = with_rows(History([view], given.offered), name, other)

    assert {row.trace for row in other} == {"e-1+1", "e-2"}
    assert check("newest-facts", history).verdict is Verdict.PASS
    assert check("account", history).verdict is Verdict.PASS


LAST = LastRows(("account",), "version")
"""The greatest version within a batch; a later batch counts more, whatever its versions are."""


@pytest.fixture
def upserted(history: History) -> History:
    """What a right table holds that takes each row in the place of the one before."""
    view = replace(history.queries[0], table=AsTable(one_of_key=LAST))
    return with_rows(replace(history, queries=[view]), "rows", [row_of(history, trace) for trace in ("e-3", "e-4+1", "e-5")])


def test_where_a_row_takes_the_place_of_another_the_last_of_each_key_is_right(upserted: History) -> None:
    assert [check(name, upserted).verdict for name in ("newest-facts", "exactly-once", "account")] == [Verdict.PASS] * 3


def test_an_earlier_row_that_has_come_back_and_a_key_that_is_gone_are_found(upserted: History) -> None:
    older = with_rows(upserted, "rows", [row_of(upserted, trace) for trace in ("e-1", "e-4+1", "e-5")])
    gone = with_rows(upserted, "rows", [row_of(upserted, trace) for trace in ("e-3", "e-4+1")])

    finding = only_finding("newest-facts", older)
    assert (finding.event, finding.what) == ("e-3", "is lost: rows has an earlier row of its key")
    assert (finding.expected, finding.found) == ("version 3", "version 5")
    assert only_finding("newest-facts", gone).event == "e-5"
    assert {check("account", broken).verdict for broken in (older, gone)} == {Verdict.FAIL}


def test_a_row_that_deletes_leaves_no_row_of_its_key(upserted: History) -> None:
    last = AsTable(one_of_key=replace(LAST, deleting=frozenset({"e-3"})))
    deleting = replace(upserted, queries=[replace(upserted.queries[0], table=last)])
    right = with_rows(deleting, "rows", rows_of(deleting, "rows")[1:])

    finding = only_finding("newest-facts", deleting)
    assert (finding.code, finding.event) == ("unexpected-fact", "e-3")
    assert [check(name, right).verdict for name in ("newest-facts", "account")] == [Verdict.PASS] * 2


def test_within_a_batch_a_row_without_a_value_comes_before_all_others() -> None:
    values = (None, 2.0, float("nan"), 1.0)
    rows = {f"e-{number}": {"account": "a", "version": value} for number, value in enumerate(values)}

    assert LAST.greatest(rows, dict.fromkeys(rows, 0)) == {("a",): {"e-2"}}
    assert LAST.greatest(rows, dict(zip(rows, (1, 0, 0, 0), strict=True))) == {("a",): {"e-0"}}
