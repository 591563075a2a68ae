"""Two states of an operator side by side: what changed, what is gone, what is new, and what is not as without a fault."""

import json

import pytest

from streamproof.prove.states import beside as module
from streamproof.prove.states.beside import Side, beside


def side(batch, *rows, unread=""):
    """A state of totals by client."""
    found = [{"client": client, "total": total} for client, total in rows]
    return Side(batch, ("client", "total"), ("client",), found, len(found), unread)


def said(found):
    return {(row["what"], *row["key"]): (row["crash"], row["after"]) for row in found["rows"]}


def test_each_row_is_told_by_its_key_with_the_values_of_both_sides():
    found = beside(side(2, ("a", 1), ("b", 2), ("c", 3)), side(3, ("b", 2), ("c", 9), ("d", 4)))

    assert said(found) == {
        ("changed", "c"): ([3], [9]),
        ("gone", "a"): ([1], None),
        ("new", "d"): (None, [4]),
        ("same", "b"): ([2], [2]),
    }
    assert [row["what"] for row in found["rows"]] == ["changed", "gone", "new", "same"]
    assert found["counts"] == {"changed": 1, "gone": 1, "new": 1, "same": 1, "missing": 0}
    assert (found["key"], found["values"]) == (["client"], ["total"])
    assert (found["crash"], found["after"]) == (
        {"batch": 2, "rows": 3, "unread": ""},
        {"batch": 3, "rows": 3, "unread": ""},
    )
    assert found["unsound"] is None


def test_a_state_of_which_nothing_was_committed_is_empty():
    found = beside(Side(), side(0, ("a", 1)))

    assert said(found) == {("new", "a"): (None, [1])}
    assert found["crash"] == {"batch": None, "rows": 0, "unread": ""}


def test_rows_of_one_key_are_told_apart_by_their_values():
    found = beside(side(0, ("a", 1), ("a", 2), ("a", 2)), side(1, ("a", 2), ("a", 3)))

    assert sorted((row["what"], (row["crash"] or row["after"])[0]) for row in found["rows"]) == [
        ("gone", 1),
        ("gone", 2),
        ("new", 3),
        ("same", 2),
    ]


def test_a_table_without_a_key_is_compared_row_by_row():
    left, right = Side(0, ("value",), (), [{"value": 1}], 1), Side(1, ("value",), (), [{"value": 2}], 1)

    assert sorted(row["what"] for row in beside(left, right)["rows"]) == ["gone", "new"]


def test_what_is_not_as_without_a_fault_comes_first_also_what_is_on_neither_side():
    sound = side(3, ("a", 1), ("b", 2), ("e", 5))
    found = beside(side(2, ("a", 1), ("b", 1)), side(3, ("a", 1), ("b", 4)), sound)

    assert found["unsound"] == 2
    assert [(row["what"], row["key"], row["unsound"]) for row in found["rows"]] == [
        ("changed", ["b"], True),
        ("missing", ["e"], True),
        ("same", ["a"], False),
    ]


def test_the_last_digits_of_a_sum_of_floats_are_no_difference():
    found = beside(side(0), side(1, ("a", 0.1 + 0.2)), side(1, ("a", 0.3)))

    assert found["unsound"] == 0


@pytest.mark.parametrize("sound", [None, side(9, ("a", 1)), side(1, ("a", 1), unread="torn")])
def test_without_a_state_of_the_same_batch_nothing_is_said_against_it(sound):
    assert beside(side(0), side(1, ("b", 1)), sound)["unsound"] is None


def test_a_side_that_cannot_be_read_is_not_taken_for_an_empty_one():
    found = beside(side(0, ("a", 1)), Side(1, unread="Spark cannot read it"))

    assert found["rows"] == []
    assert sum(found["counts"].values()) == 0
    assert found["after"]["unread"] == "Spark cannot read it"


def test_however_many_rows_differ_few_are_kept_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(module, "SHOWN", dict.fromkeys(module.What, 3))
    left, right = side(0, *((f"k{n}", n) for n in range(100))), side(1, *((f"k{n}", n + n % 2) for n in range(90)))
    found = beside(left, right)

    assert found["counts"] == {"changed": 45, "gone": 10, "new": 0, "same": 45, "missing": 0}
    assert [row["what"] for row in found["rows"]] == ["changed"] * 3 + ["gone"] * 3 + ["same"] * 3


def test_masked_rows_are_counted_and_none_of_their_values_is_kept():
    found = beside(side(0, ("secret", 1)), side(1, ("secret", 2)), masked=True)

    assert found["counts"]["changed"] == 1
    assert "secret" not in json.dumps(found)


def test_long_texts_are_cut():
    (row,) = beside(side(0, ("a", "x" * 9_999)), side(1, ("a", ["y" * 9_999])))["rows"]

    assert len(row["crash"][0]) == len(row["after"][0]) == module.LONGEST
