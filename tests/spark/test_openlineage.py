"""What the plan of a query says of its columns, and what a run tells a catalogue."""

import json

import pytest

from spark.small_job import KEPT, SUMS, Binding, event
from streamproof.core.datasets import Dataset
from streamproof.observe.openlineage.sending import OpenLineage
from streamproof.runtime.watching.planned_events import Data, QueryPlanned

TRANSFORMED = """
@F.udf("double")
def twice(v):
    return 2 * v


def changed(rows):
    return rows.withColumn("both", F.concat("id", "client")).withColumn("w", twice("v")).withColumnRenamed("id", "name").drop("ts")


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.filter("v > 0", name="some").transform(changed))
"""
BY_BATCH = """
def changed(rows):
    return rows.mapInArrow(lambda batches: batches, rows.schema)


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(changed))
"""
KEYED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    counted = events.keyed("client", state={"n": "0L"}, on_row=sp.step(set={"n": "n + 1"}, emit=sp.emit("client", "n")), ttl="1 hour")
    return sp.Outputs(kept=counted)
"""
OUTPUT = {KEPT: "kept", SUMS: "sums"}


def said_of(job) -> tuple[Data, QueryPlanned]:
    heard: list[QueryPlanned] = []
    job.run(lineage=True, listener=lambda each: heard.append(each) if each.kind == "query-planned" else None)
    (planned,) = heard
    return planned.writes[0], planned


def origins_of(data: Data) -> dict[str, set[str]]:
    return {column: {f"{each.by} {each.source}.{each.column}" for each in found} for column, found in data.origins.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KEPT, {name: {f"IDENTITY events.{name}"} for name in ("id", "client", "v", "ts")}),
        (
            SUMS,
            {
                "client": {"IDENTITY events.client"},
                "window_start": {"TRANSFORMATION events.ts"},
                "window_end": {"TRANSFORMATION events.ts"},
                "total": {"AGGREGATION events.v"},
                "n": set(),
            },
        ),
        (
            TRANSFORMED,
            {
                "name": {"IDENTITY events.id"},
                "client": {"IDENTITY events.client"},
                "v": {"IDENTITY events.v"},
                "both": {"TRANSFORMATION events.id", "TRANSFORMATION events.client"},
                "w": {"TRANSFORMATION events.v"},
            },
        ),
    ],
    ids=["rows", "window", "transform"],
)
def test_a_column_is_made_of_columns_of_the_source(text, expected, small_job):
    job = small_job(text, Binding(sinks={OUTPUT.get(text, "kept"): "parquet"}))
    job.feed([event("e1", 1)])

    data, planned = said_of(job)

    assert origins_of(data) == expected
    assert not any(data.hidden.values())
    assert list(data.columns) == list(expected)
    assert data.datasets == [Dataset("file", str(job.out(data.name)))]
    (source,) = planned.reads
    assert (source.name, source.columns["v"], source.columns["ts"]) == ("events", "double", "timestamp")


def test_what_a_function_over_batches_makes_is_not_known_and_the_step_says_so(small_job):
    job = small_job(BY_BATCH, Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    data, _ = said_of(job)

    assert not any(data.origins.values())
    assert set(map(tuple, data.hidden.values())) == {("MapInArrow",)}


def test_columns_of_keyed_state_are_left_out(small_job):
    """Its expressions run in a processor of ours, which Spark's plan does not look into."""
    job = small_job(KEYED, Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    data, _ = said_of(job)

    assert data.origins == {"client": [], "n": []}


def test_a_run_tells_a_catalogue_from_start_to_end(small_job, tmp_path):
    job, file = small_job(SUMS, Binding(sinks={"sums": "parquet"})), tmp_path / "lineage.jsonl"
    job.feed([event("e1", 1), event("e2", 2)])

    with OpenLineage("small", f"file:{file}", print) as hear:
        job.run(lineage=True, listener=hear)

    said = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["eventType"] for each in said] == ["START", "RUNNING", "COMPLETE"]
    output = said[0]["outputs"][0]
    (source,) = said[0]["inputs"]
    assert output["facets"]["columnLineage"]["fields"]["total"]["inputFields"][0]["field"] == "v"
    assert (source["namespace"], source["name"]) == ("file", str(job.folder / "data"))
    assert said[-1]["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 2
