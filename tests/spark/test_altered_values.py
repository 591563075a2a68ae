"""A record whose values Spark's parser would alter is rejected as it was written; `lenient` takes what Spark makes of it."""

import json

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark.small_job import KEPT, Binding, event
from streamproof.connectors.json_records import parsed
from streamproof.core.account import Account

SCHEMA = (
    "d decimal(10,2), v double, f float, i int, big long, t string, day date, at timestamp, local timestamp_ntz, "
    "s struct<a: int, d: decimal(5,1), day: date>, ds array<decimal(5,2)>, m map<string, decimal(5,2)>"
)
REFUSED = [
    ('{"d": 1.23456}', "d has more than the 2 decimal places of decimal(10,2)"),
    ('{"d": 1e-3}', "d has more than the 2 decimal places of decimal(10,2)"),
    ('{"d": "1.005"}', "d has more than the 2 decimal places of decimal(10,2)"),
    ('{"d": "1,5"}', "d is a number with commas"),
    ('{"s": {"d": 1.25}}', "s has more than the 1 decimal places of decimal(5,1)"),
    ('{"ds": [1, 1.234]}', "ds has more than the 2 decimal places of decimal(5,2)"),
    ('{"m": {"private": 1.234}}', "m has more than the 2 decimal places of decimal(5,2)"),
    ('{"v": 1e400}', "v is beyond the greatest double"),
    ('{"v": -1e400}', "v is beyond the greatest double"),
    ('{"f": 1e39}', "f is beyond the greatest float"),
    ('{"v": NaN}', "NaN or Infinity without quotes"),
    ('{"t": -INF}', "NaN or Infinity without quotes"),
    ('{"undeclared": Infinity}', "NaN or Infinity without quotes"),
    ("{'t': \"x\"}", "single quotes"),
    ("{\"t\": 'x'}", "single quotes"),
    ('{"t": "x", "t": "x"}', "a key twice in an object"),
    ('{"s": {"a": 1, "a": 2}}', "a key twice in an object"),
    ('{"m": {"k": 1, "k": 2}}', "a key twice in an object"),
    ('{"undeclared": [{"x": {"k": 1}, "k": 2, "k": 3}]}', "a key twice in an object"),
    ('{"t": {"k": 1, "k": 2}}', "a key twice in an object"),
    ('{"m": {' + ", ".join(f'"k{n}": {n}' for n in range(50)) + ', "k49": 1}}', "a key twice in an object"),
    (r'{"t": "\ud800"}', "a lone surrogate"),
    (r'{"t": "\udc00 \ud800\udc00"}', "a lone surrogate"),
    (r'{"t": "\ud800x\udc00"}', "a lone surrogate"),
    ('{"day": "12026-01-05"}', "day is no date of the form yyyy-MM-dd"),
    ('{"day": "+12026-01-05"}', "day is no date of the form yyyy-MM-dd"),
    ('{"day": "20260105"}', "day is no date of the form yyyy-MM-dd"),
    ('{"day": "2026"}', "day is no date of the form yyyy-MM-dd"),
    ('{"day": "2026-01-05T23:00:00-05:00"}', "day is no date of the form yyyy-MM-dd"),
    ('{"s": {"day": "2026-01-05 and more"}}', "s is no date of the form yyyy-MM-dd"),
    ('{"at": "12026-01-05T09:00:00Z"}', "at is a time without a date of the form yyyy-MM-dd"),
    ('{"at": "09:00"}', "at is a time without a date of the form yyyy-MM-dd"),
    ('{"local": "12026-01-05T09:00:00"}', "local is a time without a date of the form yyyy-MM-dd"),
    ('{"at": "2026-01-05T09:00:00.1234567Z"}', "at is finer than microseconds"),
    ('{"local": "2026-01-05T09:00:00.000000001"}', "local is finer than microseconds"),
    ('{"at": 1767603600000}', "at has a year of more than four digits"),
]
"""Each of these Spark takes, as something else."""
MISFITS = [
    '{"i": 2147483648}',
    '{"i": 1.0}',
    '{"big": 1e3}',
    '{"big": 9223372036854775808}',
    '{"big": "5"}',
    '{"v": 01}',
    '{"v": true}',
    '{"day": "2026-02-30"}',
    '{"at": "2026-02-30T00:00:00Z"}',
    '{"t": "a\tb"}',
    '{"d": 123456789.5}',
]
"""Spark takes none of them."""
TAKEN = {
    '{"d": 1.200, "ds": ["1.50", 1.5e0], "m": {"a": -0.25}}': {"d": 1.2, "ds": [1.5, 1.5], "m": {"a": -0.25}},
    '{"d": 15e-1, "s": {"a": 1, "d": 2.50}}': {"d": 1.5, "s": {"a": 1, "d": 2.5}},
    '{"v": "NaN", "f": "-INF"}': {"v": "NaN", "f": "-Infinity"},
    '{"v": 0.1000000000000000055511151231257827, "big": -9223372036854775808}': {"v": 0.1, "big": -9223372036854775808},
    '{"t": 1.50}': {"t": "1.50"},
    r'{"t": "\ud83d\ude00 \\ud800 \u00e9"}': {"t": "\U0001f600 \\ud800 é"},
    '{"day": " 2026-1-5 ", "at": "2026-01-05"}': {"day": "2026-01-05", "at": "2026-01-05T00:00:00.000Z"},
    '{"at": "2026-01-05T09:00:00.123456000+01:00", "local": "2026-01-05 09:00"}': {
        "at": "2026-01-05T08:00:00.123Z",
        "local": "2026-01-05T09:00:00.000",
    },
    '{"at": 1767603600, "s": {"day": "9999-12-31"}}': {"at": "2026-01-05T09:00:00.000Z", "s": {"day": "9999-12-31"}},
    '{"s": {"a": 1}, "m": {"a": 1, "s": 2}, "undeclared": [{"a": 1}, {"a": 1}]}': {"s": {"a": 1}, "m": {"a": 1, "s": 2}},
}


def read(spark: SparkSession, lines, *, lenient: bool = False):
    """Of each line its columns as JSON, without nulls, and why it does not fit."""
    rows = spark.createDataFrame(list(enumerate(lines)), "n int, line string").coalesce(1)
    rows = parsed(rows, F.col("line"), StructType.fromDDL(SCHEMA), beside=["n"], lenient=lenient)
    found = rows.select("n", F.to_json(F.struct(*[c for c in rows.columns if c[0] != "_" and c != "n"])).alias("made"), "_corrupt")
    return [(json.loads(row.made), row._corrupt) for row in sorted(found.collect())]


@pytest.mark.full
def test_a_record_that_would_be_altered_does_not_fit_and_says_why(spark: SparkSession):
    lines = [line for line, _ in REFUSED] + MISFITS + list(TAKEN)

    found = dict(zip(lines, read(spark, lines), strict=True))

    assert [(line, found[line][1]) for line, _ in REFUSED] == REFUSED
    assert {found[line][1].partition(":")[0] for line in MISFITS} == {"not parseable"}
    assert found['{"i": 1.0}'][1] == "not parseable: i is no int"
    assert {line: found[line] for line in TAKEN} == {line: (made, None) for line, made in TAKEN.items()}


def test_lenient_takes_what_spark_makes_of_it(spark: SparkSession):
    found = read(spark, [line for line, _ in REFUSED], lenient=True)

    assert [line for (line, _), (_, why) in zip(REFUSED, found, strict=True) if why is not None] == []
    assert found[0][0] == {"d": 1.23}


@pytest.mark.parametrize("lenient", [False, True])
def test_an_altered_record_leaves_with_its_bytes_unless_the_source_is_lenient(small_job, lenient):
    schema = "id string, v decimal(10,2), ts long"
    job = small_job(
        KEPT, Binding(schema=schema, tables={"source.events": {"connector": "files", "path": "data", "lenient": lenient}})
    )
    line = '{"id": "e1", "v": 1.23456, "ts": 1000}'
    job.feed([line, event("e2", 2)])

    result = job.run()

    assert result.account == (Account(emitted=2) if lenient else Account(emitted=1, rejected=1))
    if not lenient:
        (row,) = job.rows("rejected")
        assert (row["original"], row["reason"]) == (line, "v has more than the 2 decimal places of decimal(10,2)")
