"""Rows of two runs are compared as multisets, hidden columns and the last digits of sums aside."""

import json
from pathlib import Path

from streamproof.prove.comparing import row_differences


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
