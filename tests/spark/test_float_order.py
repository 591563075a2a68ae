"""Values that depend on the order in which floats are added are compared as what they are (R4, R23)."""

from math import inf
from typing import Any

import pytest
from pyspark.sql import functions as F

from spark.small_job import WINDOWED, event
from streamproof import _jvm
from streamproof.errors import NondeterministicReplay

MEANS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    means = checked.window(sp.tumbling("30 seconds"), by="client").aggregate(
        mean=F.round(F.avg("v"), 6), whole=F.sum("v").cast("bigint"), level=F.when(F.avg("v") > 1, "high").otherwise("low")
    )
    return sp.Outputs(sums=means, late=means.late, rejected=checked.rejected)
"""
EXPECTED = {
    "F.sum('x')": 0.0,
    "F.round(F.avg('x'), 6)": 1e-6,
    "F.bround(F.avg('x') * 2, 3)": 1e-3,
    "F.floor(F.avg('x'))": 1.0,
    "F.ceil(F.stddev('x'))": 1.0,
    "F.sum('x').cast('int')": 1.0,
    "F.sum('x').cast('decimal(20,4)')": 1e-4,
    "F.round(F.avg('x'), 2) / 100": 1e-4,
    "-F.round(F.avg('x'), 2) + F.round(F.sum('x'), 1)": 0.11,
    "F.coalesce(F.round(F.avg('x'), 2), F.lit(0.0))": 0.01,
    "F.sqrt(F.sum('x'))": 0.0,
    "F.when(F.count('*') > 5, F.avg('x')).otherwise(0.0)": 0.0,
    "F.sqrt(F.round(F.sum('x'), 2))": inf,
    "F.round(F.avg('x'), 2) * F.count('*')": inf,
    "F.avg('x').cast('string')": inf,
    "F.format_number(F.avg('x'), 2)": inf,
    "F.avg('x') > 5": inf,
    "F.when(F.avg('x') > 5, 'high').otherwise('low')": inf,
    "F.struct(F.avg('x'))": inf,
    "F.avg('x').isNull()": None,
    "F.max('x')": None,
    "F.round(F.max('x'), 2)": None,
    "F.count('x')": None,
    "F.sum('n')": None,
    "F.round(F.avg('n'), 2)": None,
    "F.sum(F.round('x', 2))": 0.0,
    "F.sum(F.col('x').cast('decimal(10,2)'))": None,
}


def test_the_step_of_a_column_is_found_in_its_expression(spark):
    rows = spark.createDataFrame([("a", 1.5, 2)], "k string, x double, n int")
    columns = {text: eval(text, {"F": F}) for text in EXPECTED}
    grouped = rows.groupBy("k").agg(*[column.alias(f"c{place}") for place, column in enumerate(columns.values())])
    behind = grouped.select("k", "*", F.round("c0", 3).alias("afterwards"), F.col("c1").alias("renamed"))

    found = _jvm.float_steps(behind)

    steps = {text: found.get(f"c{place}") for place, text in enumerate(EXPECTED)}
    assert steps == {text: step if step is None else pytest.approx(step) for text, step in EXPECTED.items()}
    assert (found["afterwards"], found["renamed"], found.get("k")) == (pytest.approx(1e-3), pytest.approx(1e-6), None)


@pytest.mark.parametrize(("units", "equal"), [(1, True), (2, False)])
def test_r4_a_replay_whose_rounded_mean_is_one_step_off_is_the_same(small_job, units, equal):
    job = small_job(MEANS, WINDOWED)
    job.feed([event("e1", 1, v=0.1), event("e2", 2, v=0.2)])
    job.feed([event("e3", 100)])
    result = job.run()
    assert [row["mean"] for row in job.rows("sums")] == [0.15]
    assert any("level" in note and "order in which floats are added" in note for note in result.notes)

    def drift(found: dict[str, Any]) -> None:
        (digest,) = [section["digest"] for section in found["sections"] if section["kind"] == "main"]
        assert set(digest["floats"]) == {"mean", "whole"}
        digest["floats"]["mean"][0] += units * 1e-6
        digest["floats"]["whole"][0] += 1

    job.change_manifest(2, drift, query="sums")
    job.lose("commits/2", query="sums")
    job.feed([event("e4", 101)])  # a no-data batch is only run again when there is more to come

    if equal:
        job.run()
        assert len(job.rows("sums")) == 1
    else:
        assert "output sums" in job.stopped(NondeterministicReplay).message
