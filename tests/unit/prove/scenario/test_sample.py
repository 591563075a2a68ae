"""Samples are read as Spark would read them, and a bad one says what is wrong with it."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.config.columns import columns_of
from streamproof.errors import MissingExtra, ScenarioError
from streamproof.prove.scenario.sample import read_sample
from streamproof.prove.scenario.sample_time import TimeColumn

TRADES = """\
{"id": "t1", "amount": 2, "ts": "2026-01-05T09:00:00Z", "address": {"city": "Ulm"}, "tags": ["a"]}
{"id": "t2", "amount": 2.5, "ts": "2026-01-05T09:00:01Z", "address": {"city": null, "zip": 89073}, "ok": true}
"""
AVRO = {
    "type": "record",
    "name": "Trade",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "amount", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "side", "type": {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}},
        {"name": "other_side", "type": ["Side", "null"]},
        {"name": "address", "type": {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}},
        {"name": "counts", "type": {"type": "map", "values": ["int", "long"]}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture
def sample(tmp_path):
    """Reads a text, or bytes, as a sample: `sample(content, "trades.jsonl")`."""

    def read(content: str | bytes, name: str = "trades.jsonl", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_sample("trades", path, **options)

    return read


def avro_file(path: Path, records, schema=AVRO) -> Path:
    with path.open("wb") as file:
        fastavro.writer(file, schema, records)
    return path


def test_json_is_inferred_as_spark_would(sample):
    read = sample(TRADES)

    assert read.schema == (
        "id string, amount double, ts string, address struct<city: string, zip: long>, tags array<string>, ok boolean"
    )
    assert (read.name, read.format, read.time, read.id_column) == ("trades", "json", TimeColumn("ts", None), "id")
    assert read.records[1].raw == TRADES.splitlines()[1].encode()
    assert read.records[0].values == {
        "id": "t1",
        "amount": 2.0,
        "ts": "2026-01-05T09:00:00Z",
        "address": {"city": "Ulm", "zip": None},
        "tags": ["a"],
        "ok": None,
    }
    assert read.notes == ()
    assert columns_of(read.schema).keys() == read.columns.keys(), "our own reader of DDL takes it"


@pytest.mark.parametrize(
    ("values", "type_", "read"),
    [
        (["1", "2"], "long", [1, 2]),
        (["1", "9223372036854775808"], "decimal(20,0)", [Decimal(1), Decimal(9223372036854775808)]),
        (["1.5", "9223372036854775808"], "double", [1.5, 9223372036854775808.0]),
        (["1", "1" + 400 * "0"], "double", [1.0, float("inf")]),
        (["1", "true"], "string", ["1", "true"]),
        (["null", "null"], "string", [None, None]),
        (['{"a": 1}', '{"b": [1.5]}'], "struct<a: long, b: array<double>>", [{"a": 1, "b": None}, {"a": None, "b": [1.5]}]),
        (['{"a": 1}', "[1]"], "string", ['{"a":1}', "[1]"]),
        (["[1, null, 2.5]", "[]"], "array<double>", [[1.0, None, 2.5], []]),
        (["[null]", "[]"], "array<string>", [[None], []]),
        (['{"a b": 1, "c`d": 2}', "null"], "struct<`a b`: long, `c``d`: long>", [{"a b": 1, "c`d": 2}, None]),
        (['"2026-01-05"', '"2026-01-06"'], "string", ["2026-01-05", "2026-01-06"]),
    ],
)
def test_types_of_json(sample, values, type_, read):
    found = sample("".join(f'{{"v": {value}, "w": 1}}\n' for value in values))

    assert found.columns["v"] == type_
    assert [record.values["v"] for record in found.records] == read


def test_a_column_of_records_without_fields_is_none(sample):
    assert sample('{"a": 1, "b": {}}\n{"a": 2, "b": {}}').schema == "a long"


@pytest.mark.parametrize(
    ("fields", "type_", "read"),
    [
        (["1", "+2"], "long", [1, 2]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["1", ""], "long", [1, None]),
        (["true", "FALSE"], "boolean", [True, False]),
        (["2026-01-05", "2026-01-06"], "date", [date(2026, 1, 5), date(2026, 1, 6)]),
        (["2026-01-05", "2026-02-31"], "string", ["2026-01-05", "2026-02-31"]),
        (
            ["2026-01-05", "2026-01-06T09:00:00+01:00"],
            "timestamp",
            [datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 6, 8, tzinfo=UTC)],
        ),
        (["2026-01-05 09:00:00", "soon"], "string", ["2026-01-05 09:00:00", "soon"]),
        (["1", "Inf"], "double", [1.0, float("inf")]),
        ([" 1", "2 "], "double", [1.0, 2.0]),
        (["1d", "2.5f"], "double", [1.0, 2.5]),
        (["10000000000000000000", "1"], "decimal(20,0)", [Decimal(10**19), Decimal(1)]),
        (['"a, b"', '"c ""d"""'], "string", ["a, b", 'c "d"']),
        (["", ""], "string", [None, None]),
    ],
)
def test_types_of_csv(sample, fields, type_, read):
    found = sample("n,v\n" + "".join(f"{number},{field}\n" for number, field in enumerate(fields)), "trades.csv")

    assert found.columns == {"n": "long", "v": type_}
    assert [record.values["v"] for record in found.records] == read
    assert found.written.header == b"n,v"
    assert found.records[0].raw == f"0,{fields[0]}".encode()


def test_zeros_that_a_number_loses_are_said(sample):
    assert sample("zip,n\n01234,1\n89073,2\n", "trades.csv").notes == (
        'zip is read as a number, as Spark infers it: "01234" becomes 1234.',
    )


def test_lines_end_as_they_like_and_blank_ones_count_for_nothing(sample):
    read = sample(b'\xef\xbb\xbf{"a": 1}\r\n\r\n   \n{"a": 2}')

    assert [record.raw for record in read.records] == [b'{"a": 1}', b'{"a": 2}']


def test_parquet_brings_its_types(tmp_path):
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    table = pa.table(
        {
            "id": pa.array(["t1", "t2"]).dictionary_encode(),
            "n": pa.array([1, None], pa.uint32()),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "at": pa.array([at, at], pa.timestamp("ms", tz="UTC")),
            "local": pa.array([at.replace(tzinfo=None), None], pa.timestamp("us")),
            "day": pa.array([date(2026, 1, 5), None]),
            "tags": pa.array([["a"], None], pa.list_(pa.string())),
            "sizes": pa.array([[("s", 1)], None], pa.map_(pa.string(), pa.int32())),
            "address": pa.array([{"city": "Ulm"}, None]),
            "raw": pa.array([b"\x00", None]),
            "nothing": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "trades.parquet")

    read = read_sample("trades", tmp_path / "trades.parquet")

    assert read.schema == (
        "id string, n long, price decimal(10,2), at timestamp, local timestamp_ntz, day date, tags array<string>, "
        "sizes map<string, int>, address struct<city: string>, raw binary, nothing string"
    )
    assert (read.time_column, read.id_column, read.records[0].raw) == ("at", "id", None)
    assert read.records[0].values["at"] == at
    assert read.records[0].values["price"] == Decimal("1.50")
    assert read.records[1].values["address"] is None


def test_nanoseconds_of_pandas_are_cut_and_that_is_said(tmp_path):
    stamps = pa.array([1_767_603_596_921_000_001, 1_767_603_596_921_000_002], pa.timestamp("ns"))
    pq.write_table(pa.table({"at": stamps}), tmp_path / "trades.parquet")

    read = read_sample("trades", tmp_path / "trades.parquet")

    assert read.records[0].values["at"] == datetime(2026, 1, 5, 8, 59, 56, 921000)  # noqa: DTZ001
    assert read.notes == ("at is in nanoseconds, which Spark does not read from Parquet; it is taken in microseconds.",)


def test_avro_with_nulls_and_unions(tmp_path):
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    trade = {
        "id": "t1",
        "at": at,
        "amount": Decimal("1.50"),
        "side": "BUY",
        "other_side": None,
        "address": {"city": "Ulm"},
        "counts": {"a": 1},
        "key": UUID,
    }
    avro_file(tmp_path / "trades.avro", [trade, trade | {"id": "t2", "amount": None, "other_side": "SELL"}])

    read = read_sample("trades", tmp_path / "trades.avro")

    assert read.schema == (
        "id string, at timestamp, amount decimal(10,2), side string, other_side string, address struct<city: string>, "
        "counts map<string, long>, key string"
    )
    assert (read.time_column, read.id_column) == ("at", "id")
    assert read.records[0].values == trade


def test_avro_without_its_library_names_the_extra(tmp_path, monkeypatch):
    path = avro_file(tmp_path / "trades.avro", [])
    monkeypatch.setitem(__import__("sys").modules, "fastavro", None)

    with pytest.raises(MissingExtra, match="pip install 'streamproof\\[lab\\]'"):
        read_sample("trades", path)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "record", "name": "R", "fields": [{"name": "u", "type": ["int", "string"]}]}, "a union of int and string"),
        ({"type": "record", "name": "R", "fields": [{"name": "next", "type": ["null", "R"]}]}, "R, which holds itself"),
        (
            {"type": "record", "name": "R", "fields": [{"name": "t", "type": {"type": "int", "logicalType": "time-millis"}}]},
            "time-millis",
        ),
        ({"type": "array", "items": "int"}, "holds no records"),
    ],
)
def test_what_spark_does_not_read_from_avro(tmp_path, schema, said):
    with pytest.raises(ScenarioError, match=said):
        read_sample("trades", avro_file(tmp_path / "trades.avro", [], schema))


@pytest.mark.parametrize("type_", [pa.time64("us"), pa.duration("s"), pa.decimal256(60, 2)], ids=str)
def test_what_spark_does_not_read_from_parquet(tmp_path, type_):
    pq.write_table(pa.table({"a": [1, 2], "odd": pa.nulls(2, type_)}), tmp_path / "trades.parquet")

    with pytest.raises(ScenarioError, match='has the column "odd" of type'):
        read_sample("trades", tmp_path / "trades.parquet")


BAD = {
    "empty": ("trades.jsonl", b"", "is empty."),
    "only blank lines": ("trades.jsonl", b"\n \n", "has no column."),
    "no ending": ("trades", b"a", "has no ending, which does not say what it is."),
    "unknown ending": ("trades.txt", b"a", 'has the ending ".txt"'),
    "packed": ("trades.json.gz", b"a", "Unpack it."),
    "gzip in disguise": ("trades.json", b"\x1f\x8b\x08\x00", "is packed by gzip."),
    "parquet in disguise": ("trades.json", b"PAR1 and more", "is Parquet."),
    "text in disguise": ("trades.parquet", b'{"a": 1}', "is no Parquet file"),
    "damaged parquet": ("trades.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
    "text called avro": ("trades.avro", b'{"a": 1}', "is no Avro object container"),
    "damaged avro": ("trades.avro", b"Obj\x01 and no more", "cannot be read as Avro"),
    "binary": ("trades.csv", b"a,b\n\x00\x01\x02", "holds zero bytes"),
    "utf-16": ("trades.csv", "a,b\n1,2\n".encode("utf-16"), "is text in UTF-16."),
    "latin-1": ("trades.csv", "a,b\n1,Köln\n".encode("latin-1"), "line 2 is not UTF-8: byte 0xf6 in place 4."),
    "no object": ("trades.json", b'{"a": 1}\n\n[1]\n', "line 3 is no object of JSON: it is an array."),
    "no json": ("trades.json", b'{"a": 1}\n{"a": \n', "line 2 is no object of JSON: Expecting value, in place 7."),
    "one array": ("trades.json", b'[\n{"a": 1}\n]', "jq -c '.[]' old > new"),
    "deep nesting": ("trades.json", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "line 1 is no object of JSON"),
    "no fields": ("trades.json", b"{}\n{}\n", "has no column."),
    "one case": ("trades.json", b'{"a": 1}\n{"A": 1}\n', 'has the columns "a" and "A".'),
    "one record": ("trades.json", b'{"a": 1}\n', "has one record."),
    "a header alone": ("trades.csv", b"a,b\n", "has no record."),
    "more fields": ("trades.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields."),
    "fewer fields": ("trades.csv", b"a,b\n1,2\n\n1\n", "line 4 has one field."),
    "a name twice": ("trades.csv", b"a,b,a\n1,2,3\n", 'line 1 has the column "a" twice.'),
    "semicolons": ("trades.csv", b"a;b\n1;2\n", "has semicolons between its columns"),
    "a record on two lines": ("trades.csv", b'a,b\n1,"x\ny"\n', "line 2 has a quote that does not end in it"),
    "a carriage return": ("trades.json", b'{"a": 1}\r{"a": 2}\n', "line 1 holds a carriage return"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_sample_says_what_is_wrong(sample, tmp_path, bad):
    name, content, said = BAD[bad]

    with pytest.raises(ScenarioError) as error:
        sample(content, name)

    assert said in str(error.value)
    assert str(tmp_path / name) in error.value.message
    assert error.value.required or error.value.remedy, "it says what to do"


def test_a_line_end_in_quotes_is_refused_for_samples_and_not_for_jobs(sample):
    with pytest.raises(ScenarioError) as error:
        sample(b'a,b\n1,"x\ny"\n', "trades.csv")

    assert "A sample is one record a line" in str(error.value.required)
    assert "The source of a job does take line ends in quotes" in str(error.value.required)
    assert "Spark" not in str(error.value)


def test_a_sample_that_is_not_there_and_a_folder(tmp_path):
    with pytest.raises(ScenarioError, match="There is no"):
        read_sample("trades", tmp_path / "trades.csv")
    (tmp_path / "trades.csv").mkdir()
    with pytest.raises(ScenarioError, match="is a folder"):
        read_sample("trades", tmp_path / "trades.csv")


def test_the_format_wins_over_the_ending(sample):
    assert sample('{"a": 1}\n{"a": 2}', "trades.log", format="json").schema == "a long"
    with pytest.raises(ScenarioError, match='no format "xml"'):
        sample("<a/>", format="xml")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "avro"])
def test_of_a_huge_sample_the_first_records_are_taken_and_that_is_said(tmp_path, ending):
    path, rows = tmp_path / f"trades.{ending}", [{"n": number} for number in range(10)]
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending == "avro":
        avro_file(path, rows, {"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]})
    else:
        path.write_text(
            "".join(["n\n", *(f"{row['n']}\n" for row in rows)])
            if ending == "csv"
            else "".join(f"{json.dumps(row)}\n" for row in rows)
        )

    cut, whole = read_sample("trades", path, limit=3), read_sample("trades", path, limit=10)

    assert [record.values for record in cut.records] == rows[:3]
    assert len(cut.notes) == 1
    assert cut.notes[0].endswith("has more than 3 records; the first 3 are taken.")
    assert (len(whole.records), whole.notes) == (10, ())


def test_the_limit_is_50000_unless_said(sample):
    read = sample('{"n": 1}\n' * 50_001)

    assert len(read.records) == 50_000
    assert "the first 50,000 are taken" in read.notes[0]


def test_records_that_go_back_in_time_are_said(sample):
    newest_first = "".join(f'{{"ts": {1_767_603_600 - second}}}\n' for second in range(9))

    assert sample(newest_first).notes[0].startswith("The records go back in time by ts, the newest first")
