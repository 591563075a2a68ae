"""Expressions worked out in plain Python: what is refused, and what Spark would stop at. `tests/spark/test_sql_in_python.py` has the values."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from streamproof.prove.oracle import sql
from streamproof.prove.oracle.arrived import plain


@pytest.mark.parametrize(
    "text",
    [
        "levenshtein(a, b)",
        "sum(a)",
        "rand()",
        "*",
        "a +",
        "INTERVAL 2 MONTHS",
        "CAST(a AS DATE)",
        "exists(r, (v, i) -> i > 0)",
        "try_element_at(r, 9)",
        "try_cast(s AS INT)",
        "try_divide(a, b)",
        "array_sort(r, (a, b) -> 1)",
        "a IN (SELECT 1)",
        "transform(r, f)",
    ],
)
def test_what_is_not_worked_out_is_refused_before_any_row(text):
    with pytest.raises(sql.NotModelled):
        sql.value_of(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("d / 2", {"d": Decimal("1.5")}),
        ("CAST(ts AS BIGINT)", {"ts": sql.Instant(1_767_603_600_000_000)}),
        ("CAST(x AS STRING)", {"x": 1.5}),
        ("floor(x)", {"x": float("inf")}),
        ("deep.field", {"deep": (1, 2)}),
    ],
)
def test_what_depends_on_a_type_that_the_twin_does_not_know_is_refused_with_the_row(text, values):
    with pytest.raises(sql.NotModelled):
        sql.value_of(text)(values)


@pytest.mark.parametrize("text", ["s = 1", "1 <> s", "s IN (1, 2)", "s <=> 1", "array_contains(array(1), s)", "s < 1.5D"])
def test_a_text_beside_a_number_is_refused(text):
    with pytest.raises(sql.NotModelled, match="CAST one of them"):
        sql.value_of(text)({"s": "1"})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x >= 99.99", {"x": 99.99}),
        ("x = 0.1", {"x": 0.1}),
        ("x <=> 0.1", {"x": 0.1}),
        ("NOT x <> 0.1", {"x": 0.1}),
        ("x IN (0.1, 0.2)", {"x": 0.1}),
        ("d IN (x, 5)", {"x": 0.1, "d": Decimal("0.1000000000000000000000001")}),
        ("d >= 0.1D", {"d": Decimal("0.1")}),
        ("x BETWEEN 0.1 AND 0.1", {"x": 0.1}),
        ("CASE x WHEN 0.1 THEN true ELSE false END", {"x": 0.1}),
        ("array_contains(array(x), 0.1)", {"x": 0.1}),
        ("a = x", {"a": 2**53 + 1, "x": float(2**53)}),
        ("NOT d > 0.1", {"d": Decimal("0.1")}),
    ],
)
def test_numbers_of_two_kinds_are_compared_in_the_wider_one(text, values):
    assert sql.value_of(text)(values) is True


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "1 % 0",
        "1 div 0",
        "9223372036854775807L + 1",
        "array(1)[1]",
        "element_at(array(1), 2)",
        "slice(array(1), 0, 1)",
        "CAST(300 AS TINYINT)",
        "CAST(123.45BD AS DECIMAL(3, 1))",
    ],
)
def test_where_spark_would_stop_the_job_it_is_said(text):
    with pytest.raises(sql.Refused):
        sql.value_of(text)({})


def test_the_names_in_an_expression_are_those_of_columns_and_not_of_lambda_arguments():
    found = sql.names_in("filter(r, v -> v.at > ts AND v.b = before.n) IS NULL OR `odd name` > 1")

    assert sorted(found) == ["before.n", "odd name", "r", "ts"]


def test_a_field_inside_a_column_is_taken_where_a_row_has_it_by_its_dotted_name():
    assert sql.value_of("deep.field + 1")({"deep.field": 2}) == 3


def test_a_value_takes_the_type_of_what_a_field_starts_as():
    assert sql.typed_by("0D")(2) == 2.0
    assert isinstance(sql.typed_by("0D")(2), float)
    assert sql.typed_by("0")(2) == 2
    assert str(sql.typed_by("CAST(0 AS DECIMAL(9, 2))")(2)) == "2.00"


def test_what_is_worked_out_has_names():
    assert {"Add", "ArrayFilter", "map_filter", "isnull"} <= set(sql.modelled())


def test_a_field_of_whole_numbers_can_hold_large_ones():
    assert sql.typed_by("0L")(1_767_603_600_000_000) == 1_767_603_600_000_000
    assert sql.typed_by("CAST(array() AS array<bigint>)")((10**15,)) == (10**15,)


@pytest.mark.parametrize(
    ("starts", "value"), [("0L", 1.9), ("0L", Decimal("1.9")), ("CAST(array() AS array<struct<n: bigint>>)", ({"n": 0.5},))]
)
def test_a_fraction_is_not_cut_by_the_field_that_takes_it(starts, value):
    with pytest.raises(sql.Refused, match="a fraction does not fit"):
        sql.typed_by(starts)(value)


def test_what_is_an_instant_is_known_and_what_is_a_large_number_is_one():
    ts, hour = sql.Instant(1_767_603_600_000_000), 3_600_000_000

    def of(text):
        found = sql.value_of(text)({"ts": ts, "n": 4111111111111111, "s": "2026-01-05T09:00:00Z"})
        return isinstance(found, sql.Instant), found

    assert of("ts + INTERVAL 1 HOUR") == (True, ts + hour)
    assert of("INTERVAL 1 HOUR + ts") == (True, ts + hour)
    assert of("ts - INTERVAL 1 HOUR") == (True, ts - hour)
    assert of("greatest(ts, ts - INTERVAL 1 HOUR)") == (True, ts)
    assert of("CAST(s AS TIMESTAMP)") == (True, ts)
    assert of("timestamp_micros(n)") == (True, 4111111111111111)
    assert of("unix_micros(ts)") == (False, ts)
    assert of("ts - (ts - INTERVAL 1 HOUR)") == (False, hour)
    assert of("CAST(n AS BIGINT)") == (False, 4111111111111111)


@pytest.mark.parametrize("text", ["CAST(s AS BIGINT)", "CAST(s AS DOUBLE)", "CAST(s AS DECIMAL(10, 2))", "CAST(s AS TIMESTAMP)"])
def test_a_text_that_is_no_number_is_refused_and_not_shown(text):
    with pytest.raises(sql.Refused) as found:
        sql.value_of(text)({"s": "DE89 3704 0044"})
    assert "DE89" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("array_sort(r)", (1, 2, None)),
        ("sort_array(r)", (None, 1, 2)),
        ("sort_array(r, false)", (2, 1, None)),
        ("round(25, -1)", 30),
        ("round(-25, -1)", -30),
        ("round(25, 1)", 25),
        ("d * 100000000000000.01", Decimal("12345678901234569124567890123456.7890")),
        ("CAST(d * 100000000000000.01 AS DECIMAL(38, 1))", Decimal("12345678901234569124567890123456.8")),
    ],
)
def test_the_place_of_nulls_and_the_digits_of_numbers(text, wanted):
    found = sql.value_of(text)({"r": (2, None, 1), "d": Decimal("123456789012345678.90")})
    assert (found, type(found)) == (wanted, type(wanted))


def test_what_lies_in_a_list_or_a_struct_is_plain_too():
    nine = datetime(2026, 1, 5, 9, tzinfo=UTC)
    found = plain([{"at": nine, "days": [nine.date()]}])

    assert found == ({"at": 1_767_603_600_000_000, "days": ("2026-01-05",)},)
    assert isinstance(found[0]["at"], sql.Instant)
