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

from streamproof.connectors.extras import library
from streamproof.prove.artifacts.csv_rows import csv_rows
from streamproof.prove.oracle.arrived import plain

_KEPT_FILES = 256


def rows_of(path: Path, *, times: frozenset[str] = frozenset()) -> Sequence[Mapping[str, Any]]:
    """The rows of a Parquet, Avro, JSON or CSV file, every instant as microseconds UTC; to be read only.

    Most files are the same in hundreds of scenarios: what was read of equal bytes is given again.

    Parameters
    ----------
    times
        Columns of a JSON or CSV file that are instants, there as ISO texts.

    Raises
    ------
    ValueError, pyarrow.ArrowException
        If the file is damaged.
    """
    return _rows(path.read_bytes(), times, path.suffix)


@lru_cache(_KEPT_FILES)
def _rows(content: bytes, times: frozenset[str], suffix: str) -> Sequence[Mapping[str, Any]]:
    match suffix:
        case ".parquet":
            return tuple(_parquet_rows(content))
        case ".avro":
            return tuple(_avro_rows(content))
        case ".csv":
            return tuple(_with_instants(row, times) for row in csv_rows(content))
        case _:
            return tuple(_with_instants(row, times) for row in _json_rows(content))


def _with_instants(values: dict[str, Any], times: frozenset[str]) -> dict[str, Any]:
    for column in times & values.keys():
        if isinstance(values[column], str):
            values[column] = instant_of(values[column])
    return values


def _avro_rows(content: bytes) -> Iterator[dict[str, Any]]:
    fastavro = library("fastavro", "lab", "A proof with Avro")
    try:
        for row in fastavro.reader(BytesIO(content)):
            yield {name: plain(value) for name, value in row.items()}
    except Exception as problem:  # noqa: BLE001 -- what fastavro raises over a damaged file has no common type
        raise ValueError(f"no whole Avro file: {problem}") from None


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


def _json_rows(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a file with one JSON object a line; ValueError at the first line that is none."""
    text = content.decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError:
            raise ValueError(f"line {number} is no whole JSON object") from None
        yield values


def instant_of(text: str) -> Any:
    """Microseconds UTC of an ISO text; the text itself if it is none (a rejected row keeps what it had)."""
    try:
        return plain(datetime.fromisoformat(text))
    except ValueError:
        return text
