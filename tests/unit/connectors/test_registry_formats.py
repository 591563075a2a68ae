"""The wire format, and the formats that Python reads and writes, without a registry."""

import json

import pytest
from pyspark.sql.types import StructType

from streamproof.connectors.registry.client import Reference, RegisteredSchema, Registry
from streamproof.connectors.registry.descriptors import compiled
from streamproof.connectors.registry.json_schema import JsonReader, schema_of
from streamproof.connectors.registry.protobuf import ProtobufReader, ProtobufWriter, file_of
from streamproof.connectors.registry.wire import Broken, framed, indexed, unframed, unindexed

COLUMNS = StructType.fromJson(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in {
                "id": "string",
                "n": "long",
                "small": "integer",
                "v": "double",
                "yes": "boolean",
                "at": "timestamp",
                "raw": "binary",
                "day": "date",
                "legs": {
                    "type": "array",
                    "containsNull": True,
                    "elementType": {
                        "type": "struct",
                        "fields": [{"name": "book", "type": "string", "nullable": True, "metadata": {}}],
                    },
                },
                "tags": {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": True},
            }.items()
        ],
    }
)
ROW = {
    "id": "a",
    "n": 2**60,
    "small": 0,
    "v": 1.5,
    "yes": False,
    "at": "2026-01-05T09:00:00.123456Z",
    "raw": "AAE=",
    "day": "2026-01-05",
    "legs": [{"book": "x"}],
    "tags": {"k": 5},
}


def test_a_header_is_a_zero_and_the_id():
    assert framed(258, b"x") == b"\0\0\0\1\2x"
    assert unframed(b"\0\0\0\1\2x") == (258, b"x")


@pytest.mark.parametrize(("value", "said"), [(b"{}", "begins with 0x7b"), (b"", "too short"), (b"\0\0\0\1", "too short")])
def test_what_has_no_header_says_why(value, said):
    with pytest.raises(Broken, match=said):
        unframed(value)


@pytest.mark.parametrize("indexes", [(0,), (1,), (0, 0), (2, 300, 1), (65, 64)])
def test_message_indexes_go_out_and_come_back(indexes):
    assert unindexed(indexed(indexes) + b"rest") == (indexes, b"rest")


def test_the_first_message_is_one_byte_and_others_are_zigzag():
    assert indexed([0]) == b"\0"
    assert indexed([1, 0]) == b"\x04\x02\x00"


@pytest.mark.parametrize("payload", [b"", b"\xff" * 9, b"\x04\x02", b"\x01"])
def test_broken_indexes_are_named(payload):
    with pytest.raises(Broken, match="no message indexes"):
        unindexed(payload)


def test_rows_go_through_protobuf_and_come_back():
    text = file_of(COLUMNS, "row", None)
    write, records = ProtobufWriter(text, "row").opened(), ProtobufReader().opened(RegisteredSchema("PROTOBUF", text), {})

    assert json.loads(records.text(write(json.dumps(ROW).encode()))) == ROW
    assert json.loads(records.text(write(b"{}"))) == {**dict.fromkeys(ROW), "legs": [], "tags": {}}


def test_fields_of_an_earlier_version_keep_their_numbers_and_those_that_are_gone_stay_taken():
    before = 'syntax = "proto3";\nmessage row { optional string id = 4; optional string gone = 9; }\n'
    after = compiled(file_of(COLUMNS, "row", before), {}).named("row")

    assert (after.fields_by_name["id"].number, after.fields_by_name["n"].number) == (4, 10)
    with pytest.raises(Broken, match="reserved"):
        compiled(file_of(COLUMNS, "row", before).replace("= 10;", "= 9;"), {})


def test_a_number_that_any_earlier_version_had_is_never_given_again():
    second = file_of(StructType(COLUMNS.fields[:2]), "row", file_of(StructType(COLUMNS.fields[:3]), "row", None))
    third = file_of(StructType([*COLUMNS.fields[:2], COLUMNS["v"]]), "row", second)

    assert compiled(third, {}).named("row").fields_by_name["v"].number == 4
    assert "reserved 3;" in third


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("google.protobuf.Any", b"\x0a\x03x/y"),
        ("google.protobuf.Duration", b"\x08" + b"\xff" * 8 + b"\x7f"),
        ("google.protobuf.Value", b"\x11" + b"\x00" * 6 + b"\xf8\x7f"),
        ("google.protobuf.FieldMask", b"\x0a\x06fooBar"),
    ],
)
def test_a_record_that_json_has_no_words_for_is_rejected_and_stops_nothing(kind, content):
    files = {"Any": "any", "Duration": "duration", "Value": "struct", "FieldMask": "field_mask"}
    file = files[kind.rpartition(".")[2]]
    text = f'syntax = "proto3";\nimport "google/protobuf/{file}.proto";\nmessage row {{ {kind} x = 1; }}\n'
    records = ProtobufReader().opened(RegisteredSchema("PROTOBUF", text), {})

    with pytest.raises(Broken, match="broken record"):
        records.text(indexed([0]) + b"\x0a" + bytes([len(content)]) + content)


def test_wrappers_enums_nested_messages_and_imports_are_read():
    common = 'syntax = "proto3";\npackage lib;\nmessage Money { string currency = 1; int64 units = 2; }\n'
    text = """syntax = "proto3";
import "lib/money.proto";
import "google/protobuf/wrappers.proto";
enum Side { BUY = 0; SELL = 1; }
message Other { int32 x = 1; }
message Trade {
  message Leg { uint64 size = 1; }
  Side side = 1;
  google.protobuf.DoubleValue v = 2;
  lib.Money paid = 3;
  repeated Leg legs = 4;
  oneof either { string left = 5; string right = 6; }
}
"""
    referred = {"lib/money.proto": RegisteredSchema("PROTOBUF", common)}
    file = compiled(text, {"lib/money.proto": common})
    records = ProtobufReader().opened(RegisteredSchema("PROTOBUF", text, (Reference("lib/money.proto", "money", 1),)), referred)
    from google.protobuf import message_factory

    trade = message_factory.GetMessageClass(file.at((1,)))(
        side=1, v={"value": 2.5}, paid={"units": 7}, legs=[{"size": 3}], right="r"
    )

    assert json.loads(records.text(indexed([1]) + trade.SerializeToString())) == {
        "side": "SELL",
        "v": 2.5,
        "paid": {"currency": "", "units": 7},
        "legs": [{"size": 3}],
        "left": None,
        "right": "r",
    }
    assert json.loads(records.text(indexed([1, 0]) + b"\x08\x05")) == {"size": 5}
    with pytest.raises(Broken, match="no message"):
        records.text(indexed([7]))
    with pytest.raises(Broken, match="broken record"):
        records.text(indexed([1]) + b"\x1a\x99")


def test_the_readers_own_file_reads_by_numbers_so_a_field_may_be_renamed():
    old, new = (f'syntax = "proto3";\nmessage row {{ optional string {name} = 1; }}\n' for name in ("name", "id"))
    written = ProtobufWriter(old, None).opened()(b'{"name": "a"}')

    assert json.loads(ProtobufReader(new).opened(RegisteredSchema("PROTOBUF", old), {}).text(written)) == {"id": "a"}


def test_what_protoc_refuses_says_why():
    with pytest.raises(Broken, match=r"is no \.proto file that protoc takes: 1:"):
        compiled("message", {})


def test_rows_fit_the_json_schema_of_their_columns_and_nothing_else_does():
    check = JsonReader(validates=True).opened(RegisteredSchema("JSON", schema_of(COLUMNS, "row")), {})

    assert check.text(json.dumps(ROW).encode()) == json.dumps(ROW).encode()
    assert check.text(json.dumps(dict.fromkeys(ROW)).encode())
    for wrong, said in (
        (b'{"n": "secret"}', r"properties\.n\.type"),
        (b'{"more": 1}', "additionalProperties"),
        (b"{", "broken record"),
        (b"\xff", "broken record"),
    ):
        with pytest.raises(Broken, match=said) as problem:
            check.text(wrong)
        assert "secret" not in str(problem.value)


def test_nothing_is_fetched_from_where_a_schema_points():
    text = '{"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/other.json"}}}'
    check = JsonReader(validates=True).opened(RegisteredSchema("JSON", text), {})

    with pytest.raises(Broken, match="cannot be used"):
        check.text(b'{"a": 1}')


def test_a_schema_may_refer_to_another():
    text = '{"type": "object", "properties": {"a": {"$ref": "other.json"}}}'
    other = {"other.json": RegisteredSchema("JSON", '{"type": "integer"}')}
    check = JsonReader(validates=True).opened(RegisteredSchema("JSON", text), other)

    assert check.text(b'{"a": 1}')
    with pytest.raises(Broken, match="does not take the record"):
        check.text(b'{"a": "x"}')


def test_what_is_no_json_schema_says_so():
    with pytest.raises(Broken, match="is no JSON Schema"):
        JsonReader(validates=True).opened(RegisteredSchema("JSON", '{"type": 7}'), {})


def test_credentials_are_not_shown():
    assert "word" not in repr(Registry("http://x", {"Authorization": "Basic word"}))
