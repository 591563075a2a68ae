"""The wire format, and the formats that Python reads and writes, without a registry."""

import json

import pytest
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructType

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


def proto(*fields: str, name: str = "Trade") -> str:
    return f'syntax = "proto3";\nmessage {name} {{ {" ".join(fields)} }}\n'


@pytest.mark.parametrize(
    ("written", "read", "said"),
    [
        ("string v = 2;", "double v = 2;", "v is string, and double there"),
        ("sint64 v = 2;", "int64 v = 2;", "v is sint64, and int64 there"),
        ("int64 v = 2;", "int32 v = 2;", "v is int64, and int32 there"),
        ("repeated string v = 2;", "string v = 2;", "v is repeated"),
        ("message In { int64 x = 1; } In v = 2;", "message In { double x = 1; } In v = 2;", r"v\.x is int64, and double there"),
    ],
)
def test_a_field_that_would_be_read_as_another_value_is_refused(written, read, said):
    reader, content = ProtobufReader(proto(read)), indexed([0])

    with pytest.raises(Broken, match=f"does not fit schema_file: {said}"):
        reader.opened(RegisteredSchema("PROTOBUF", proto(written)), {}).text(content)


def test_wider_types_repeated_fields_and_messages_that_hold_themselves_are_read():
    write = ProtobufWriter(proto("int32 n = 1;", "string v = 2;", "Trade inner = 3;"), None).opened()
    reader = ProtobufReader(proto("int64 n = 1;", "repeated string v = 2;", "Trade inner = 3;", "optional string new = 4;"))
    records = reader.opened(RegisteredSchema("PROTOBUF", proto("int32 n = 1;", "string v = 2;", "Trade inner = 3;")), {})

    inner = {"n": 2, "v": [], "inner": None, "new": None}
    assert json.loads(records.text(write(b'{"n": 1, "v": "x", "inner": {"n": 2}}'))) == {
        "n": 1,
        "v": ["x"],
        "inner": inner,
        "new": None,
    }


def test_another_message_of_the_writers_file_is_not_taken_for_the_readers():
    both = proto("string id = 1;", "double v = 2;") + "message Cancel { string id = 1; double fee = 2; }\n"
    records = ProtobufReader(proto("string id = 1;", "double v = 2;")).opened(RegisteredSchema("PROTOBUF", both), {})

    assert json.loads(records.text(indexed([0]) + b"\x0a\x01a")) == {"id": "a", "v": 0.0}
    with pytest.raises(Broken, match="has Cancel at the record's indexes, not Trade"):
        records.text(indexed([1]) + b"\x0a\x01a")
    with pytest.raises(Broken, match="no message at the record's indexes"):
        records.text(indexed([7]) + b"\x0a\x01a")


def test_bytes_of_another_type_than_their_field_and_missing_fields_are_no_record():
    records = ProtobufReader().opened(RegisteredSchema("PROTOBUF", proto("string id = 1;", "double v = 2;")), {})
    with pytest.raises(Broken, match="bytes of another type"):
        records.text(b"\0\x10\x05")
    assert json.loads(records.text(b"\0\x18\x05")) == {"id": "", "v": 0.0}, "a field that nobody declares is left out"

    needs = 'syntax = "proto2";\nmessage Trade { required string id = 1; enum Side { BUY = 0; } optional Side side = 2; }\n'
    required = ProtobufReader().opened(RegisteredSchema("PROTOBUF", needs), {})
    assert json.loads(required.text(b"\0\x0a\x01a")) == {"id": "a", "side": None}
    with pytest.raises(Broken, match="a required field is missing"):
        required.text(b"\0")
    with pytest.raises(Broken, match="bytes of another type"):
        required.text(b"\0\x0a\x01a\x10\x07")


NUMBERS, COUNTS = ArrayType(IntegerType()), MapType(StringType(), IntegerType())


@pytest.mark.parametrize("kind", [ArrayType(NUMBERS), ArrayType(COUNTS), MapType(StringType(), NUMBERS)])
def test_columns_that_protobuf_has_no_type_for_are_refused_before_a_schema_is_made_of_them(kind):
    with pytest.raises(Broken, match=f"nested: Protobuf has no {kind.simpleString()}"):
        file_of(StructType().add("nested", kind), "row", None)


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


def checked(schema: str, record: bytes, referred: dict[str, str] | None = None) -> bool:
    others = {name: RegisteredSchema("JSON", text) for name, text in (referred or {}).items()}
    try:
        JsonReader(validates=True).opened(RegisteredSchema("JSON", schema), others).text(record)
    except Broken:
        return False
    return True


def test_numbers_are_what_they_are_written_as():
    """19.99 is a multiple of 0.01, although the binary fractions nearest to them are none."""
    cents = '{"multipleOf": 0.01}'
    for cent in range(10_000):
        assert checked(cents, f"{cent // 100}.{cent % 100:02}".encode())
    assert not checked(cents, b"0.075")
    assert checked(cents, b"1e300")
    assert checked('{"type": "integer"}', b"1.0")
    assert not checked('{"type": "integer"}', b"1.5")
    assert not checked('{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}', b"1.0")
    again = '{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"n": {"type": "integer"}, "c": {"$ref": "#"}}}'
    assert checked(again, b'{"n": 1.0, "c": {"n": 2.0}}')
    assert not checked(again, b'{"n": 1.0, "c": {"n": 2.5}}')
    for beyond in (b"1e9999999999999999999", b"1e-9999999999999999999"):
        assert not checked('{"type": "number"}', beyond)
    assert not checked('{"maximum": 1e9999999999999999999}', b"1")
    assert checked('{"enum": [1.5, 2.0], "maximum": 2.5}', b"2")
    assert not checked('{"const": 1.5}', b"1.25")


@pytest.mark.parametrize("own", ["", '"$id": "https://example.com/order.json", '])
def test_a_reference_is_found_by_its_name_wherever_the_schema_says_it_lies(own):
    schema = f'{{{own}"properties": {{"paid": {{"$ref": "money.json"}}}}}}'
    money = {"money.json": '{"type": "object", "required": ["currency"]}'}

    assert checked(schema, b'{"paid": {"currency": "EUR"}}', money)
    assert not checked(schema, b'{"paid": {}}', money)


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
