"""Lines that lie after one another in Arrow's memory are handed on as they lie."""

import pyarrow as pa
import pytest

from streamproof.connectors.postgres.lines import text_of

LINES = ["1,\n", '2,"ä,""\n"\n', "\n", "4,x\n"]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(("first", "length"), [(0, 4), (1, 2), (2, 1), (1, 3), (4, 0)])
def test_the_lines_of_a_slice_are_its_own(type_, first, length):
    batch = pa.RecordBatch.from_arrays([pa.array(LINES, type_)], ["line"]).slice(first, length)

    assert bytes(text_of(batch)).decode() == "".join(LINES[first : first + length])


def test_a_batch_without_rows_has_no_lines():
    assert bytes(text_of(pa.RecordBatch.from_pylist([], pa.schema([("line", pa.string())])))) == b""
