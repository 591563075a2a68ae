"""A real registry for tests: schemas registered in it, and records in its wire format."""

import io
import json
import struct
from collections.abc import Mapping
from typing import Any

import fastavro
import httpx


def registered(url: str, subject: str, schema: Mapping[str, Any] | str, kind: str = "AVRO") -> int:
    """Registers a schema, and gives its id."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text, "schemaType": kind})
    answer.raise_for_status()
    return int(answer.json()["id"])


def asks_for(url: str, subject: str, level: str) -> None:
    """Sets the compatibility of a subject, such as "BACKWARD"."""
    httpx.put(f"{url}/config/{subject}", json={"compatibility": level}).raise_for_status()


def schema_of(url: str, schema_id: int) -> str:
    return str(httpx.get(f"{url}/schemas/ids/{schema_id}").raise_for_status().json()["schema"])


def record(called: str, /, **fields: Any) -> dict[str, Any]:
    """An Avro record of fields by their types; a type with a default is a pair."""
    return {
        "type": "record",
        "name": called,
        "fields": [
            {"name": field, "type": each[0], "default": each[1]} if isinstance(each, tuple) else {"name": field, "type": each}
            for field, each in fields.items()
        ],
    }


def framed(schema_id: int, payload: bytes) -> bytes:
    return struct.pack(">bI", 0, schema_id) + payload


def avro(schema_id: int, schema: Mapping[str, Any], row: Mapping[str, Any]) -> bytes:
    """A row in Avro, after its header."""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, fastavro.parse_schema(dict(schema)), dict(row))
    return framed(schema_id, written.getvalue())


def from_avro(url: str, value: bytes) -> dict[str, Any]:
    """A record as another library reads it, by the schema that it names."""
    assert value[0] == 0
    schema = fastavro.parse_schema(json.loads(schema_of(url, struct.unpack(">I", value[1:5])[0])))
    return dict(fastavro.schemaless_reader(io.BytesIO(value[5:]), schema))
