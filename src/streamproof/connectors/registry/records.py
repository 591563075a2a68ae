"""Records in the wire format as columns; those that cannot be read keep their bytes, and say why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from streamproof import _jvm
from streamproof.connectors import json_records
from streamproof.connectors.extras import library
from streamproof.connectors.registry.client import MARK, SILENT, RegisteredSchema, Registry
from streamproof.connectors.registry.wire import Broken, Undecodable, unframed
from streamproof.core.clock import monotonic_seconds
from streamproof.errors import ConfigurationError, RegistryError, RegistryUnavailable
from streamproof.stream.names import CORRUPT, ORIGINAL, PROBLEM, RECORD_COLUMNS, TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamproof.config import KafkaSource

VALUE, _TEXT, _ID = RECORD_COLUMNS
_UNKNOWN_SECONDS = 5


def read(
    rows: DataFrame, name: str, source: "KafkaSource", schema: StructType, beside: Sequence[str], id_as: str | None
) -> DataFrame:
    """The rows with the columns of `schema`, `_problem` (why a record cannot be read; null of the others) and `_original` (binary).

    Parameters
    ----------
    rows
        `_record` (binary), and columns that are kept: `beside`, quoted.
    id_as
        The name of a column with the id of the writer's schema (int); None for none.

    Raises
    ------
    ConfigurationError
        If the columns cannot be read in this format.
    """
    assert source.registry is not None, "the configuration has one for these formats"
    registry = Registry.of(source.registry)
    ids = [F.col(_ID).alias(id_as)] if id_as is not None else []
    if source.format == "avro":
        read = _avro(rows, name, source, schema, beside, registry)
    else:
        read = _as_json(rows, name, source, schema, beside, registry)
    return read.select(*schema.names, *beside, *ids, PROBLEM, ORIGINAL)


def _avro(
    rows: DataFrame, name: str, source: "KafkaSource", schema: StructType, beside: Sequence[str], registry: Registry
) -> DataFrame:
    reader = None if source.schema_file is None else _text_of(source.schema_file)
    time = source.event_time
    units = {} if time is None or time.unit is None else {time.column: time.unit}
    try:
        made = _jvm.avro_record(
            rows.sparkSession,
            F.col(VALUE),
            schema,
            (PROBLEM, _ID),
            _with_trace(reader, schema),
            units,
            registry.address,
            registry.headers,
        )
    except _jvm.Refused as problem:
        raise ConfigurationError(
            f"[source.{name}] cannot be read as Avro: {problem}.",
            required="A reader's schema has a field for every column, of a type that fits it."
            if reader is not None
            else "Its columns must have types, and names, that Avro has.",
        ) from problem
    found = F.col("_parsed")
    columns = [found.getField(column).alias(column) for column in schema.names]
    parsed = rows.select(VALUE, made.alias("_parsed"), *beside)
    return parsed.select(
        *columns, *beside, found.getField(PROBLEM).alias(PROBLEM), found.getField(_ID).alias(_ID), F.col(VALUE).alias(ORIGINAL)
    )


def _with_trace(reader: str | None, schema: StructType) -> str | None:
    """The reader's schema with the hidden column of proofs, where it is read."""
    if reader is None or TRACE not in schema.names:
        return reader
    import json

    found = json.loads(reader)
    found["fields"].append({"name": TRACE, "type": ["null", "string"], "default": None})
    return json.dumps(found)


def _as_json(
    rows: DataFrame, name: str, source: "KafkaSource", schema: StructType, beside: Sequence[str], registry: Registry
) -> DataFrame:
    """By way of JSON: Python looks the schema up and gives the record's text, which is parsed into the columns as any JSON is."""
    kept = [VALUE, *beside]
    fields = [rows.schema[column.strip("`")] for column in kept]
    made = [StructField(_TEXT, BinaryType()), StructField(PROBLEM, StringType()), StructField(_ID, IntegerType())]
    reading = Reading(registry, reader_of(name, source))
    texts = rows.select(*kept).mapInArrow(reading.texts, StructType([*fields, *made]))
    text = F.col(_TEXT).cast("string")
    parsed = json_records.parsed(texts, text, schema, beside=[*beside, VALUE, PROBLEM, _ID], lenient=source.lenient)
    unfit: Column = F.when(F.col(CORRUPT) == json_records.UNREADABLE, F.lit("does not fit the columns")).otherwise(F.col(CORRUPT))
    if source.format == "json_schema" and not source.validates:
        more = _jvm.text_behind_record(rows.sparkSession, F.col(ORIGINAL))
        unfit = F.when(more, F.lit("more than a record in its value")).otherwise(unfit)
    return parsed.withColumn(PROBLEM, F.coalesce(F.col(PROBLEM), unfit)).drop(CORRUPT, ORIGINAL).withColumnRenamed(VALUE, ORIGINAL)


class Records(Protocol):
    """The records of one schema."""

    def text(self, payload: bytes) -> bytes:
        """A record as JSON; Broken where it cannot be read."""


class Reader(Protocol):
    """A format whose records are read in Python."""

    type: Any

    def opened(self, schema: RegisteredSchema, referred: "Mapping[str, RegisteredSchema]") -> Records:
        """What the records of a schema are read by; Broken where it is none."""


def reader_of(name: str, source: "KafkaSource") -> Reader:
    """What reads a source's records; MissingExtra, or ConfigurationError where the reader's own file is none."""
    if source.format == "json_schema":
        library("jsonschema", "registry", "The format json_schema")
        from streamproof.connectors.registry.json_schema import JsonReader

        return JsonReader(source.validates)
    library("grpc_tools", "registry", "The format protobuf")
    from streamproof.connectors.registry.descriptors import compiled
    from streamproof.connectors.registry.protobuf import ProtobufReader

    text = None if source.schema_file is None else _text_of(source.schema_file)
    try:
        if text is not None:
            compiled(text, {}).named(source.message)
    except Broken as problem:
        raise ConfigurationError(f"[source.{name}] schema_file {source.schema_file} {problem}.") from problem
    return ProtobufReader(text, source.message)


@dataclass(frozen=True)
class Reading:
    """What a Python worker needs to read records."""

    registry: Registry
    reader: Reader

    def texts(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Adds to each record its text as JSON (binary), why it cannot be read (string), and the id of its schema (int)."""
        looked = _Looked(self.registry, self.reader)
        for batch in batches:
            found = [looked.read(value) for value in batch.column(VALUE).to_pylist()]
            made: list[pa.Array[Any]] = [
                pa.array([text for text, _, _ in found], pa.binary()),
                pa.array([problem for _, problem, _ in found], pa.string()),
                pa.array([schema_id for _, _, schema_id in found], pa.int32()),
            ]
            yield pa.RecordBatch.from_arrays([*batch.columns, *made], names=[*batch.schema.names, _TEXT, PROBLEM, _ID])


class _Looked:
    """The schemas that a task has come across: each looked up once, those that are not known again after a while."""

    def __init__(self, registry: Registry, reader: Reader) -> None:
        self._registry, self._reader = registry, reader
        self._known: dict[int, Records | str] = {}
        self._unknown: dict[int, float] = {}

    def read(self, value: bytes | None) -> tuple[bytes | None, str | None, int | None]:
        if value is None:
            return None, "no value", None
        try:
            schema_id, payload = unframed(value)
        except Broken as problem:
            return None, str(problem), None
        shown = schema_id if schema_id < 2**31 else schema_id - 2**32  # as Java has it
        records = self._records(schema_id)
        if isinstance(records, str):
            return None, records, shown
        try:
            return records.text(payload), None, shown
        except Undecodable as problem:
            return None, f"{problem} of schema {shown}", shown
        except Broken as problem:
            return None, f"schema {shown} {problem}", shown

    def _records(self, schema_id: int) -> Records | str:
        """What reads the records of a schema; why they cannot be read."""
        found = self._known.get(schema_id)
        if found is not None:
            return found
        if schema_id >= 2**31:  # no registry gives such an id; Java has it as a negative number
            return f"unknown schema {schema_id - 2**32}"
        unknown = f"unknown schema {schema_id}"
        if monotonic_seconds() - self._unknown.get(schema_id, -_UNKNOWN_SECONDS) < _UNKNOWN_SECONDS:
            return unknown
        try:
            schema = self._registry.schema(schema_id)
            referred = self._registry.referred(schema) if schema is not None else {}
        except RegistryError as problem:
            silent = SILENT if isinstance(problem, RegistryUnavailable) else ""
            raise RuntimeError(f"{MARK}{silent}{problem}") from None
        if schema is None:
            self._unknown[schema_id] = monotonic_seconds()
            return unknown
        self._known[schema_id] = self._opened(schema_id, schema, referred)
        return self._known[schema_id]

    def _opened(self, schema_id: int, schema: RegisteredSchema, referred: "Mapping[str, RegisteredSchema]") -> Records | str:
        if schema.type != self._reader.type:
            return f"schema {schema_id} is of the type {schema.type}, not {self._reader.type}"
        try:
            return self._reader.opened(schema, referred)
        except Broken as problem:
            return f"schema {schema_id} {problem}"


def _text_of(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")
