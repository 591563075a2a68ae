"""Rows in the wire format: which schema they are written by is settled before the first batch, by its id."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DecimalType, MapType, StringType, StructField, StructType

from streamproof import _jvm
from streamproof.connectors.extras import library
from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.registry.client import MARK_OF_ROW, SCHEMA_TYPES, RegisteredSchema, Registry
from streamproof.connectors.registry.wire import Broken, framed
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamproof.config import KafkaSink


class Values:
    """How the rows of an output become values of records."""

    def value(self, row: Column) -> Column:
        """The value (binary) of a row (struct)."""
        return F.to_json(row, WRITTEN).cast("binary")

    def finished(self, records: DataFrame) -> DataFrame:
        """The records, when their columns `value` are what `value` has made."""
        return records


def settled(spark: SparkSession, output: str, config: "KafkaSink", columns: StructType) -> Values:
    """How rows with these columns are written, their schema registered, or looked up where `register` is false.

    Raises
    ------
    ConfigurationError
        If the columns have no schema in the format, or the registry refuses it, or does not know it.
    RegistryError
        If the registry does not answer.
    """
    if config.registry is None:
        return Values()
    return _Settling(spark, output, config, columns, Registry.of(config.registry)).values()


@dataclass(frozen=True)
class _Settling:
    spark: SparkSession
    output: str
    config: "KafkaSink"
    columns: StructType
    registry: Registry

    @property
    def subject(self) -> str:
        return self.config.subject or f"{self.config.topic}-value"

    @property
    def name(self) -> str:
        """What a schema made of columns is called: the same in every topic, so that proofs and copies write the same one."""
        return re.sub(r"\W", "_", self.output)

    def values(self) -> Values:
        if self.config.format == "avro":
            return self._avro()
        if self.config.format == "json_schema":
            return self._json()
        return self._protobuf()

    def _avro(self) -> Values:
        try:
            text = self._own() or _jvm.avro_schema(self.spark, self.columns, self.name)
            _jvm.avro_value(self.spark, F.lit(None), self.columns, text, 0)  # looked at before it is registered for ever
        except _jvm.Refused as problem:
            raise self._unfit(str(problem)) from problem
        return _AvroValues(self.spark, self.columns, text, self._id(text))

    def _json(self) -> Values:
        library("jsonschema", "registry", "The format json_schema")
        from streamproof.connectors.registry.json_schema import JsonReader, schema_of

        own = self._own()
        text = own or schema_of(self.columns, self.name)
        try:
            check = None if own is None else JsonReader(validates=True).opened(RegisteredSchema("JSON", text), {})
        except Broken as problem:
            raise self._unfit(f"the file {problem}") from problem
        return _MadeInPython(JsonMaker(self._id(text), None if check is None else text))

    def _protobuf(self) -> Values:
        library("grpc_tools", "registry", "The format protobuf")
        from streamproof.connectors.registry.descriptors import compiled
        from streamproof.connectors.registry.protobuf import file_of

        message = self.config.message
        try:
            text = self._own()
            if text is None:
                newest = self.registry.version(self.subject, "latest")
                text, message = file_of(self.columns, self.name, newest.text if newest is not None else None), self.name
            fields = compiled(text, {}).named(message).fields_by_name
        except Broken as problem:
            raise self._unfit(str(problem)) from problem
        missing = [name for name in self.columns.names if name not in fields]
        if missing:
            raise self._unfit(f"the message has no field {missing[0]}")
        return _MadeInPython(ProtobufMaker(self._id(text), text, message), _without_decimals(self.columns))

    def _own(self) -> str | None:
        return None if self.config.schema_file is None else Path(self.config.schema_file).read_text(encoding="utf-8")

    def _unfit(self, said: str) -> ConfigurationError:
        made = "its columns" if self.config.schema_file is None else self.config.schema_file
        return ConfigurationError(
            f"[sink.{self.output}] cannot be written as {self.config.format} by {made}: {said}.",
            required=f"Its columns are {self.columns.simpleString()[7:-1]}.",
        )

    def _id(self, text: str) -> int:
        schema = RegisteredSchema(SCHEMA_TYPES[self.config.format], text)
        if self.config.registers:
            return self.registry.register(self.subject, schema)
        found = self.registry.id_of(self.subject, schema)
        if found is None:
            raise ConfigurationError(
                f"[sink.{self.output}] register = false, and the schema registry {self.registry.address} does not have its schema "
                f"under {self.subject}.",
                required=f"The schema is {text if len(text) < 1_000 else f'{text[:1_000]}…'}",
                remedy="Register it, name the registered one by schema_file, or take register = false out.",
            )
        return found


@dataclass(frozen=True)
class _AvroValues(Values):
    """Written by Spark's own converter, in generated code."""

    spark: SparkSession
    columns: StructType
    schema: str
    schema_id: int

    def value(self, row: Column) -> Column:
        return _jvm.avro_value(self.spark, row, self.columns, self.schema, self.schema_id)


@dataclass(frozen=True)
class _MadeInPython(Values):
    """Written as JSON first, which Python makes a record of."""

    maker: "JsonMaker | ProtobufMaker"
    as_text: StructType | None = None
    """The columns with texts for decimals, which Protobuf has no type for."""

    def value(self, row: Column) -> Column:
        if isinstance(self.maker, JsonMaker) and self.maker.schema is None:
            return F.concat(F.lit(framed(self.maker.schema_id)), super().value(row))
        return super().value(row if self.as_text is None else row.cast(self.as_text))

    def finished(self, records: DataFrame) -> DataFrame:
        if isinstance(self.maker, JsonMaker) and self.maker.schema is None:
            return records
        return records.mapInArrow(self.maker.made, records.schema)


class _Maker(ABC):
    def made(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Puts the record of each row into the place of its JSON, in the column `value`."""
        write = self.opened()
        for batch in batches:
            at = batch.schema.get_field_index("value")
            values = [None if row is None else write(row) for row in batch.column(at).to_pylist()]
            columns = [
                pa.array(values, pa.binary()) if number == at else batch.column(number) for number in range(batch.num_columns)
            ]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    @abstractmethod
    def opened(self) -> "Callable[[bytes], bytes]":
        """What makes a record of a row's JSON; one for a task."""


@dataclass(frozen=True)
class JsonMaker(_Maker):
    """Holds rows against a schema that was not made of their columns; None for one that was."""

    schema_id: int
    schema: str | None

    def opened(self) -> "Callable[[bytes], bytes]":
        from streamproof.connectors.registry.json_schema import JsonReader

        check = JsonReader(validates=True).opened(RegisteredSchema("JSON", self.schema or "{}"), {})

        def written(row: bytes) -> bytes:
            try:
                return framed(self.schema_id, check.text(row))
            except Broken as problem:
                raise RuntimeError(f"{MARK_OF_ROW}schema {self.schema_id}, which rows are written by, {problem}") from None

        return written


@dataclass(frozen=True)
class ProtobufMaker(_Maker):
    """Writes rows as messages."""

    schema_id: int
    file: str
    message: str | None

    def opened(self) -> "Callable[[bytes], bytes]":
        from streamproof.connectors.registry.protobuf import ProtobufWriter

        write = ProtobufWriter(self.file, self.message).opened()

        def written(row: bytes) -> bytes:
            try:
                return framed(self.schema_id, write(row))
            except Exception as problem:  # noqa: BLE001 -- what a message does not take has no common type, and its text holds values
                raise RuntimeError(
                    f"{MARK_OF_ROW}a row does not fit schema {self.schema_id}, which it is written by ({type(problem).__name__})"
                ) from None

        return written


def _without_decimals(type_: Any) -> Any:
    """The type with a string in the place of each decimal."""
    if isinstance(type_, StructType):
        fields = [StructField(field.name, _without_decimals(field.dataType), field.nullable) for field in type_.fields]
        return StructType(fields)
    if isinstance(type_, ArrayType):
        return ArrayType(_without_decimals(type_.elementType), type_.containsNull)
    if isinstance(type_, MapType):
        return MapType(type_.keyType, _without_decimals(type_.valueType), type_.valueContainsNull)
    return StringType() if isinstance(type_, DecimalType) else type_
