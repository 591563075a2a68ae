"""What can be said of a declared aggregate before there are rows: its parts, its error, and what the job is told where they make no sense."""

from typing import Any

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates.declared import said_of

MEAN: dict[str, Any] = {
    "zero": {"total": "0D", "n": "0L"},
    "add": {"total": "total + amount", "n": "n + 1"},
    "merge": {"total": "left.total + right.total", "n": "left.n + right.n"},
    "result": "total / n",
}


def test_a_checkpoint_names_a_declaration_whole():
    assert said_of(sp.accumulator(**MEAN)) == (
        "accumulator zero(`total`: 0D, `n`: 0L) add(`total`: total + amount, `n`: n + 1) "
        "merge(`total`: left.total + right.total, `n`: left.n + right.n) result(total / n)"
    )
    assert said_of(sp.sketch.distinct("user", error=0.05)) == "sketch distinct of user error 0.05"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"zero": {}}, "accumulator(zero=...) is empty."),
        ({"add": "total + amount"}, "accumulator(add=...) is a str."),
        ({"add": {"total": "total + amount"}}, "accumulator(): add does not say what becomes of the field n."),
        ({"merge": {**MEAN["merge"], "more": "1"}}, "accumulator(): zero does not say what becomes of the field more."),
        ({"zero": {"to tal": "0D"}}, "accumulator(zero=...): 'to tal' is no name of a field."),
        ({"result": ""}, "accumulator(): result is empty."),
        ({"result": 3}, "accumulator(): result is a int."),
    ],
)
def test_a_part_that_is_missing_or_no_text_is_said(changed, said):
    with pytest.raises(JobDefinitionError) as problem:
        sp.accumulator(**{**MEAN, **changed})

    assert problem.value.message == said


def test_python_is_refused_with_the_reason_and_the_way_out():
    with pytest.raises(JobDefinitionError) as problem:
        sp.accumulator(**{**MEAN, "add": {"total": lambda total, amount: total + amount, "n": "n + 1"}})

    assert problem.value.message == "accumulator(): add of total is a Python function."
    assert "no Python while it aggregates a stream" in (problem.value.required or "")
    assert "transform()" in (problem.value.remedy or "")


def test_percentiles_come_from_one_sketch():
    found = sp.sketch.percentiles("ms", p50=0.5, p99=0.99, error=0.005)

    assert {name: one.share for name, one in found.items()} == {"p50": 0.5, "p99": 0.99}
    assert {one.shares for one in found.values()} == {(0.5, 0.99)}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sp.sketch.percentiles("ms"), "sketch.percentiles() needs a percentile."),
        (lambda: sp.sketch.percentiles("ms", p95=95), "sketch.percentiles(p95=95) is no share."),
        (lambda: sp.sketch.percentiles("ms", p95=True), "sketch.percentiles(p95=True) is no share."),
        (lambda: sp.sketch.percentiles("ms", p95=0.95, error=0), "sketch.percentiles(error=0) is no error that it can have."),
        (lambda: sp.sketch.distinct(""), "sketch.distinct() got an empty text."),
        (lambda: sp.sketch.distinct(None), "sketch.distinct() got a NoneType."),
        (lambda: sp.sketch.distinct("user", error=0.001), "sketch.distinct(error=0.001) is no error that it can have."),
        (lambda: sp.sketch.top_k("path", 0), "sketch.top_k(0) asks for no number of values."),
        (lambda: sp.sketch.top_k("path", 3, error="1%"), "sketch.top_k(error='1%') is no error that it can have."),
    ],
)
def test_a_sketch_that_makes_no_sense_is_said(make, said):
    with pytest.raises(JobDefinitionError) as problem:
        make()

    assert problem.value.message == said


@pytest.mark.parametrize(("k", "error", "places"), [(3, 0.01, 1024), (3, 0.5, 16), (1_000, 0.5, 2048)])
def test_the_places_of_a_frequency_sketch_keep_its_error(k, error, places):
    tracked = sp.sketch.top_k("path", k, error=error)._tracked

    assert tracked == int(places * 0.75) >= k
    assert 3.5 / places <= error / 2, "the library's own bound"


def test_a_spark_without_the_sketch_of_frequent_values_is_said_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("streamproof._jvm.installed_spark", lambda: "4.0.5")

    with pytest.raises(JobDefinitionError, match=r"sketch.top_k\(\) on Spark 4.0.5") as refused:
        sp.sketch.top_k("path", 3)

    assert "since 4.1" in str(refused.value)
    monkeypatch.setattr("streamproof._jvm.installed_spark", lambda: "4.1.4")
    assert sp.sketch.top_k("path", 3).k == 3
