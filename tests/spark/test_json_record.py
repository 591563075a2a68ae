"""Records of JSON, read leniently, are parsed from their bytes to what Spark's own `from_json` makes of them."""

import json

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructField, StructType

from streamproof import _jvm

SCHEMA = (
    "id string, v double, n int, at timestamp, day date, inner struct<a: int, b: array<string>>, m map<string, int>, flag boolean"
)
WHOLE = {"id": "e1", "v": 1.5, "n": 3, "at": "2026-01-05T09:00:00.25+02:00", "day": "2026-01-05"}
NESTED = {"id": "ü€😀", "inner": {"a": 1, "b": ["x", None, "}"]}, "m": {"k": 1}, "flag": True}

LINES = [
    json.dumps(WHOLE).encode(),
    json.dumps(NESTED).encode(),
    json.dumps(NESTED, ensure_ascii=False).encode(),
    b"  \t" + json.dumps(WHOLE).encode() + b"  ",
    b'{"id": "a"} {"id": "b"}',
    b'{"id": "a"}}',
    b'{"id": "a", "id": "b"}',
    b'{"id": "a", "v": "text", "n": 4}',
    b'{"id": 5, "n": 4.5, "flag": "true"}',
    b'{"id": {"x":[1,2]}, "inner": "text", "m": [1]}',
    b'{"id": "a", "v": NaN}',
    b'{"id": "a", "v": "Infinity"}',
    b'{"id": "a", "n": 99999999999}',
    b'{"id": "a", "at": "yesterday", "day": 3}',
    b"{'id': 'single'}",
    b'{id: "unquoted"}',
    b'{"id": "a\x01b"}',
    b'{"id": "a\\u0000b"}',
    b'{"id": "tab\\tquote\\""}',
    b'{"id": null}',
    b'{"ID": "other case"}',
    b"{}",
    b"[]",
    b'[{"id": "a"}]',
    b"null",
    b"5",
    b'"text"',
    b"",
    b"   ",
    b"{",
    b'{"id": "cut sh',
    b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(),
    json.dumps(WHOLE).encode("utf-16-le"),
    json.dumps(WHOLE).encode("utf-16"),
    json.dumps(WHOLE).encode("utf-32-be"),
    '{"é": 1, "id": "a"}'.encode(),
    b'\x00{"id": "a"}',
    b'{\x00"id": "a"}',
]


def parsed(spark, lines):
    schema = StructType.fromDDL(f"{SCHEMA}, _corrupt string")
    rows = spark.createDataFrame([(bytearray(line),) for line in lines], StructType([StructField("line", BinaryType())]))
    line = F.col("line").cast("string")
    ours = _jvm.json_record(spark, line, schema, corrupt="_corrupt", lenient=True)
    theirs = F.from_json(line, schema, {"columnNameOfCorruptRecord": "_corrupt"})
    # One at a time: a parser gives the same row again for the next record. Ours says why a record does not fit, Spark's holds its text.
    found = []
    for column in (ours, theirs):
        unfit = F.col("made._corrupt").isNotNull()
        made = F.when(F.col("made").isNotNull(), F.col("made").withField("_corrupt", F.when(unfit, F.lit("unfit"))))
        rows_made = rows.select(column.alias("made")).select(F.to_json(made, {"ignoreNullFields": "false"}))
        found.append([row[0] for row in rows_made.collect()])
    return found


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_a_record_is_what_from_json_makes_of_it(spark, zone):
    spark = spark.newSession()
    spark.conf.set("spark.sql.session.timeZone", zone)

    ours, theirs = parsed(spark, LINES)

    assert [pair for pair in zip(LINES, ours, theirs, strict=True) if pair[1] != pair[2]] == []
    assert sum(found is not None and '"_corrupt":null' in found for found in ours) > 10


def test_an_object_where_a_text_is_declared_stays_as_it_was_written(spark):
    """As Spark's JSON files do; `from_json` takes the spaces out."""
    (ours, *_), (theirs, *_) = parsed(spark.newSession(), [b'{"id": {"x": [1,  2]}}'])

    assert json.loads(ours)["id"] == '{"x": [1,  2]}'
    assert json.loads(theirs)["id"] == '{"x":[1,2]}'


@pytest.mark.parametrize("line", [b'{"id": "caf\xe9"}', b'{"\xc3\xa9": 1, "id": "caf\xe9"}', b'{"id": "\xc0\xaf"}'])
def test_bytes_that_are_no_utf8_make_a_record_corrupt(spark, line):
    """`from_json` puts signs of its own in their place, and nobody hears of it."""
    (ours, *_), (theirs, *_) = parsed(spark.newSession(), [line])

    assert json.loads(ours)["id"] is None
    assert json.loads(ours)["_corrupt"] is not None
    assert "\ufffd" in json.loads(theirs)["id"]
