"""Declared aggregates: what a job is told where they do not fit its rows, and that they give what Spark's own give."""

from typing import Any

import pandas as pd
import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf

import streamproof as sp
from full_tables import beyond
from streamproof import _jvm
from streamproof.errors import JobDefinitionError
from streamproof.prove.subjects.job.accumulator_laws import LAWS, results, same
from streamproof.prove.subjects.job.aggregated import fold_of
from streamproof.stream.aggregates.declared import columns_of
from streamproof.stream.problems import require_no_python

TOTAL: dict[str, Any] = {
    "zero": {"total": "0D"},
    "add": {"total": "total + v"},
    "merge": {"total": "left.total + right.total"},
    "result": "total",
}
LARGEST = sp.accumulator(
    zero={"most": "CAST(NULL AS double)", "who": "CAST(NULL AS bigint)"},
    add={"most": "greatest(most, v)", "who": "CASE WHEN most IS NULL OR v > most THEN id ELSE who END"},
    merge={
        "most": "greatest(left.most, right.most)",
        "who": "CASE WHEN left.most IS NULL OR right.most > left.most THEN right.who ELSE left.who END",
    },
    result="IF(who BETWEEN 0 AND 10000, nvl(who, -1), nullif(who, 3))",
)
BROKEN = {
    "merge-of-parts": {"merge": {"total": "left.total"}},
    "not-commutative": {"merge": {"total": "left.total + 2 * right.total"}},
    "not-associative": {"merge": {"total": "(left.total + right.total) / 2"}},
    "zero-changes": {"zero": {"total": "1D"}},
    "order-of-rows": {"add": {"total": "v"}},
}


@pytest.fixture(scope="module")
def rows(spark):
    numbers = spark.range(600).repartition(4)
    trace = F.format_string("e-%06d", "id").alias("_trace")
    return numbers.select(
        trace, "id", (F.col("id") % 7).alias("k"), (F.col("id") * 37 % 601 * 0.5).alias("v"), F.lit("x").alias("s")
    ).cache()


def test_they_give_what_sparks_own_give_and_depend_on_the_order_of_floats_as_these_do(rows):
    mean = sp.accumulator(
        zero={"s1": "0D", "n": "0L"},
        add={"s1": "s1 + v", "n": "n + 1"},
        merge={"s1": "left.s1 + right.s1", "n": "left.n + right.n"},
        result="round(s1 / n, 6)",
    )
    declared = {"mean": mean, "who": LARGEST, "distinct": sp.sketch.distinct("id"), **sp.sketch.percentiles("v", p50=0.5, p90=0.9)}
    own = {"own_mean": F.round(F.avg("v"), 6), "own_who": F.max_by("id", "v")}
    found = rows.groupBy("k").agg(*[column.alias(name) for name, column in columns_of({**declared, **own}, rows).items()])

    for row in found.collect():
        assert row["mean"] == pytest.approx(row["own_mean"], abs=1.5e-6)
        assert row["who"] == row["own_who"]
    assert _jvm.float_steps(found) == {"mean": 1e-6, "own_mean": 1e-6, "p50": float("inf"), "p90": float("inf")}


def test_fields_are_told_by_their_names_and_not_by_their_order(rows):
    mean = sp.accumulator(
        zero={"total": "0D", "n": "0D"},
        add={"n": "n + 1", "total": "total + v"},
        merge={"n": "left.n + right.n", "total": "left.total + right.total"},
        result="total / n",
    )

    for row in rows.groupBy("k").agg(columns_of({"x": mean}, rows)["x"].alias("mean"), F.avg("v").alias("own")).collect():
        assert row["mean"] == pytest.approx(row["own"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"add": {"total": "total + w"}}, 'aggregate(x=...): add of total, "total + w", needs the column "w", which is not there.'),
        (
            {"result": "totl"},
            'aggregate(x=...): result, "totl", needs the column "totl", which is not there. Did you mean "total"?',
        ),
        ({"zero": {"total": "v"}}, 'aggregate(x=...): zero of total, "v", names v, which is not there.'),
        (
            {
                "zero": {"a": "0D", "total": "a"},
                "add": {"a": "a", "total": "total + v"},
                "merge": {"a": "left.a", "total": "left.total + right.total"},
            },
            'aggregate(x=...): zero of total, "a", names a, which is not there.',
        ),
        ({"zero": {"total": "0.0"}}, 'aggregate(x=...): add of total, "total + v", is double, and the field is decimal(1,1).'),
        (
            {"merge": {"total": "left.total || ''"}},
            """aggregate(x=...): merge of total, "left.total || ''", is string, and the field is double.""",
        ),
        ({"add": {"total": "total + rand()"}}, "is not deterministic"),
        ({"add": {"total": "total + unix_micros(now())"}}, "is not deterministic"),
        ({"add": {"total": "total + (SELECT 1)"}}, "Spark cannot compute scalarsubquery inside an aggregate"),
        ({"add": {"total": "total + sum(v)"}}, "cannot be planned"),
        ({"add": {"total": "total +"}}, "cannot be planned: Syntax error"),
        (
            {"zero": {"v": "0D"}, "add": {"v": "v"}, "merge": {"v": "left.v"}, "result": "v"},
            "the buffer has a field v, and so have the rows",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_the_aggregate_and_its_expression(rows, changed, said):
    with pytest.raises(JobDefinitionError) as problem:
        columns_of({"x": sp.accumulator(**{**TOTAL, **changed})}, rows)

    assert said in problem.value.message


def test_percentiles_of_texts_and_aggregates_in_python_are_refused(rows):
    with pytest.raises(JobDefinitionError, match='"s" is string'):
        columns_of(sp.sketch.percentiles("s", p50=0.5), rows)

    @pandas_udf("double")
    def mean(values: pd.Series) -> float:
        return float(values.mean())

    with pytest.raises(JobDefinitionError, match="calls a Python function"):
        require_no_python(rows.groupBy("k").agg(mean("v")))


@pytest.mark.parametrize("code", beyond(3, [None, *BROKEN]))
def test_a_broken_law_is_found(rows, code):
    fold = fold_of(sp.accumulator(**{**TOTAL, **BROKEN.get(code, {})}), rows)

    found = results(fold, rows).collect()

    broken = {law.code for law in LAWS if any(not same(row[law.one], row[law.other], 0.0) for row in found)}
    assert code in broken if code else not broken
