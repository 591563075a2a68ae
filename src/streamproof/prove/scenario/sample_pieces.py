"""A sample read piece by piece: the values of a few columns, at most some ten thousand records at a time, however large the file is."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.connectors.extras import library
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.left_out import LeftOut
from streamproof.prove.scenario.sample_lines import header_of, lines_of, object_in, row_in
from streamproof.prove.scenario.sample_types import from_csv

_ROWS = 50_000
KAFKA = "kafka."
"""Before the name of a column that Kafka gives a record, where the value of the record has fields of its own."""
_VALUES = ("value", "payload")

Piece = Sequence[Any]
"""For each column that was asked for its values: a list, or an array of Arrow's."""


def pieces(
    path: Path, format_: str, columns: Sequence[str], types: Mapping[str, str], *, value: str | None, left_out: LeftOut
) -> Iterator[Piece]:
    """The values of `columns`, in the order of the file; null where a record has none.

    Parameters
    ----------
    types
        The columns of the sample with their types in DDL: what a field of CSV is read as.
    value
        For records of Kafka the column whose objects of JSON hold the columns; None for all others.
    left_out
        Is told the lines that hold no record.

    Raises
    ------
    ScenarioError
        If a file of Parquet or Avro is damaged.
    """
    if format_ == "parquet" and value is None:
        yield from _parquet(path, columns)
        return
    needed = types if value is not None else {name: types.get(name, "string") for name in columns}
    rows = _ROWS_OF[format_](path, needed, left_out)
    of = record_of(value)
    while some := list(islice(rows, _ROWS)):
        records = [of(row) for row in some]
        yield [[record.get(name) for record in records] for name in columns]


def value_column(columns: Sequence[str]) -> str | None:
    """The column with the values of records of Kafka, if these are such: they have a partition and an offset."""
    if not {"partition", "offset"} <= set(columns):
        return None
    return next((name for name in _VALUES if name in columns), None)


def record_of(value: str | None) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """What makes a record of a row: for records of Kafka the fields of its value, and beside them what Kafka says, as "kafka.partition" and so on."""
    if value is None:
        return lambda row: row

    def unpacked(row: Mapping[str, Any]) -> Mapping[str, Any]:
        beside = {f"{KAFKA}{name}": one for name, one in row.items() if name != value}
        try:
            inner = json.loads(row.get(value) or "{}")
        except (ValueError, TypeError, RecursionError):
            inner = None
        return {**inner, **beside} if isinstance(inner, dict) else beside

    return unpacked


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Piece]:
    try:
        with pq.ParquetFile(path) as file:
            there = set(file.schema_arrow.names)
            for batch in file.iter_batches(_ROWS, columns=[name for name in dict.fromkeys(columns) if name in there]):
                yield [batch.column(name) if name in there else pa.nulls(batch.num_rows) for name in columns]
    except (pa.ArrowException, OSError, ValueError) as problem:
        said = (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")
        raise ScenarioError(f"{display(path)} cannot be read as Parquet: {said}.", remedy="Write it again.") from None


def _parquet_rows(path: Path, types: Mapping[str, str], _: LeftOut) -> Iterator[Mapping[str, Any]]:
    wanted = list(types)
    for piece in _parquet(path, wanted):
        yield from (dict(zip(wanted, row, strict=True)) for row in zip(*(column.to_pylist() for column in piece), strict=True))


def _json_rows(path: Path, types: Mapping[str, str], left_out: LeftOut) -> Iterator[Mapping[str, Any]]:  # noqa: ARG001 -- JSON says its types
    for number, _, text in lines_of(path, left_out):
        try:
            yield object_in(path, number, text)
        except ScenarioError as problem:
            left_out.add(number, "no object of JSON", problem)


def _text_rows(path: Path, types: Mapping[str, str], left_out: LeftOut) -> Iterator[Mapping[str, Any]]:  # noqa: ARG001 -- lines are texts
    for _, _, text in lines_of(path, left_out):
        yield {"value": text}


def _csv_rows(path: Path, types: Mapping[str, str], left_out: LeftOut) -> Iterator[Mapping[str, Any]]:
    lines = lines_of(path, left_out)
    first = next(lines, None)
    if first is None:
        return
    names = header_of(path, first[2])
    places = [(name, names.index(name), types.get(name, "string")) for name in types if name in names]
    for number, _, text in lines:
        fields = row_in(path, number, text, names, left_out)
        if fields is not None:
            yield {name: _typed(fields[place], type_) for name, place, type_ in places}


def _typed(field: str, type_: str) -> Any:
    try:
        return from_csv(field, type_)
    except (ValueError, ArithmeticError):
        return field


def _avro_rows(path: Path, types: Mapping[str, str], _: LeftOut) -> Iterator[Mapping[str, Any]]:  # noqa: ARG001 -- so does Avro
    fastavro = library("fastavro", "lab", "A sample in Avro")
    try:
        with path.open("rb") as file:
            yield from fastavro.reader(file)
    except (OSError, ValueError, EOFError, IndexError) as problem:
        raise ScenarioError(f"{display(path)} cannot be read as Avro: {problem}.", remedy="Write it again.") from None


_ROWS_OF: Mapping[str, Callable[[Path, Mapping[str, str], LeftOut], Iterator[Mapping[str, Any]]]] = {
    "json": _json_rows,
    "csv": _csv_rows,
    "text": _text_rows,
    "avro": _avro_rows,
    "parquet": _parquet_rows,
}
