"""Protobuf: records as JSON, rows as messages, and a .proto file made of columns."""

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import DescriptorProto
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegralType,
    LongType,
    MapType,
    StructType,
    TimestampType,
)

from streamproof.connectors.registry.client import RegisteredSchema
from streamproof.connectors.registry.descriptors import ProtoFile, class_of, compiled
from streamproof.connectors.registry.resolving import require_readable
from streamproof.connectors.registry.wire import Broken, Undecodable, indexed, unindexed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
_TIMESTAMP = "google.protobuf.Timestamp"
_WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value" for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_OF_ANY_SHAPE = frozenset(f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue", "Any", "Duration", "FieldMask"))


@dataclass(frozen=True)
class ProtobufReader:
    """Reads a record of Protobuf as JSON: by the writer's message, or by the one of the reader's own file, where `file` gives its text."""

    type = "PROTOBUF"
    file: str | None = None
    message: str | None = None

    def opened(self, schema: RegisteredSchema, referred: Mapping[str, RegisteredSchema]) -> "ProtobufRecords":
        """What the records of a schema are read by; Broken where protoc does not take it."""
        writer = compiled(schema.text, {name: each.text for name, each in referred.items()})
        return ProtobufRecords(writer, None if self.file is None else compiled(self.file, {}).named(self.message))


@dataclass(frozen=True)
class ProtobufRecords:
    """The records of one schema; `own` is the reader's message."""

    writer: ProtoFile
    own: Any
    _kinds: dict[Sequence[int], Any] = field(default_factory=dict)

    def text(self, payload: bytes) -> bytes:
        """The record as JSON; Broken where its bytes are no such message."""
        indexes, content = unindexed(payload)
        message = self._kind(indexes)()
        try:
            message.MergeFromString(content)
            if not message.IsInitialized():
                raise Broken("does not take the record (a required field is missing)")
            return json.dumps(as_json(message), ensure_ascii=False, allow_nan=False).encode(errors="surrogateescape")
        except Broken:
            raise
        except (DecodeError, TypeError, ValueError, ArithmeticError, KeyError):
            # also what JSON has no words for: an Any of an unknown type, a Duration out of range, a Value that is no number
            raise Undecodable("broken record") from None

    def _kind(self, indexes: Sequence[int]) -> Any:
        """The class of messages that a record is read as; Broken where the writer's message is no other version of it."""
        if indexes not in self._kinds:
            written = self.writer.at(indexes)
            if self.own is not None and self.own.name != written.name:
                raise Broken(f"has {written.name} at the record's indexes, not {self.own.name}")
            if self.own is not None:
                require_readable(written, self.own)
            self._kinds[indexes] = class_of(written if self.own is None else self.own)
        return self._kinds[indexes]


def as_json(message: Any) -> Any:
    """A message as JSON has it, by the names of its fields; a field that tells whether it is set, and is not, is null.

    Raises
    ------
    Broken
        If a field's bytes are of another type than the field, or of an enum's value that it does not have: Protobuf puts them aside.
    """
    known = message.DESCRIPTOR.fields_by_number
    if any(aside.field_number in known for aside in UnknownFieldSet(message)):
        raise Broken("does not take the record (a field has bytes of another type)")
    name = message.DESCRIPTOR.full_name
    if name == _TIMESTAMP:
        return _instant(message)
    if name in _WRAPPERS:
        return _plain(message.DESCRIPTOR.fields_by_name["value"], message.value)
    if name in _OF_ANY_SHAPE:
        return json_format.MessageToDict(message, descriptor_pool=message.DESCRIPTOR.file.pool)
    return {field.name: _field(field, message) for field in message.DESCRIPTOR.fields}


def _field(field: Any, message: Any) -> Any:
    if field.has_presence and not message.HasField(field.name):
        return None
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return {_key(key): _value(inner, each) for key, each in value.items()}
    if field.is_repeated:
        return [_value(field, each) for each in value]
    return _value(field, value)


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value(field: Any, value: Any) -> Any:
    return as_json(value) if field.message_type is not None else _plain(field, value)


def _plain(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named is not None else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _instant(message: Any) -> str:
    if not _FIRST_SECOND <= message.seconds <= _LAST_SECOND or not 0 <= message.nanos < 1_000_000_000:
        raise Broken("has a timestamp out of range")
    instant = _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class ProtobufWriter:
    """Writes rows, given as JSON, as messages of a file, each after the index of its message."""

    file: str
    message: str | None

    def opened(self) -> Callable[[bytes], bytes]:
        """The function that writes a row."""
        file = compiled(self.file, {})
        descriptor = file.named(self.message)
        kind, head = class_of(descriptor), indexed([file.index_of(descriptor)])

        def written(row: bytes) -> bytes:
            message = json_format.ParseDict(json.loads(row), kind(), descriptor_pool=file.file.pool)
            return head + bytes(message.SerializeToString(deterministic=True))

        return written


def file_of(columns: StructType, name: str, before: str | None) -> str:
    """The .proto file of rows with these columns, every field optional; fields that `before`, the newest version, has keep their numbers."""
    known = compiled(before, {}).named(name) if before is not None else None
    body = _message(columns, name, known, "")
    time = 'import "google/protobuf/timestamp.proto";\n' if _TIMESTAMP in body else ""
    return f'syntax = "proto3";\n{time}{body}'


def _message(columns: StructType, name: str, known: Any, indent: str) -> str:
    numbers = {field.name: field.number for field in known.fields} if known is not None else {}
    kept = _reserved(known)
    last, lines = max([*numbers.values(), *kept], default=0), []
    for column in columns.fields:
        if column.name not in numbers:
            last += 1
            numbers[column.name] = last
        nested = known.nested_types_by_name.get(_nested(column.name)) if known is not None else None
        kind, inner = _typed(column.dataType, column.name, nested, f"{indent}  ")
        lines += [inner, f"{indent}  {kind} {column.name} = {numbers[column.name]};\n"]
    gone = sorted({*kept, *(number for field, number in numbers.items() if field not in columns.names)})
    if gone:  # nobody may take them again
        lines.append(f"{indent}  reserved {', '.join(map(str, gone))};\n")
    return f"{indent}message {name} {{\n{''.join(lines)}{indent}}}\n"


def _reserved(known: Any) -> list[int]:
    """The numbers that earlier versions of a message had."""
    if known is None:
        return []
    declared = DescriptorProto()
    known.CopyToProto(declared)
    return [number for taken in declared.reserved_range for number in range(taken.start, taken.end)]


def _typed(type_: DataType, name: str, known: Any, indent: str) -> tuple[str, str]:
    """How a field is declared, and the message that it needs."""
    if isinstance(type_, StructType):
        return f"optional {_nested(name)}", _message(type_, _nested(name), known, indent)
    if isinstance(type_, ArrayType | MapType):
        of = type_.elementType if isinstance(type_, ArrayType) else type_.valueType
        if isinstance(of, ArrayType | MapType):
            raise Broken(f"cannot be made of {name}: Protobuf has no {type_.simpleString()}; put a struct in between")
    if isinstance(type_, ArrayType):
        element, inner = _typed(type_.elementType, name, known, indent)
        return element.replace("optional", "repeated", 1), inner
    if isinstance(type_, MapType):
        value, inner = _typed(type_.valueType, name, known, indent)
        return f"map<string, {value.removeprefix('optional ')}>", inner
    return f"optional {_scalar(type_)}", ""


def _nested(name: str) -> str:
    return f"Of_{name}"


def _scalar(type_: DataType) -> str:
    if isinstance(type_, BooleanType):
        return "bool"
    if isinstance(type_, LongType):
        return "int64"
    if isinstance(type_, IntegralType):
        return "int32"
    if isinstance(type_, DoubleType):
        return "double"
    if isinstance(type_, FloatType):
        return "float"
    if isinstance(type_, BinaryType):
        return "bytes"
    return _TIMESTAMP if isinstance(type_, TimestampType) else "string"
