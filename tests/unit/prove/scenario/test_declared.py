"""A schema that is said beside a sample: what may be said, what the sample is then, and what does not fit is said with its lines."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.declared import as_declared, declared_columns, sample
from streamproof.prove.scenario.sample import read_sample

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def declared(path, ddl):
    return as_declared(read_sample("clicks", path), declared_columns("clicks", ddl))


def lines(path, *rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("user string, at timestamp", {"user": "string", "at": "timestamp"}),
        ("user STRING NOT NULL, at: TIMESTAMP COMMENT 'when, in UTC'", {"user": "string", "at": "timestamp"}),
        ("`my id` long,\n price decimal(10, 2)", {"my id": "long", "price": "decimal(10, 2)"}),
        (
            "a struct<b: array<timestamp>, c: int>, d map<string, long>",
            {"a": "struct<b: array<timestamp>, c: int>", "d": "map<string, long>"},
        ),
    ],
)
def test_a_schema_is_ddl(text, columns):
    assert declared_columns("clicks", text) == columns


def test_a_schema_is_a_file_of_ddl_or_of_sparks_json(tmp_path):
    (tmp_path / "clicks.ddl").write_text("\ufeffuser string,\n  at timestamp\n")
    field = {
        "name": "tags",
        "type": {"type": "array", "elementType": "string", "containsNull": True},
        "nullable": True,
        "metadata": {},
    }
    of_spark = {"type": "struct", "fields": [{"name": "at", "type": "timestamp", "nullable": True, "metadata": {}}, field]}
    (tmp_path / "clicks.json").write_text(json.dumps(of_spark))

    assert declared_columns("clicks", str(tmp_path / "clicks.ddl")) == {"user": "string", "at": "timestamp"}
    assert declared_columns("clicks", str(tmp_path / "clicks.json")) == {"at": "timestamp", "tags": "array<string>"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "--schema clicks is empty"),
        ("user strin", 'gives the column "user" the type "strin", which is not known'),
        ("user", "which is no column with a type"),
        ("a string, a int", 'has the column "a" twice'),
        ("schemas/clicks.ddl", "If schemas/clicks.ddl is meant as a file: there is none of that name"),
        ('{"type": "struct"}', "no schema of Spark's in JSON"),
        ('{"type": "struct", "fields": [{"name": "a", "type": "udt"}]}', 'the type "udt", which is not known'),
    ],
)
def test_what_is_no_schema_says_so(text, said):
    with pytest.raises(ScenarioError) as problem:
        declared_columns("clicks", text)

    assert said in str(problem.value)
    assert problem.value.required


def test_a_time_in_json_is_a_timestamp(tmp_path):
    path = lines(tmp_path / "clicks.jsonl", *({"user": "u", "n": n, "at": f"2026-03-01T09:00:{n:02}Z"} for n in range(20)))

    found = declared(path, "at timestamp, user string")

    assert (found.schema, found.time_column) == ("at timestamp, user string", "at")
    assert found.records[0].values["at"] == AT
    assert found.records[0].raw == path.read_bytes().splitlines()[0], "the lines stay as they are: Spark reads them by the schema"
    assert any("leaves out n" in note for note in found.notes)


@pytest.mark.parametrize(
    ("type_", "value", "read"),
    [
        ("timestamp", "2026-03-01 10:00:00+01:00", AT),
        ("timestamp", "2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("timestamp", "2026-3-1 9:00:00", AT),
        ("timestamp", "2026-03-01T04:00:00-0500", AT),
        ("timestamp", "2026-03-01 10:00:00 Europe/Berlin", AT),
        ("timestamp", 1_772_355_600, AT),
        ("timestamp_ntz", "2026-03-01T09:00:00", AT.replace(tzinfo=None)),
        ("date", "2026-03-01", date(2026, 3, 1)),
        ("double", 3, 3.0),
        ("double", "NaN", pytest.approx(float("nan"), nan_ok=True)),
        ("decimal(10,2)", "12.50", Decimal("12.50")),
        ("string", {"a": 1}, '{"a": 1}'),
        ("array<timestamp>", ["2026-03-01T09:00:00Z", None], [AT, None]),
        ("struct<at: timestamp, n: int>", {"at": "2026-03-01T09:00:00Z"}, {"at": AT, "n": None}),
        ("map<string, date>", {"d": "2026-03-01"}, {"d": date(2026, 3, 1)}),
        ("binary", "AAE=", b"\x00\x01"),
    ],
)
def test_values_are_read_as_spark_reads_them(type_, value, read, tmp_path):
    found = declared(lines(tmp_path / "clicks.jsonl", {"v": value, "n": 1}, {"v": None, "n": 2}), f"v {type_}")

    assert [record.values["v"] for record in found.records] == [read, None]


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        ("timestamp", "01.03.2026 09:00", "a text is no time in ISO 8601"),
        ("timestamp", "2026-02-31T09:00:00Z", "a text is no time that there is"),
        ("timestamp", 1_772_355_600_000, "no count of seconds since 1970, as which Spark reads it"),
        ("timestamp", "1772355600", "a text is no time in ISO 8601"),
        ("timestamp", "", "a text is empty"),
        ("timestamp", True, "true or false is no time"),
        ("long", "12", "a number stands in quotes, and is a text"),
        ("long", 1.5, "a number has decimals"),
        ("int", 2**31, "a number is too great"),
        ("double", "12.5", "a number stands in quotes"),
        ("decimal(4,2)", 1234, "a number is too great"),
        ("boolean", "true", "a text is neither true nor false"),
        ("array<int>", 3, "a number is no list"),
        ("struct<a: int>", "x", "a text is no object"),
        ("struct<a: int>", {"a": "x"}, "a text is no number"),
        ("date", 3, "a number is no day"),
    ],
)
def test_values_that_do_not_parse_are_counted_with_their_lines_and_not_shown(type_, value, said, tmp_path):
    path = lines(tmp_path / "clicks.jsonl", {"n": 1}, "", *({"v": value, "n": n} for n in range(7)))

    with pytest.raises(ScenarioError) as problem:
        declared(path, f"v {type_}")

    text = str(problem.value)
    assert f"--schema clicks says v {type_}, and 7 of 7 values of v in {path} are none, lines 3, 4, 5, 6, 7 and 2 more: " in text
    assert said in text
    if isinstance(value, str) and len(value) > 4:
        assert value not in text
    assert problem.value.remedy


def test_a_few_values_that_do_not_parse_are_a_note(tmp_path):
    rows = [{"at": f"2026-03-01T09:{n // 60:02}:{n % 60:02}Z"} for n in range(100)]
    rows[40] = rows[41] = {"at": "soon"}

    found = declared(lines(tmp_path / "clicks.jsonl", *rows), "at timestamp")

    assert found.records[40].values["at"] is None
    assert found.notes == (
        f"{tmp_path / 'clicks.jsonl'}: 2 of 100 values of at are no timestamp, lines 41 and 42; Spark reads them as null.",
    )


def test_a_column_that_no_record_has_is_said(tmp_path):
    path = lines(tmp_path / "clicks.jsonl", {"user": "u", "at": "x"}, {"user": "u"})

    with pytest.raises(ScenarioError) as problem:
        declared(path, "usr string")

    assert f'has the column "usr", and none of the 2 records of {path} has it' in str(problem.value)
    assert 'Did you mean "user"?' in str(problem.value)
    assert "user, at" in problem.value.required


def test_csv_is_read_by_its_own_places_and_zeros_stay(tmp_path):
    path = lines(tmp_path / "clicks.csv", "zip,at,n", "01234,2026-03-01 09:00:00,1", "00007,2026-03-01 09:00:01,2")

    found = declared(path, "at timestamp, zip string")

    assert found.schema == "zip string, at timestamp, n string", "Spark gives the first column of a schema the first of the file"
    assert (found.kept, found.columns) == (("at", "zip"), {"at": "timestamp", "zip": "string"})
    assert found.records[0].values["zip"] == "01234"
    assert not any("becomes 1234" in note for note in found.notes)


def test_a_field_of_csv_that_is_no_number(tmp_path):
    path = lines(tmp_path / "clicks.csv", "id,n", "a,1", "b,x", "c,2.5")

    with pytest.raises(
        ScenarioError, match=r"2 of 3 values of n .* lines 3 and 4: a text is no whole number; a number has decimals"
    ):
        declared(path, "n long")


def test_parquet_has_types_of_its_own_and_comes_as_json(tmp_path):
    pq.write_table(pa.table({"id": ["a", "b"], "at": ["2026-03-01T09:00:00Z", None]}), tmp_path / "clicks.parquet")

    found = declared(tmp_path / "clicks.parquet", "id string, at timestamp")

    assert (found.format, found.schema, found.written.whole_lines) == ("json", "id string, at timestamp", True)
    assert found.records[0].values["at"] == AT
    assert json.loads(found.records[0].raw) == {"id": "a", "at": "2026-03-01T09:00:00Z"}


def test_what_python_says_is_the_same(tmp_path):
    one = sample(tmp_path / "clicks.jsonl", schema="at timestamp")

    assert (one.path, one.schema) == (str(tmp_path / "clicks.jsonl"), "at timestamp")
