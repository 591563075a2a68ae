"""The rows of published files, in plain values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.prove.oracle.arrived import plain

_KEPT_FILES = 256


def rows_of(path: Path, *, times: frozenset[str] = frozenset()) -> Sequence[Mapping[str, Any]]:
    """The rows of a Parquet or JSON file, every instant as microseconds UTC; to be read only.

    Most files are the same in hundreds of scenarios: what was read of equal bytes is given again.

    Parameters
    ----------
    times
        Columns of a JSON file that are instants, there as ISO texts.

    Raises
    ------
    ValueError, pyarrow.ArrowException
        If the file is damaged.
    """
    return _rows(path.read_bytes(), times, parquet=path.suffix == ".parquet")


@lru_cache(_KEPT_FILES)
def _rows(content: bytes, times: frozenset[str], *, parquet: bool) -> Sequence[Mapping[str, Any]]:
    return tuple(_parquet_rows(content) if parquet else _json_rows(content, times))


def _parquet_rows(content: bytes) -> Iterator[dict[str, Any]]:
    table = pq.ParquetFile(BytesIO(content), coerce_int96_timestamp_unit="us").read()
    columns = [_plain_column(column) for column in table.columns]
    for row in zip(*columns, strict=True):
        yield dict(zip(table.column_names, row, strict=True))


def _plain_column(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        micros: list[Any] = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).to_pylist()
        return micros
    values: list[Any] = column.to_pylist()
    simple = pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_string(column.type)
    return values if simple else [plain(value) for value in values]


def _json_rows(content: bytes, times: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file with one JSON object a line; ValueError at the first line that is none."""
    text = content.decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError:
            raise ValueError(f"line {number} is no whole JSON object") from None
        for column in times & values.keys():
            if isinstance(values[column], str):
                values[column] = instant_of(values[column])
        yield values


def instant_of(text: str) -> Any:
    """Microseconds UTC of an ISO text; the text itself if it is none (a rejected row keeps what it had)."""
    try:
        return plain(datetime.fromisoformat(text))
    except ValueError:
        return text
