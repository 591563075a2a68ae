"""What a task of a sink answers: a few rows, made into Arrow."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow.json import ParseOptions, ReadOptions, read_json


def answer(rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, pa.DataType]]) -> pa.RecordBatch:
    """The rows, at least one, as a batch of these columns (text, integers, lists of those); a missing value is null.

    Arrow makes its own arrays of Python values only after it has imported pandas: half a second of every new Python worker.
    """
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    read = ReadOptions(use_threads=False, block_size=len(lines) + 1)  # a row must fit into a block
    shape = ParseOptions(explicit_schema=pa.schema(list(columns)), unexpected_field_behavior="error")
    (batch,) = read_json(io.BytesIO(lines), read, shape).combine_chunks().to_batches()
    return batch
