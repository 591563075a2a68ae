"""The schedule: events as files whose modification times make the file source take exactly the scenario's batches."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from streamproof.core.clock import to_micros
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.avro_file import write_avro
from streamproof.prove.scenario.generate import TRACE, Event, without_trace

_FIRST_FILE_US = to_micros(datetime(2026, 1, 1, tzinfo=UTC))
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "tinyint": pa.int8(),
    "short": pa.int16(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ltz": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "date": pa.date32(),
}
_WRITERS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    "parquet": lambda table, path: pq.write_table(table, path, coerce_timestamps="us"),
    "orc": lambda table, path: orc.write_table(table, path),
    "avro": write_avro,
}
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)(?:\((\d+)\s*,\s*(\d+)\))?")


def write_events(
    events: Iterable[Event],
    folder: Path,
    file_format: str,
    *,
    schema_columns: Mapping[str, str],
    header: Callable[[int], bytes | None] | None = None,
    trace: bool = True,
    prefix: str = "",
    partitions: int = 0,
) -> dict[str, list[str]]:
    """Write the events as `part-B-P.json`, `.csv` and so on, and say which traces each file holds, in their order.

    Spark's file source takes files in the order of their modification time: with `maxFilesPerTrigger` = files per batch, every
    micro-batch is one batch of the scenario.

    Parameters
    ----------
    events
        From `generate`; for files of lines with their records as `in_lines` makes them.
    folder
        Where the files go; made if it is not there.
    schema_columns
        Columns of a Parquet or Avro file with their types as in Spark's DDL; not used for lines.
    header
        By the number of its partition the first line of a file; None where it has none.
    prefix
        What the names of its files begin with: where there are several sources, no two files may be called alike.
    partitions
        How many files a batch has at least: one without an event is empty, so that none of the next batch is taken for it.
    trace
        False leaves `_trace` out: what the shipped plan reads. Lines of CSV and text are without it from `in_lines`.

    Raises
    ------
    ScenarioError
        If a column of a Parquet or Avro file has a type that the generator cannot write.
    """
    folder.mkdir(parents=True, exist_ok=True)
    all_of_them = list(events)
    batches = 1 + max((event.batch for event in all_of_them), default=-1)
    files: dict[tuple[int, int], list[Event]] = {(batch, number): [] for batch in range(batches) for number in range(partitions)}
    for event in all_of_them:
        files.setdefault((event.batch, event.partition), []).append(event)
    traces: dict[str, list[str]] = {}
    for number, (batch, partition) in enumerate(sorted(files)):
        content = files[batch, partition]
        path = folder / f"{prefix}part-{batch}-{partition}.{file_format}"
        if file_format in _WRITERS:
            _WRITERS[file_format](_table(content, schema_columns, trace=trace), path)
        else:
            first = None if header is None else header(partition)
            lines = [
                *([] if first is None else [first]),
                *(event.record if trace else without_trace(event.record) for event in content),
            ]
            path.write_bytes(b"".join(line + b"\n" for line in lines))
        set_age(path, number)
        traces[path.name] = [event.trace for event in content]
    return traces


def set_age(path: Path, number: int) -> None:
    """Gives the file the modification time of the file `number` of a source: a second later than the one before."""
    modified_ns = (_FIRST_FILE_US + number * 1_000_000) * 1_000
    os.utime(path, ns=(modified_ns, modified_ns))


def _table(events: Sequence[Event], columns: Mapping[str, str], *, trace: bool) -> pa.Table:
    table = arrow_table([event.values for event in events], columns)
    return table.add_column(0, TRACE, pa.array([event.trace for event in events], pa.string())) if trace else table


def arrow_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pa.Table:
    """Rows as columns of their types, which are written as in Spark's DDL.

    Raises
    ------
    ScenarioError
        If a type is not known, or a value is not of it.
    """
    return table_of(rows, {name: type_of_column(name, declared) for name, declared in columns.items()})


def table_of(rows: Sequence[Mapping[str, Any]], types: Mapping[str, pa.DataType]) -> pa.Table:
    """Rows as columns of their types; ScenarioError if a value is not of its."""
    return pa.table({name: _array([row.get(name) for row in rows], name, kind) for name, kind in types.items()})


def _array(values: list[Any], name: str, kind: pa.DataType) -> Any:
    try:
        if pa.types.is_decimal(kind):
            return pa.array([None if value is None else str(value) for value in values], pa.string()).cast(kind)
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise ScenarioError(f'The values of the column "{name}" are not of its type {kind}: {problem}.') from None


def type_of_column(name: str, declared: str) -> pa.DataType:
    """The type of a column; ScenarioError where it is not known."""
    written = declared.strip().lower()
    if found := _DECIMAL.fullmatch(written):
        return pa.decimal128(int(found[1] or 10), int(found[2] or 0))
    kind = _TYPES.get(re.sub(r"\(.*\)", "", written))
    if kind is None:
        raise ScenarioError(
            f'The generator cannot write the column "{name}" of type "{declared}" to Parquet.',
            required=f"It knows {', '.join(_TYPES)}.",
        )
    return kind
