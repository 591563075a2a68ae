"""A value that is told not to fit a declared type, without Spark, is one that Spark reads as null, and no other is."""

import json

from streamproof.prove.scenario.declared_values import Misfit, reader_of

TIMES = [
    "2026-03-01T09:00:00Z",
    "2026-03-01 09:00:00.123456",
    "2026-03-01T10:00:00+01:00",
    "2026-03-01T10:00:00+0100",
    "2026-03-01T10:00:00+1",
    "2026-03-01 10:00:00 Europe/Berlin",
    "2026-03-01 09:00:00 UTC",
    "2026-03-01T09:00",
    "2026-03-01",
    "2026-3-1 9:5:7",
    "2026-03",
    "2026",
    "2026-02-31T09:00:00Z",
    "01.03.2026 09:00",
    "2026/03/01 09:00:00",
    "1772355600",
    "soon",
    "",
    " 2026-03-01 ",
    "2026-03-01T25:00:00Z",
    "2026-03-01T09:00:00Zebra",
    "2026-03-01T09:00:00.123456789Z",
    1_772_355_600,
    True,
    1.5,
]
TYPES = {
    "timestamp": TIMES,
    "timestamp_ntz": TIMES[:3] + TIMES[7:20],
    "date": [value for value in TIMES if value != "1772355600"],  # Spark takes it for days since 1970, and nobody means that
}
FIELDS = {
    "timestamp": [text for text in TIMES if isinstance(text, str)],
    "date": [text for text in TIMES if isinstance(text, str)],
    "long": ["1", "+2", "1.5", "007", "x", " 1", "99999999999999999999"],
    "double": ["1", "1.5d", "1e3", "NaN", "Inf", "x", " 1 ", "1,5"],
    "decimal(10,2)": ["1", "1.50", "x", "123456789012", "1e3"],
    "boolean": ["true", "FALSE", "1", "yes"],
}


def fits(type_, value, *, fields):
    try:
        reader_of(type_, fields=fields)(value)
    except Misfit:
        return False
    return True


def test_values_of_json(spark, tmp_path):
    for number, (type_, values) in enumerate(TYPES.items()):
        path = tmp_path / f"{number}.json"
        path.write_text("".join(json.dumps({"n": place, "v": value}) + "\n" for place, value in enumerate(values)))
        rows = spark.read.schema(f"n int, v {type_}").json(str(path)).selectExpr("n", "v is not null as there").collect()
        there = {row.n: row.there for row in rows}

        assert {repr(value): fits(type_, value, fields=False) for value in values} == {
            repr(value): there.get(place, False) for place, value in enumerate(values)
        }, type_


def test_fields_of_csv(spark, tmp_path):
    for number, (type_, values) in enumerate(FIELDS.items()):
        path = tmp_path / f"{number}.csv"
        kept = [value for value in values if value.strip()]
        path.write_text("n;v\n" + "".join(f"{place};{value}\n" for place, value in enumerate(kept)))
        frame = spark.read.schema(f"n int, v {type_}").csv(str(path), header=True, sep=";")
        there = {row.n: row.there for row in frame.selectExpr("n", "v is not null as there").collect()}

        assert {value: fits(type_, value, fields=True) for value in kept} == {
            value: there[place] for place, value in enumerate(kept)
        }, type_
