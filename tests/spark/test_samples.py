"""What is inferred of a sample without Spark is what Spark infers, and Spark reads what is written of it."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import DataType, StructType

from streamproof.prove.scenario.perturb import UNPERTURBED, perturb
from streamproof.prove.scenario.sample import read_sample
from streamproof.prove.scenario.sample_files import write_sample_files

JSON = """\
{"n": 1, "x": 1, "big": 9223372036854775808, "mixed": 1, "text": "2026-01-05T09:00:00Z", "b": true, "none": null, "empty": {}}
{"n": -2, "x": 2.5, "big": 5, "mixed": "a", "text": "2026-01-05", "b": false, "none": null, "empty": {}}
{"list": [1, null, 2.5], "nulls": [null], "deep": {"a b": [{"c": 1}], "d": null}, "both": {"a": 1}, "bigger": 1.5}
{"list": [], "deep": {"a b": [{"e": "x"}]}, "both": [1], "bigger": 92233720368547758080, "huge": 1e400, "odd": NaN}
"""
CSV = """\
n,x,zip,big,day,at,mixed_time,b,text,none,nan,signed,sci,spaced,mixed,suffixed
1,1,01234,10000000000000000000,2026-01-05,2026-01-05T09:00:00Z,2026-01-05,true,a,,NaN,+1,1e3, 1,1,1d
2,2.5,89073,1,2026-01-06,2026-01-06 09:00:00.123,2026-01-06T09:00:00Z,FALSE,"b, c",,1.5,-1,2.5E-1,2,true,2f
3,,5,2,,2026-01-06T09:00:00+01:00,,true,2026-02-31,,Inf,5,1,3,2,3
"""


def by_name(type_: DataType) -> object:
    """The type without the order of its fields: Spark sorts those of JSON."""
    found = json.loads(type_.json()) if not isinstance(type_, dict) else type_
    return _sorted(found)


def _sorted(tree: object) -> object:
    if isinstance(tree, dict):
        made = {key: _sorted(value) for key, value in tree.items() if key not in ("metadata", "nullable", "containsNull")}
        if "fields" in made:
            made["fields"] = sorted(made["fields"], key=lambda field: field["name"])
        return made
    return [_sorted(each) for each in tree] if isinstance(tree, list) else tree


def test_json_is_inferred_as_spark_does(spark, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(JSON)

    assert by_name(StructType.fromDDL(read_sample("rows", path).schema)) == by_name(spark.read.json(str(path)).schema)


def test_csv_is_inferred_as_spark_does_but_for_the_width_of_whole_numbers(spark, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(CSV)

    ours = StructType.fromDDL(read_sample("rows", path).schema)
    theirs = spark.read.csv(str(path), header=True, inferSchema=True).schema

    assert {field.name: field.dataType.simpleString() for field in ours} == {
        field.name: field.dataType.simpleString().replace("int", "bigint") for field in theirs
    }


@pytest.mark.parametrize("ending", ["json", "csv", "parquet"])
def test_spark_reads_what_is_written_as_the_sample_has_it(spark, tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        at = datetime(2026, 1, 5, 9, tzinfo=UTC)
        table = {
            "id": ["a", "b"],
            "small": pa.array([1, None], pa.uint8()),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "at": pa.array([at, at], pa.timestamp("ns", tz="UTC")),
            "sizes": pa.array([[("s", 1)], None], pa.map_(pa.string(), pa.int32())),
            "deep": [{"a": [1]}, None],
            "coded": pa.array(["x", "y"]).dictionary_encode(),
            "nothing": pa.nulls(2),
        }
        pq.write_table(pa.table(table), path)
    else:
        path.write_text('{"id": "a", "deep": {"x": 1}}\n{"id": "b", "v": 2}\n' if ending == "json" else "id,v\na,1\nb,2\n")
    sample = read_sample("rows", path)
    write_sample_files(perturb(sample, UNPERTURBED, 0), sample, tmp_path / "written", files=3)

    rows = spark.read.format(ending).schema(sample.schema).option("header", True).load(str(tmp_path / "written")).orderBy("id")

    read = [row.asDict(recursive=True) for row in rows.collect()]
    assert [{**row, "at": None} for row in read] == [
        {name: dict(value) if isinstance(value, list) and name == "sizes" else value for name, value in record.values.items()}
        | {"at": None}
        for record in sample.records
    ]
    if ending == "parquet":
        assert rows.selectExpr("unix_micros(at)").first()[0] == 1_767_603_600_000_000
