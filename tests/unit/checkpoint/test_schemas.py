"""The schema of a state, as the versions of Spark write it."""

import json
import struct

import pytest

from streamproof.checkpoint.schemas import UnreadSchema, read_schemas, type_name

KEY = json.dumps({"type": "struct", "fields": [{"name": "k", "type": "string", "nullable": True, "metadata": {}}]})
VALUE = json.dumps({"type": "struct", "fields": [{"name": "n", "type": "long", "nullable": True}]})


def text(said: str) -> bytes:
    return struct.pack(">H", len(said)) + said.encode()


def chunks(said: str, size: int = 20) -> bytes:
    parts = [said[place : place + size] for place in range(0, len(said), size)]
    return struct.pack(">i", len(parts)) + b"".join(map(text, parts))


WRITTEN = {
    "v1": text("v1") + text(KEY) + text(VALUE),
    "v2": text("v2") + chunks(KEY) + chunks(VALUE),
    "v3": text("v3")
    + struct.pack(">i", 1)
    + text("default")
    + struct.pack(">h", 0)
    + chunks(KEY)
    + struct.pack(">h", 0)
    + chunks(VALUE)
    + chunks("{}")
    + chunks("{}"),
}


@pytest.mark.parametrize("version", WRITTEN)
def test_each_version_is_read(version, tmp_path):
    path = tmp_path / "schema"
    path.write_bytes(WRITTEN[version])

    (schema,) = read_schemas(path, "default")

    assert schema.name == "default"
    assert [(column.name, column.type) for column in (*schema.key, *schema.value)] == [("k", "string"), ("n", "bigint")]


@pytest.mark.parametrize("version", WRITTEN)
def test_a_file_that_is_cut_anywhere_is_refused(version, tmp_path):
    path = tmp_path / "schema"
    for length in range(len(WRITTEN[version])):
        path.write_bytes(WRITTEN[version][:length])
        with pytest.raises(UnreadSchema):
            read_schemas(path, "default")


def test_a_version_that_is_not_known_is_named(tmp_path):
    path = tmp_path / "schema"
    path.write_bytes(text("v4"))

    with pytest.raises(UnreadSchema, match='it begins with "v4"; known are v1, v2, v3'):
        read_schemas(path, "default")


def test_types_have_the_names_that_a_table_has():
    point = {"type": "struct", "fields": [{"name": "x", "type": "integer"}, {"name": "y", "type": "decimal(10,2)"}]}

    assert type_name({"type": "array", "elementType": point}) == "array<struct<x:int,y:decimal(10,2)>>"
    assert type_name({"type": "map", "keyType": "string", "valueType": "short"}) == "map<string,smallint>"
