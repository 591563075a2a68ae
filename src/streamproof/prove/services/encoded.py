"""Events and rows in a registry's wire format: what a proof writes to its topics, and reads back from them.

Avro is written and read by another library than the product's own way, so that both would have to be wrong alike.
"""

import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark

from streamproof.config import RegistryConfig
from streamproof.connectors.extras import library
from streamproof.connectors.registry.client import RegisteredSchema, Registry
from streamproof.connectors.registry.wire import framed, unframed
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.generate import TRACE, Event, Kind, without_trace

if TYPE_CHECKING:
    from streamproof.config import KafkaSource

_UNKNOWN = 2**31 - 1
"""An id that no registry has given."""
_NAME = "Event"
_AVRO: Mapping[str, Any] = {
    "string": "string",
    "boolean": "boolean",
    "tinyint": "int",
    "byte": "int",
    "smallint": "int",
    "short": "int",
    "int": "int",
    "integer": "int",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamp_ltz": {"type": "long", "logicalType": "timestamp-micros"},
}
_SPARK: Mapping[str, spark.DataType] = {
    "string": spark.StringType(),
    "boolean": spark.BooleanType(),
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
}

Encode = Callable[[Event], bytes]


def encoded(
    events: Iterable[Event], source: "KafkaSource", columns: Mapping[str, str], url: str, topic: str, *, trace: bool
) -> list[Event]:
    """The events with their records in the source's format, by a schema that is registered for the topic; without `trace` as they are shipped.

    A malformed event stays malformed: bytes without a header, or with the id of no schema.

    Raises
    ------
    ScenarioError
        If a column has a type that events are not written in.
    """
    # A reason names the schema of a JSON record that it does not take: both topics have one, or what is shipped would differ in it.
    shown = {**({TRACE: "string"} if trace or source.format == "json_schema" else {}), **columns}
    for name, declared in columns.items():
        if declared not in _AVRO:
            raise ScenarioError(
                f'The generator cannot write the column "{name}" of type "{declared}" as {source.format}.',
                required=f"It knows {', '.join(_AVRO)}.",
            )
    registry = Registry.of(RegistryConfig(url=url))
    write = {"avro": _avro, "json_schema": _json, "protobuf": _protobuf}[source.format](registry, f"{topic}-value", shown)

    def record(event: Event) -> bytes:
        text = event.record if trace else without_trace(event.record)
        if event.kind is Kind.MALFORMED:
            return framed(_UNKNOWN, text) if event.arrival % 2 else text
        return write(replace(event, record=text))

    return [replace(event, record=record(event)) for event in events]


def _avro(registry: Registry, subject: str, columns: Mapping[str, str]) -> Encode:
    fastavro = library("fastavro", "lab", "A proof with Avro")
    fields = [{"name": name, "type": ["null", _AVRO[kind]], "default": None} for name, kind in columns.items()]
    schema = {"type": "record", "name": _NAME, "fields": fields}
    schema_id, parsed = registry.register(subject, RegisteredSchema("AVRO", json.dumps(schema))), fastavro.parse_schema(schema)

    def write(event: Event) -> bytes:
        written = io.BytesIO()
        values = {TRACE: event.trace, **event.values}
        try:
            fastavro.schemaless_writer(written, parsed, {name: values.get(name) for name in columns})
        except (ValueError, TypeError) as problem:
            raise ScenarioError(f"The values of the scenario are not of the types of the columns: {problem}.") from None
        return framed(schema_id, written.getvalue())

    return write


def _json(registry: Registry, subject: str, columns: Mapping[str, str]) -> Encode:
    library("jsonschema", "registry", "A proof with json_schema")
    from streamproof.connectors.registry.json_schema import schema_of

    schema_id = registry.register(subject, RegisteredSchema("JSON", schema_of(_struct(columns), _NAME)))
    return lambda event: framed(schema_id, event.record)


def _protobuf(registry: Registry, subject: str, columns: Mapping[str, str]) -> Encode:
    library("grpc_tools", "registry", "A proof with protobuf")
    from streamproof.connectors.registry.protobuf import ProtobufWriter, file_of

    file = file_of(_struct(columns), _NAME, None)
    schema_id, write = registry.register(subject, RegisteredSchema("PROTOBUF", file)), ProtobufWriter(file, _NAME).opened()
    return lambda event: framed(schema_id, write(event.record))


def _struct(columns: Mapping[str, str]) -> spark.StructType:
    fields = []
    for name, kind in columns.items():
        avro = _AVRO[kind]
        fields.append(spark.StructField(name, _SPARK[avro] if isinstance(avro, str) else spark.TimestampType()))
    return spark.StructType(fields)


@dataclass
class Decoding:
    """Reads rows back from a topic, as JSON has them."""

    registry: Registry
    _known: dict[int, Callable[[bytes], Any]] = field(default_factory=dict)

    def row(self, value: bytes) -> dict[str, Any]:
        schema_id, payload = unframed(value)
        if schema_id not in self._known:
            self._known[schema_id] = self._reader(schema_id)
        found: dict[str, Any] = self._known[schema_id](payload)
        return found

    def _reader(self, schema_id: int) -> Callable[[bytes], Any]:
        schema = self.registry.schema(schema_id)
        assert schema is not None, "what was written names a schema that was registered"
        if schema.type == "JSON":
            return json.loads
        if schema.type == "PROTOBUF":
            from streamproof.connectors.registry.protobuf import ProtobufReader

            records = ProtobufReader().opened(schema, {})
            return lambda payload: json.loads(records.text(payload))
        fastavro = library("fastavro", "lab", "A proof with Avro")
        parsed = fastavro.parse_schema(json.loads(schema.text))
        return lambda payload: _plain(fastavro.schemaless_reader(io.BytesIO(payload), parsed))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return b64encode(value).decode() if isinstance(value, bytes) else value
