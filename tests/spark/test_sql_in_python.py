"""Expressions as plain Python works them out for the twin of declared state, beside Spark itself, over values at the edges."""

import math
from decimal import Decimal

import pytest

from streamproof.prove.oracle import sql
from streamproof.prove.oracle.arrived import plain

COLUMNS = (
    "a bigint, b bigint, x double, y double, p boolean, q boolean, s string, t string, d decimal(10,2), "
    "ts timestamp, r array<bigint>, m map<string,bigint>"
)
ROWS = [
    (7, 2, 1.5, -0.5, True, None, "abc", "B", Decimal("2.50"), 1767603600123456, [3, 1, None, 3], {"a": 1, "b": None}),
    (-7, 2, math.nan, 2.5, False, True, "", "ü", Decimal("-0.05"), 5, [], {}),
    (None, 3, None, math.inf, None, False, None, None, None, None, None, None),
    (0, -3, -0.0, 0.0, True, True, "ü", "abc", Decimal("0.00"), -1, [1], {"c": 9}),
    (1, 1, 99.99, 0.1, True, True, "a", "a", Decimal("0.10"), 0, [0], {}),  # what has no exact double beside a decimal
]
EXPRESSIONS = """
a + b; a - b; a * b; a / b; a div b; a % b; -a; abs(a); a + x; x * y; x / 2; a / 2 + 0.5D; x + 0.5; d + 1; d * 2; d + 0.05; d + x; pmod(a, 3); a = b
a < b; a <= x; x > y; x = x; x >= y; a <> b; a <=> b; x <=> y; s < t; p AND q; p OR q; NOT p; p = q; s = t; d > 0; d = 0.0
x >= 99.99; x = 99.99; y = 0.1; y <=> 0.1; y <> 0.1; y IN (0.1, 0.2); y NOT IN (0.1, 5); d IN (0.1, y); d = 0.1D; d >= 0.1D; d > 0.1D; d = y
y BETWEEN 0.1 AND 0.2; 9007199254740992 + a = 9007199254740992D; 9007199254740992 + a > 9007199254740992D; CASE y WHEN 0.1 THEN 1 ELSE 0 END
array_contains(array(y), 0.1); greatest(y, 0.1); least(x, d, 0.1); array_sort(r); round(a, -1); round(a * 5, -1); round(25, -1); round(a, 2)
12345678901234567.25 * 12345678901234567.25; CAST(12345678901234567890123456789.25 AS DECIMAL(38, 1)); round(d * 1000, -2)
ts > TIMESTAMP '2020-01-01 00:00:00'; a IS NULL; a IS NOT NULL; isnull(x); isnotnull(s); a BETWEEN 0 AND 7; a IN (7, 0); a IN (1, NULL)
a NOT IN (7, 8); isnan(x); IF(p, a, b); IF(a > 0, 'up', 'down'); CASE WHEN a > 0 THEN 1 WHEN a < 0 THEN -1 END
CASE a WHEN 7 THEN 'seven' ELSE 'other' END; coalesce(a, b, 0); nullif(a, 7); nvl(x, y); greatest(a, b); least(a, b); greatest(x, y); least(x, y)
greatest(a, x); least(s, t); round(x); round(x, 1); round(y); round(d, 1); floor(d); ceil(d); floor(a / 2); ceil(a / 2D); sqrt(b * b); exp(y - y)
pow(a, 2); CAST(a AS DOUBLE); CAST(d AS BIGINT); CAST(a / 2 AS INT); CAST(a AS STRING); CAST(d AS DOUBLE); CAST(a / 4 AS DECIMAL(10, 1))
CAST(a AS DECIMAL(10, 2)); CAST(p AS STRING); CAST('12' AS INT); double(a); 1BD + 0.25; unix_micros(ts); unix_millis(ts); unix_seconds(ts)
unix_micros(ts + INTERVAL 10 MINUTES); unix_micros(ts - INTERVAL '1' DAY); ts - INTERVAL 2 SECONDS > ts; unix_micros(timestamp_micros(a))
unix_micros(greatest(ts, ts + INTERVAL 1 HOUR)); concat(s, t); s || t; length(s); upper(t); lower(t); size(r); array_append(r, a); array_prepend(r, a)
array_contains(r, 3); array_contains(r, 2); array_distinct(r); array_remove(r, 3); array_max(r); array_min(r); sort_array(r); sort_array(r, false)
reverse(r); slice(r, 1, 2); slice(r, -1, 1); get(r, 0); get(r, 9); filter(r, v -> v > 1); filter(r, v -> v IS NULL); transform(r, v -> v + a)
transform(r, (v, i) -> i); filter(r, (v, i) -> i > 0)
exists(r, v -> v > 2); exists(r, v -> v > 5); forall(r, v -> v > 0); aggregate(r, 0L, (sum, v) -> sum + coalesce(v, 0L))
aggregate(r, 0L, (sum, v) -> sum + v); aggregate(r, 0L, (sum, v) -> sum + 1, sum -> sum * 2); array(a, b); element_at(array(a, b), 1)
element_at(array(a, b), -1); array(a, b)[1]; m['a']; m['z']; element_at(m, 'a'); map_keys(m); map_values(m); size(m); map_contains_key(m, 'b')
map_keys(map_filter(m, (k, v) -> v IS NULL)); map_values(map_concat(map_filter(m, (k, v) -> k <> 'a'), map('a', b)))
map_values(transform_values(m, (k, v) -> v + 1)); map_keys(map_from_entries(map_entries(m))); struct(a AS one, b).one; named_struct('k', a, 'v', s).v
transform(array(struct(a AS v)), e -> e.v); size(filter(array(struct(ts AS at)), e -> e.at > ts - INTERVAL 1 MINUTE))
map_values(IF((b) IS NULL OR ('a') IS NULL, map_filter(m, (_k, _v) -> NOT _k <=> ('a')), map_concat(map_filter(m, (_k, _v) -> NOT _k <=> ('a')), map('a', b))))
"""
TEXTS = [text.strip() for text in EXPRESSIONS.replace("\n", ";").split(";") if text.strip()]


def test_plain_python_gives_what_spark_gives(spark):
    """All in one projection: a query for each would take a second."""
    names = [column.split()[0] for column in COLUMNS.split(", ")]
    given = [(number, *row[:-3], *row[-2:], row[-3]) for number, row in enumerate(ROWS)]
    frame = spark.createDataFrame(given, "n long, " + COLUMNS.replace(" ts timestamp,", "") + ", us long").selectExpr(
        "*", "timestamp_micros(us) ts"
    )
    found = frame.selectExpr("n", *(f"{text} AS e{number}" for number, text in enumerate(TEXTS))).orderBy("n").collect()

    different = {}
    for number, text in enumerate(TEXTS):
        for row, of_spark in zip(ROWS, found, strict=True):
            values = {name: tuple(one) if isinstance(one, list) else one for name, one in zip(names, row, strict=True)}
            mine, theirs = sql.value_of(text)(values), plain(of_spark[f"e{number}"])
            if not _alike(mine, theirs):
                different[text] = (mine, theirs)
    assert different == {}


def _alike(one, other):
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return (one is None) == (other is None) and (
            one is None or (math.isnan(one) and math.isnan(other)) or float(one) == pytest.approx(float(other))
        )
    return one == other and isinstance(one, bool) == isinstance(other, bool)
