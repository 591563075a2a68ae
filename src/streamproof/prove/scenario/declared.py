"""A schema that is said beside a sample: DDL, or a file that holds DDL or Spark's JSON of a schema; and the sample as it reads by it.

A JSON sample gives a time as a text, and a function of DataFrames expects a timestamp. With a schema the events come as Spark reads the sample by it.
Whether the values fit is found out here, without Spark.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from streamproof.config.columns import UnreadableSchema, typed_columns_of
from streamproof.config.problems import did_you_mean
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.declared_values import Misfit, Read, reader_of
from streamproof.prove.scenario.left_out import said_lines
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_lines import fields_of
from streamproof.prove.scenario.sample_records import Record
from streamproof.prove.scenario.sample_time import id_column, time_columns
from streamproof.prove.scenario.sample_types import ddl_of, struct_ddl

_MOST_BROKEN = 0.05
"""Where more of a column's values do not fit, the schema is wrong; below that the values are, and they come as null."""
_REQUIRED = 'A schema is columns with their types in Spark\'s DDL, such as "user string, at timestamp", or a file that holds it.'


@dataclass(frozen=True)
class SampleFile:
    """A sample with what is said beside its file.

    Parameters
    ----------
    path
        The file, "clicks.jsonl"; "kafka:clicks.jsonl" gives a function of DataFrames Kafka's columns.
    schema
        Its columns with their types in Spark's DDL, "user string, at timestamp"; or a file that holds DDL or Spark's JSON of a schema. None
        where the types are told from the records.
    """

    path: str
    schema: str | None = None


def sample(path: str | Path, *, schema: str | Path | None = None) -> SampleFile:
    """A sample of an input of a plain PySpark job, for `inputs` of `sp.prove`.

    Parameters
    ----------
    path
        The file: JSON lines, CSV, Parquet or Avro.
    schema
        Its columns with their types in Spark's DDL, "user string, at timestamp"; or a file that holds DDL or Spark's JSON of a schema
        (`frame.schema.json()`). The job gets these columns, as Spark reads them by this schema. Without it: what Spark infers by default,
        where a time in JSON is a string.
    """
    return SampleFile(str(path), None if schema is None else str(schema))


def declared_columns(name: str, schema: str) -> dict[str, str]:
    """The columns that a schema names, with their types in DDL; `schema` is a text, or the place of a file.

    Raises
    ------
    ScenarioError
        If it is neither.
    """
    text, where = _text_of(name, schema)
    if text.lstrip().startswith("{"):
        return _of_json(text, where)
    try:
        return typed_columns_of(" ".join(text.split()))
    except UnreadableSchema as problem:
        raise ScenarioError(f"{where}: it {str(problem).rstrip('.')}.", required=_REQUIRED, remedy=_file_hint(schema)) from None


def as_declared(sample: Sample, columns: Mapping[str, str]) -> Sample:
    """The sample as Spark reads it by a schema; columns that the schema does not name are left out, as Spark leaves them out.

    Raises
    ------
    ScenarioError
        If the sample has no such column, or its values are of another type: with their number and their lines.
    """
    for name in columns:
        _require_column(sample, name)
    readers = {name: _reader(sample, name, type_) for name, type_ in columns.items()}
    values: dict[str, list[Any]] = {}
    notes = []
    raws = list(_raw_values(sample))
    for name, read in readers.items():
        values[name], misfits, present = _read(raws, name, read)
        if misfits and len(misfits) > _MOST_BROKEN * present:
            raise _does_not_fit(sample, name, columns[name], misfits, present)
        if misfits:
            lines = _lines(sample, [one.place for one in misfits])
            notes.append(
                f"{display(sample.path)}: {len(misfits):,} of {present:,} values of {name} are no {columns[name]}, {lines}; Spark reads them as null."
            )
    others = [name for name in sample.columns if name not in columns]
    if others:
        notes.append(f"{display(sample.path)}: the schema leaves out {', '.join(others)}.")
    return _retyped(sample, columns, values, tuple(notes))


def _retyped(sample: Sample, columns: Mapping[str, str], values: Mapping[str, Sequence[Any]], notes: tuple[str, ...]) -> Sample:
    records = [
        replace(record, values={**record.values, **{name: values[name][place] for name in columns}})
        for place, record in enumerate(sample.records)
    ]
    by_column = {name: [record.values[name] for record in records] for name in sample.columns}
    times = time_columns(by_column)
    inferred = [note for name, note in sample.of_types.items() if name in columns]
    found = replace(
        sample,
        records=records,
        columns=dict(columns),
        schema=_read_schema(sample, columns),
        kept=tuple(columns) if sample.format == "csv" else (),
        time=times[0] if times else None,
        id_column=id_column(by_column, times),
        notes=(*(note for note in sample.notes if note not in inferred), *notes),
    )
    return found if sample.format in ("json", "csv") else _as_lines(found)


def _read_schema(sample: Sample, columns: Mapping[str, str]) -> str:
    """What a reader of Spark is given: a CSV file has its columns by their places, so that all of them are named."""
    if sample.format != "csv":
        return ddl_of(columns)
    return ddl_of({name: columns.get(name, "string") for name in sample.columns})


def _as_lines(sample: Sample) -> Sample:
    """A file whose types are its own, as JSON: Spark refuses to read it with other types."""
    from streamproof.prove.scenario.sample_as_json import json_text

    kept = [
        Record(json_text({name: record.values[name] for name in sample.columns}).encode(), record.values)
        for record in sample.records
    ]
    return replace(sample, format="json", records=kept, written=replace(sample.written, header=None, layout=None, whole_lines=True))


def _text_of(name: str, schema: str) -> tuple[str, str]:
    where = f"--schema {name}"
    if not schema.strip():
        raise ScenarioError(f"{where} is empty.", required=_REQUIRED)
    path = Path(schema)
    try:
        is_file = "\n" not in schema and path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        return schema, where
    try:
        return path.read_text(encoding="utf-8-sig"), f"{where} in {display(path)}"
    except (OSError, UnicodeDecodeError) as problem:
        raise ScenarioError(f"{display(path)} cannot be read: {problem}.", required=_REQUIRED) from None


def _file_hint(schema: str) -> str:
    looks = len(schema.split()) == 1 and ("/" in schema or "." in schema)
    return f"If {schema} is meant as a file: there is none of that name." if looks else ""


def _of_json(text: str, where: str) -> dict[str, str]:
    required = 'Spark\'s JSON of a schema is what frame.schema.json() gives: {"type": "struct", "fields": [...]}.'
    try:
        found = json.loads(text)
        fields = {field["name"]: _ddl(field["type"]) for field in found["fields"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ScenarioError(f"{where}: it is no schema of Spark's in JSON.", required=required) from None
    try:
        return typed_columns_of(ddl_of(fields))
    except UnreadableSchema as problem:
        raise ScenarioError(f"{where}: it {str(problem).rstrip('.')}.", required=required) from None


def _ddl(type_: Any) -> str:
    if isinstance(type_, str):
        return type_
    kind = type_["type"]
    if kind == "array":
        return f"array<{_ddl(type_['elementType'])}>"
    if kind == "map":
        return f"map<{_ddl(type_['keyType'])}, {_ddl(type_['valueType'])}>"
    if kind == "struct":
        return struct_ddl({field["name"]: _ddl(field["type"]) for field in type_["fields"]})
    raise KeyError(kind)


def _require_column(sample: Sample, name: str) -> None:
    if name in sample.columns:
        return
    count = len(sample.records)
    raise ScenarioError(
        f'--schema {sample.name} has the column "{name}", and none of the {count:,} records of {display(sample.path)} has it.'
        f"{did_you_mean(name, list(sample.columns))}",
        required=f"The columns of the sample are {', '.join(sample.columns)}.",
        remedy="Name the column as the sample does, or leave it out.",
    )


def _reader(sample: Sample, name: str, type_: str) -> Read:
    try:
        return reader_of(type_, fields=sample.format == "csv")
    except ValueError as problem:
        raise ScenarioError(f"--schema {sample.name} gives {name} the type {type_}: {problem}.", required=_REQUIRED) from None


def _raw_values(sample: Sample) -> Iterator[Mapping[str, Any]]:
    """What each record holds as it stands in the file, before any type was inferred."""
    for record in sample.records:
        if record.raw is None:
            yield record.values
        elif sample.format == "csv":
            row = fields_of(sample.path, record.line, record.raw.decode())
            yield {name: field or None for name, field in zip(sample.columns, row, strict=True)}
        else:
            yield json.loads(record.raw)


@dataclass(frozen=True)
class _Unfit:
    """A value that is none of its column's type: its place among the records, the reason in words, whether it is a number."""

    place: int
    why: str
    number: bool


def _read(raws: Sequence[Mapping[str, Any]], name: str, read: Read) -> tuple[list[Any], list[_Unfit], int]:
    """The values of a column by its type, those that do not fit, and how many are there."""
    values: list[Any] = []
    misfits: list[_Unfit] = []
    present = 0
    for place, raw in enumerate(raws):
        value = raw.get(name)
        present += value is not None
        try:
            values.append(None if value is None else read(value))
        except Misfit as problem:
            values.append(None)
            misfits.append(_Unfit(place, str(problem), isinstance(value, int | float | Decimal) and not isinstance(value, bool)))
    return values, misfits, present


def _does_not_fit(sample: Sample, name: str, type_: str, misfits: Sequence[_Unfit], present: int) -> ScenarioError:
    reasons = list(dict.fromkeys(one.why for one in misfits))
    lines = _lines(sample, [one.place for one in misfits])
    return ScenarioError(
        f"--schema {sample.name} says {name} {type_}, and {len(misfits):,} of {present:,} values of {name} in {display(sample.path)} are none, {lines}: "
        f"{'; '.join(reasons[:2])}.",
        required=f"Spark would read each of them as null. The sample has {name} as {sample.columns[name]}.",
        remedy=_instead(type_, numbers=any(one.number for one in misfits)),
    )


def _instead(type_: str, *, numbers: bool) -> str:
    if type_.startswith("timestamp") and numbers:
        return "Declare it as long, and make the timestamp in the job: timestamp_millis(...)."
    if type_.startswith(("timestamp", "date")):
        return "Declare it as string, and let the job parse it: to_timestamp(column, format). Or mend the sample."
    return "Declare it as string, and let the job cast it. Or mend the sample."


def _lines(sample: Sample, places: Sequence[int]) -> str:
    return said_lines([sample.records[place].line or place + 1 for place in places], "line" if sample.records[0].line else "record")
