"""What tasks of sinks answer: every value as it was, and no pandas in the worker."""

import subprocess
import sys

import pyarrow as pa
import pytest

from streamproof.connectors.answers import answer

COLUMNS = [("entry", pa.string()), ("rows", pa.int64()), ("code", pa.int32()), ("read", pa.list_(pa.string()))]


@pytest.mark.parametrize(
    "rows",
    [
        [{"entry": None, "rows": None, "code": None, "read": None}],
        [{"entry": '{"a": "b\\n"}\n"é', "rows": 2**62, "code": -1, "read": []}],
        [{"entry": "2026-01-01T00:00:00Z", "rows": 0, "code": 1, "read": ["1", "null", ""]}],
        [{"entry": str(number), "rows": number, "code": number, "read": ["x" * number]} for number in range(3_000)],
    ],
    ids=["nulls", "escapes", "looks like something else", "more than a block"],
)
def test_rows_come_back_as_they_were(rows):
    batch = answer(rows, COLUMNS)

    assert batch.to_pylist() == rows
    assert batch.schema.equals(pa.schema(COLUMNS))


def test_a_value_that_is_missing_is_null():
    assert answer([{"rows": 1}], COLUMNS).to_pylist() == [{"entry": None, "rows": 1, "code": None, "read": None}]


def test_a_worker_imports_no_pandas_for_it():
    code = """
import sys, pyarrow as pa
from streamproof.connectors.answers import answer
answer([{"rows": 1}], [("rows", pa.int64())])
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
