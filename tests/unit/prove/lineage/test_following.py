"""Where an event went: each kind of end, and what contradicts the model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.prove.artifacts.history import History, OutputRow
from streamproof.prove.lineage.moments import Kind, Moment
from streamproof.prove.lineage.tracing import FAULT_FREE, Traced
from streamproof.prove.oracle.windows import PlainHopping
from unit.prove.lineage.recorded import run_of
from unit.prove.small import (
    CORRECTED,
    DEDUPLICATED,
    FILE,
    ONCE,
    PLAIN,
    RECORDS,
    SECOND,
    WINDOW,
    Shape,
    at,
    changed,
    faultless,
    rows_of,
    with_rows,
)


def traced(folder: Path, history: History, name: str) -> Traced:
    return next(one for one in run_of(folder, {FAULT_FREE: history}).event(name) if one.event.trace == name)


def moments(folder: Path, history: History, name: str) -> Sequence[Moment]:
    (way,) = traced(folder, history, name).ways
    return way.moments


def kinds(found: Sequence[Moment]) -> list[str]:
    return [str(moment.kind) for moment in found]


def of_kind(found: Sequence[Moment], kind: Kind) -> Moment:
    (moment,) = [one for one in found if one.kind is kind]
    return moment


def test_p9_an_event_in_a_window_is_followed_from_its_file_to_its_row(tmp_path: Path) -> None:
    found = moments(tmp_path, faultless(ONCE, RECORDS), "e-1")

    assert kinds(found) == ["arrived", "passed", "kept", "grouped", "published"]
    arrived, passed, kept, grouped, published = found
    assert (arrived.batch, arrived.about["file"], arrived.about["row"]) == (0, "part-0-0.json", 1)
    assert passed.about["operators"] == ["require", "filter"]
    assert (kept.operator, kept.about["dropped"]) == ("deduplicate (id)", [["e-1+1", 0]])
    assert (grouped.operator, grouped.batch) == ("window (client)", 2)
    assert (grouped.about["window"], grouped.about["others"]) == ([["a"], 60 * SECOND, 90 * SECOND], 2)
    assert (published.batch, published.about["output"], published.about["in"]) == (2, "totals", "batch=000002")
    assert published.about["values"]["total"] == 4.5


@pytest.mark.parametrize(
    ("trace", "side", "operator"),
    [
        ("e-1+1", "duplicate", "deduplicate (id)"),
        ("e-4", "rejected", "require"),
        ("e-7", "filtered", "filter"),
        ("e-9", "late", "deduplicate (id)"),
    ],
)
def test_p9_an_event_that_leaves_is_shown_with_the_operator_that_lets_it_go(
    tmp_path: Path, trace: str, side: str, operator: str
) -> None:
    found = moments(tmp_path, faultless(ONCE, RECORDS), trace)

    left = of_kind(found, Kind.LEFT)
    assert (left.about["side"], left.operator) == (side, operator)
    assert "grouped" not in kinds(found)
    assert Kind.NOT_AN_OUTPUT in [moment.kind for moment in found] if side == "filtered" else "published" in kinds(found)
    assert not any(moment.wrong for moment in found)


def test_the_copy_that_goes_on_instead_the_reason_and_the_bound_are_said(tmp_path: Path) -> None:
    history = faultless(ONCE, RECORDS)

    assert of_kind(moments(tmp_path / "1", history, "e-1+1"), Kind.LEFT).about["kept"] == "e-1"
    assert of_kind(moments(tmp_path / "2", history, "e-4"), Kind.LEFT).about["reason"] == "total > 0"
    assert of_kind(moments(tmp_path / "3", history, "e-9"), Kind.LEFT).about["bound_us"] == 53 * SECOND


def test_a_row_that_a_window_decides_to_be_late_says_which_window_is_closed(tmp_path: Path) -> None:
    left = of_kind(moments(tmp_path, faultless(WINDOW, RECORDS), "e-9"), Kind.LEFT)

    assert left.about["window"] == [0, 30 * SECOND]


def test_a_row_in_an_open_window_is_in_state(tmp_path: Path) -> None:
    found = moments(tmp_path, faultless(ONCE, RECORDS), "e-8")

    assert kinds(found)[-1] == "open"
    assert (found[-1].about["window"], found[-1].about["others"]) == ([["a"], 120 * SECOND, 150 * SECOND], 1)
    assert not found[-1].about["given"]


def test_each_row_of_a_window_with_corrections_is_shown(tmp_path: Path) -> None:
    found = moments(tmp_path, faultless(CORRECTED, [*RECORDS, [at("e-20", 190)], [at("e-21", 67)], [at("e-22", 195)]]), "e-1")

    numbers = [moment.about["number"] for moment in found if moment.kind is Kind.GROUPED]
    assert numbers == [0, 1]
    assert kinds(found).count("published") == 2
    assert not any(moment.wrong for moment in found), "each row is the one of its number"


def test_each_window_of_a_row_is_shown_where_windows_overlap(tmp_path: Path) -> None:
    hopping = replace(WINDOW, window=PlainHopping(30 * SECOND, 10 * SECOND))

    found = moments(tmp_path, faultless(hopping, RECORDS), "e-1")

    windows = [moment.about["window"][1] // SECOND for moment in found if moment.kind in (Kind.GROUPED, Kind.OPEN)]
    assert sorted(windows) == [40, 50, 60]


@pytest.mark.parametrize("shape", [PLAIN, DEDUPLICATED])
def test_a_row_as_it_came_is_found_by_its_trace(tmp_path: Path, shape: Shape) -> None:
    found = moments(tmp_path, faultless(shape, RECORDS), "e-3")

    assert kinds(found)[-1] == "published"
    assert found[-1].about["values"] == {"total": 1.5}


def test_p9_a_row_that_is_gone_is_missing(tmp_path: Path) -> None:
    history = faultless(ONCE, RECORDS)
    history = with_rows(history, "totals", [row for row in rows_of(history, "totals") if row.values["client"] != "a"])

    found = moments(tmp_path, history, "e-1")

    assert kinds(found)[-1] == "missing"
    assert found[-1].wrong


def test_p9_a_row_that_is_there_twice_is_doubled(tmp_path: Path) -> None:
    history = faultless(ONCE, RECORDS)
    rows = rows_of(history, "totals")

    found = moments(tmp_path, with_rows(history, "totals", [*rows, replace(rows[0], batch=3, file=FILE)]), "e-1")

    doubled = of_kind(found, Kind.DOUBLED)
    assert (doubled.about["times"], doubled.about["expected"], doubled.about["batches"]) == (2, 1, [2, 3])


@pytest.mark.parametrize("hidden", [{"_records": 7}, {"_trace_hash": 7}])
def test_p9_a_row_of_other_records_than_the_model_has_is_said_to_be_so(tmp_path: Path, hidden: Mapping[str, int]) -> None:
    history = faultless(ONCE, RECORDS)
    rows = [changed(row, **hidden) if row.values["client"] == "a" else row for row in rows_of(history, "totals")]

    assert of_kind(moments(tmp_path, with_rows(history, "totals", rows), "e-1"), Kind.OTHER_CONTENTS).wrong


def test_a_row_that_the_model_does_not_have_is_said_to_be_so(tmp_path: Path) -> None:
    history = faultless(ONCE, RECORDS)
    rows = [*rows_of(history, "late"), OutputRow(2, FILE, {"_trace": "e-1"})]

    assert of_kind(moments(tmp_path, with_rows(history, "late", rows), "e-1"), Kind.UNEXPLAINED).about["output"] == "late"


def test_an_event_of_a_batch_without_effects_goes_nowhere(tmp_path: Path) -> None:
    reads = faultless(ONCE, RECORDS).queries[0].left.batches
    without = [*reads[:2], replace(reads[2], committed=False)]

    assert kinds(moments(tmp_path, faultless(ONCE, RECORDS, reads=without), "e-8")) == ["arrived", "no-effect"]


def test_an_event_that_no_batch_has_read_is_said_to_be_so(tmp_path: Path) -> None:
    reads = faultless(ONCE, RECORDS).queries[0].left.batches
    fewer = [*reads[:2], replace(reads[2], files=())]

    assert kinds(moments(tmp_path, faultless(ONCE, RECORDS, reads=fewer), "e-8")) == ["not-read"]
