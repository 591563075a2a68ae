"""Running a job: what goes in comes out, once, in the right place, and the account adds up."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, event, instant
from streamproof.core.account import Account
from streamproof.errors import JobDefinitionError

WHOLE_CHAIN = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").filter("client != 'test'", name="no test clients")
    once = checked.transform(lambda rows: rows.withColumn("double", F.col("v") * 2)).deduplicate("id")
    sums = once.window(sp.tumbling("30 seconds"), by=["client"]).aggregate(total=F.sum("double"), n=F.count("*"))
    return sp.Outputs(sums=sums.transform(lambda rows: rows.withColumn("mean", F.col("total") / F.col("n"))))
"""


def test_the_whole_chain_every_record_in_one_place(small_job):
    """Late rows and rejected ones go to default places with a notice, duplicates and filtered ones are counted."""
    job = small_job(WHOLE_CHAIN, Binding(sinks={"sums": "parquet"}))
    job.feed(
        [event("e1", 1), event("e2", 12, v=2), event("e2", 12, v=2), event("e3", 13, client="b"), event("e4", 9, client="test")]
    )
    job.feed([event("e5", 100), event("e6", 3, v=-1), "{broken", json.dumps(event("e7", 4) | {"ts": None})])
    job.feed([event("e8", 101)])
    job.feed([event("e9", 5)])  # behind the watermark of the batch before: 09:01:30

    result = job.run()

    window = {"window_start": instant(0), "window_end": instant(30)}
    sums = sorted(job.rows("sums"), key=lambda row: row["client"])
    assert sums == [
        {"client": "a", **window, "total": 6.0, "n": 2, "mean": 3.0},
        {"client": "b", **window, "total": 2.0, "n": 1, "mean": 2.0},
    ]
    assert result.account == Account(emitted=3, open_state=2, late=1, rejected=3, duplicate=1, filtered=1)
    assert result.account_input == result.rows_in == 11
    assert (result.open_windows, result.closes_after) == (1, instant(120))
    assert [row["id"] for row in job.rows("late")] == ["e9"]
    assert job.rows("late")[0]["reason"] == "at or behind the late bound"
    reasons = {"v >= 0": 1, "not parseable": 1, "no event time in ts": 1}
    assert next(output for output in result.outputs if output.name == "rejected").reasons == reasons
    assert {row["reason"]: row["original"] for row in job.rows("rejected")}["not parseable"] == "{broken"
    for name in ("late", "rejected"):
        assert any(
            f"The output {name} has no [sink.{name}]; its rows are kept at {job.out(name)}." in note for note in result.notes
        )


def test_a_transform_behind_the_aggregate_must_keep_the_hidden_count(small_job):
    job = small_job(SUMS.replace('n=F.count("*"))', 'n=F.count("*")).transform(lambda rows: rows.select("client", "n"))'), WINDOWED)
    job.feed([event("e1", 1)])
    assert "leaves out the hidden column _records" in job.stopped(JobDefinitionError).message


def test_a_second_run_reads_nothing_twice_and_goes_on_with_what_is_new(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.feed([event("e2", 2)])
    assert job.run().batches == 2

    again = job.run()
    assert (again.batches, again.rows_in, again.notes) == (0, 0, [])
    assert again.account == Account(emitted=2, rejected=1)

    job.feed([event("e3", 3)])
    more = job.run()
    assert (more.batches, more.rows_in) == (1, 1)
    assert more.account == Account(emitted=3, rejected=1)
    assert job.ids() == ["e1", "e2", "e3"]


def test_pass_through_keeps_rows_as_they_are(small_job):
    job = small_job("""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events)
""")
    job.binding = Binding(sinks={"kept": "json"})
    job.write()
    job.feed([event("e1", 1.5, v=None), event("ü", -1)])

    result = job.run()

    assert sorted(job.rows("kept"), key=lambda row: row["id"]) == [
        {"id": "e1", "client": "a", "v": None, "ts": "2026-01-05T09:00:01.500000Z"},
        {"id": "ü", "client": "a", "v": 1.0, "ts": "2026-01-05T08:59:59.000000Z"},
    ]
    assert result.account == Account(emitted=2)
    assert result.outputs[0].guarantee.startswith("exactly once")


def test_deduplication_alone(small_job):
    job = small_job("""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.deduplicate("id"))
""")
    job.binding = Binding(sinks={"kept": "parquet"})
    job.write()
    job.feed([event("e1", 1), event("e1", 1), event("e2", 2)])
    job.feed([event("e1", 1), event("e3", 3)])

    result = job.run()

    assert job.ids() == ["e1", "e2", "e3"]
    assert result.account == Account(emitted=3, duplicate=2)


def test_parquet_in_with_the_schema_of_the_files_and_json_out(small_job):
    job = small_job(
        SUMS, Binding(format="parquet", schema=None, event_time='event_time = { column = "ts" }', sinks={"sums": "json"})
    )
    stamps = pa.array([instant(1), instant(2), None], pa.timestamp("us", tz="UTC"))
    job.feed_parquet({"id": ["e1", "e2", "e3"], "client": ["a", "a", "a"], "v": [1.0, -2.0, 3.0], "ts": stamps})
    job.feed_parquet({"id": ["e4"], "client": ["b"], "v": [1.0], "ts": pa.array([instant(90)], pa.timestamp("us", tz="UTC"))})

    result = job.run()

    assert job.rows("sums") == [
        {
            "client": "a",
            "window_start": "2026-01-05T09:00:00.000000Z",
            "window_end": "2026-01-05T09:00:30.000000Z",
            "total": 1.0,
            "n": 1,
        }
    ]
    assert result.account == Account(emitted=1, open_state=1, rejected=2)
    rejected = {row["reason"]: row for row in job.rows("rejected")}
    assert json.loads(rejected["v >= 0"]["original"])["id"] == "e2"
    assert rejected["no event time in ts"]["id"] == "e3"


def test_two_main_outputs_are_two_queries(small_job):
    job = small_job("""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    sums = checked.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"))
    return sp.Outputs(kept=checked, sums=sums, late=sums.late, rejected=checked.rejected)
""")
    job.binding = Binding(sinks={"kept": "json", "sums": "parquet", "late": "json", "rejected": "json"})
    job.write()
    job.feed([event("e1", 1), event("e2", 2, v=-1)])

    result = job.run()

    assert job.ids() == ["e1"]
    assert [account.query for account in result.accounts] == ["kept", "sums"]
    assert all(account.adds_up for account in result.accounts)
    assert len(job.rows("rejected")) == 1
    assert job.checkpoint("kept").is_dir()
    assert job.checkpoint("sums").is_dir()


def test_r5_side_rows_in_parquet_keep_their_types(small_job):
    """Microseconds, nulls, decimals and nested values survive the way through the side file."""
    schema = "id string, price decimal(20,6), at timestamp, tags array<string>, part struct<a:int,b:string>, ts long"
    text = KEPT.replace("v >= 0", "price > 0")
    job = small_job(text, Binding(schema=schema, sinks={"kept": "parquet", "rejected": "parquet"}))
    job.feed(
        [
            {"id": "e1", "price": -12345678901234.123456, "at": "2026-01-05T09:00:00.123456Z", "tags": ["x", None], "ts": 1},
            '{"id": "e2", "price": "-0.000001", "part": {"a": 7, "b": null}, "ts": 1767603600000}',
            "{broken",
        ]
    )

    job.run()

    rows = {row["id"]: row for row in job.rows("rejected")}
    assert rows["e1"]["at"] == datetime(2026, 1, 5, 9, 0, 0, 123456, UTC)
    assert rows["e1"]["tags"] == ["x", None]
    assert isinstance(rows["e1"]["price"], Decimal)
    assert (rows["e2"]["price"], rows["e2"]["part"], rows["e2"]["at"]) == (Decimal("-0.000001"), {"a": 7, "b": None}, None)
    assert rows["e2"]["ts"] == "2026-01-05T09:00:00.000000Z"  # a number at the first door, an instant at the second: a text in both
    assert (rows[None]["original"], rows[None]["reason"], rows[None]["ts"]) == ("{broken", "not parseable", None)


def test_bytes_that_are_no_text_survive_in_base64(small_job):
    job = small_job(KEPT)
    job.feed_bytes(b'{"id": "e1", "v": 1, "ts": 1}\n\xff\xfe{"id"\n')

    result = job.run()

    (row,) = job.rows("rejected")
    assert (row["original"], row["original_base64"]) == (None, "//57ImlkIg==")
    assert result.account == Account(emitted=1, rejected=1)


def test_long_bytes_are_one_line_of_base64(small_job):
    """Spark breaks base64 after 76 characters."""
    line = b"\xff\xfe" + bytes(range(32, 127)) * 2
    job = small_job(KEPT)
    job.feed_bytes(line + b"\n")

    job.run()

    (row,) = job.rows("rejected")
    assert row["original_base64"] == b64encode(line).decode()


TWO_QUERIES = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(v="v >= 0"), big=events.require(v="v > 5"))
"""


def test_rejected_rows_of_a_second_query_have_an_output(small_job):
    job = small_job(TWO_QUERIES, Binding(sinks={"kept": "parquet", "big": "parquet"}))
    job.feed([event("small", 1, v=1), event("large", 2, v=9), event("bad", 3, v=-1)])

    result = job.run()

    places = {output.name: output.where for output in result.outputs}
    rows = job.rows("big_rejected", Path(places["big_rejected"]))
    assert sorted(row["id"] for row in rows) == ["bad", "small"]
    assert all(account.adds_up for account in result.accounts)


def test_unbound_outputs_of_two_jobs_with_checkpoints_in_one_folder_stay_apart(small_job):
    one = small_job(KEPT, Binding(sinks={"kept": "parquet"}, checkpoint="checkpoints/one"))
    one.feed([event("e1", 1), event("bad", 2, v=-1)])
    first = one.run()
    other = small_job(KEPT.replace("kept=", "other="), Binding(sinks={"other": "parquet"}, checkpoint="checkpoints/other"))
    second = other.run()

    places = [output.where for result in (first, second) for output in result.outputs if output.name == "rejected"]
    assert places == [str(one.folder / "checkpoints/one-rejected"), str(one.folder / "checkpoints/other-rejected")]
    assert [row["id"] for place in places for row in one.rows("rejected", Path(place))] == ["bad", "bad"]


def test_a_job_in_a_folder_with_a_space_in_its_name(small_job):
    """Spark's state reader, which counts the open windows, encodes such a path once too often."""
    job = small_job(SUMS, WINDOWED, folder="a job")
    job.feed([event("e1", 1), event("e2", 35)])

    result = job.run()

    assert result.account == Account(open_state=2)
    assert result.open_windows == 2


LOOKED_UP = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def named(rows):
        names = rows.sparkSession.range(5).select(F.lit("a").alias("client"), F.col("id").alias("number")).filter("number = 3")
        return rows.join(F.broadcast(names), "client", "left")

    checked = events.require(v="v >= 0").transform(named)
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""


def test_a_table_that_a_job_without_state_looks_up_in_is_no_input(small_job):
    job = small_job(LOOKED_UP)
    job.feed([event("e1", 1), event("bad", 2, v=-1), event("e2", 3)])

    result = job.run()

    assert result.account == Account(emitted=2, rejected=1)
    assert (result.account_input, result.accounts[0].adds_up) == (3, True)
