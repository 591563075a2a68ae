"""Rows of two runs are compared as multisets, hidden columns and the last digits of sums aside."""

import json
from math import inf
from pathlib import Path

from streamproof.prove.subjects.job.shipped import row_differences


def published(folder: Path, *rows: dict[str, object]) -> Path:
    batch = folder / "out" / "late" / "batch=000000"
    batch.mkdir(parents=True)
    (batch / "part.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    (batch / "_ledger.json").write_text("{}")
    return folder


def test_hidden_columns_and_the_last_digits_do_not_count(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1, "total": 0.1 + 0.2, "_trace": "e-1"}, {"id": 2, "total": 1.0})
    other = published(tmp_path / "other", {"id": 2, "total": 1.0}, {"id": 1, "total": 0.3})

    assert list(row_differences(one, other)) == []


def test_a_row_that_is_there_twice_is_a_difference(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1})
    other = published(tmp_path / "other", {"id": 1}, {"id": 1})

    (found,) = row_differences(one, other)

    assert "other rows in late" in found.what
    assert found.expected == "the same rows"
    assert found.found == "0 rows only with trace ids, 1 only without"
    assert "{'id': '1'}" in found.how


def test_an_output_that_only_one_run_has_is_a_difference(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1})
    (tmp_path / "other" / "out").mkdir(parents=True)

    assert list(row_differences(one, tmp_path / "other"))


def test_a_rounded_mean_may_come_out_one_step_apart(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1, "mean": 23.281488, "label": "high"}, {"id": 2, "mean": 5.0, "label": "low"})
    near = published(tmp_path / "near", {"id": 1, "mean": 23.281487, "label": "low"}, {"id": 2, "mean": 5.0, "label": "low"})
    far = published(tmp_path / "far", {"id": 1, "mean": 23.281486, "label": "high"}, {"id": 2, "mean": 5.0, "label": "low"})
    steps = {"late": {"mean": 1e-6, "label": inf}}

    assert list(row_differences(one, near, steps)) == []
    assert list(row_differences(one, near, {"late": {"mean": 1e-6}}))
    assert list(row_differences(one, near))
    assert list(row_differences(one, far, steps))


def test_a_decimal_that_a_store_keeps_as_a_text_is_compared_by_its_step_too(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1, "total": "23.28", "level": None})
    other = published(tmp_path / "other", {"id": 1, "total": "23.29", "level": "high"})
    steps = {"late": {"total": 0.01, "level": inf}}

    assert list(row_differences(one, other, steps)) == []
    assert list(row_differences(one, other, {"late": {"total": 0.001, "level": inf}}))


def test_a_sum_that_ends_in_five_behind_its_ninth_digit_is_the_same(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1, "total": 12345678.25})
    other = published(tmp_path / "other", {"id": 1, "total": 12345678.250000002})

    assert list(row_differences(one, other)) == []


def test_values_that_have_moved_to_another_row_are_a_difference(tmp_path: Path) -> None:
    one = published(tmp_path / "one", {"id": 1, "total": 1.0}, {"id": 2, "total": 2.0})
    other = published(tmp_path / "other", {"id": 1, "total": 2.0}, {"id": 2, "total": 1.0})

    (found,) = row_differences(one, other)

    assert found.found == "2 rows only with trace ids, 2 only without"
