"""Rows of published files in plain values; equal bytes are read once."""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.prove.artifacts import row_files
from streamproof.prove.artifacts.row_files import rows_of

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
MICROS = int(NINE.timestamp()) * 1_000_000


def test_instants_of_parquet_are_microseconds(tmp_path):
    pq.write_table(pa.table({"at": pa.array([NINE], pa.timestamp("us", tz="UTC")), "n": [1]}), tmp_path / "a.parquet")

    assert list(rows_of(tmp_path / "a.parquet")) == [{"at": MICROS, "n": 1}]


def test_instants_of_json_are_those_that_are_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"at": "2026-01-05T09:00:00Z", "other": "2026-01-05T09:00:00Z"}\n\n')

    assert list(rows_of(tmp_path / "a.jsonl", times=frozenset({"at"}))) == [{"at": MICROS, "other": "2026-01-05T09:00:00Z"}]


@pytest.mark.parametrize(("name", "content"), [("a.parquet", b"PAR1 cut"), ("a.jsonl", b'{"n": 1}\n{"n":')])
def test_a_damaged_file_is_said_to_be(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    with pytest.raises((ValueError, pa.ArrowException)):
        rows_of(tmp_path / name)


def test_equal_bytes_are_read_once_and_changed_ones_again(tmp_path, monkeypatch):
    read = []
    real = row_files._json_rows
    monkeypatch.setattr(row_files, "_json_rows", lambda content: read.append(content) or real(content))
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text('{"only": "here"}\n')
    other.write_text('{"only": "here"}\n')

    assert rows_of(one) is rows_of(other)
    other.write_text('{"only": "there"}\n')
    assert list(rows_of(other)) == [{"only": "there"}]
    assert len(read) == 2
