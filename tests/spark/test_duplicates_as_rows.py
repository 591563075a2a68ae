"""The rows that a deduplication drops, as an output of their own, on real Spark: which they are, under crashes too, and what the account says."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from full_tables import full
from spark.small_job import Binding, dies, event
from streamproof.checkpoint import state
from streamproof.config import load
from streamproof.errors import DivertError
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.spark.session import KEY_ORDER
from streamproof.runtime.start import plan

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.deduplicate({key})
    return sp.Outputs(kept=once, again=once.duplicates)
"""
SUMS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events.deduplicate("id").window(sp.tumbling("30 seconds")).aggregate(n=F.count("*"))
    return sp.Outputs(sums=sums, again=sums.duplicates, late=sums.late)
"""
BOUND = Binding(sinks={"kept": "parquet", "again": "json"})
COUNTED = Binding(sinks={"kept": "parquet"})
MANY = [event(f"e{number % 37}", number % 5, v=float(number)) for number in range(400)]


def counted(rows):
    """Rows by their number, which `v` is."""
    return Counter(row["v"] for row in rows)


@pytest.mark.parametrize("form", ["json", *full("parquet")])
def test_every_dropped_row_is_in_the_output_and_no_other_one(small_job, form):
    job = small_job(JOB.format(key='"id"'), Binding(sinks={"kept": "parquet", "again": form}))
    for begin in range(0, 400, 80):
        job.feed(MANY[begin : begin + 80])

    (found,) = job.run().accounts

    kept, again = job.rows("kept"), job.rows("again")
    assert (len(kept), len(again)) == (37, 363)
    assert len({row["id"] for row in kept}) == 37
    assert counted(kept) + counted(again) == counted(MANY), "each row is in one of the two, once"
    assert {(row["id"], row["reason"]) for row in again} == {
        (f"e{number}", "a row of its key was taken before") for number in range(37)
    }
    assert (found.adds_up, found.account.duplicate) == (True, 363)


@pytest.mark.parametrize(
    "key", ['"id", "client", "v", "ts"', *full('"ts", "id"', '"client", "ts", "v", "id", "extra", "more"')], ids=["4", "time", "6"]
)
def test_the_first_side_stands_in_the_tasks_of_the_operator_whatever_the_key_is(small_job, key):
    job = small_job(
        JOB.format(key=key).replace(
            "    once",
            '    events = events.transform(lambda rows: rows.withColumn("extra", F.col("v") % 3).withColumn("more", F.lit("x")))\n    once',
        ),
        BOUND,
    )
    rows = [event(f"e{number % 9}", number % 9, v=float(number % 9)) for number in range(40)]
    job.feed(rows[:25])
    job.feed(rows[25:])

    (found,) = job.run().accounts

    assert (len(job.rows("kept")), len(job.rows("again"))) == (9, 31)
    assert (found.adds_up, found.account.duplicate, found.duplicates_written) == (True, 31, 31)


@pytest.mark.full
def test_the_first_side_follows_the_partitions_that_the_checkpoint_was_made_with(small_job):
    job = small_job(JOB.format(key='"id"'), replace(BOUND, spark={"spark.sql.shuffle.partitions": "2"}))
    job.feed(MANY[:100])
    job.run()

    job.binding = replace(BOUND, spark={"spark.sql.shuffle.partitions": "5"})
    job.write()
    job.feed(MANY[100:])
    (found,) = job.run().accounts

    assert counted(job.rows("kept")) + counted(job.rows("again")) == counted(MANY)
    assert (found.adds_up, found.duplicates_written) == (True, 363)


SIX = ("shop", "till", "day", "receipt", "line", "item")


def _as_before_4_3(job, monkeypatch):
    """Runs a job with its key in the order in which Spark before 4.3 keeps it, and takes the setting out of the offset logs: they did not have it."""
    with monkeypatch.context() as before:
        before.setattr(plan, "_pinned", lambda valid: valid.spark.conf.set(KEY_ORDER, "false") or {})
        job.run()
    for log in (job.folder / "checkpoint" / "kept" / "offsets").glob("[0-9]*"):
        text, entry = log.read_text(), f'"{KEY_ORDER}":"false",'
        assert entry in text
        log.write_text(text.replace(entry, ""))
        log.with_name(f".{log.name}.crc").unlink(missing_ok=True)


def test_the_first_side_follows_the_order_of_keys_that_the_checkpoint_was_made_with(small_job, spark, monkeypatch):
    """Spark before 4.3 keeps five columns and more in the order of a `Set`, and a later one goes on with it."""
    job = small_job(
        JOB.format(key=", ".join(f'"{name}"' for name in SIX)),
        replace(BOUND, schema=f"{', '.join(f'{name} string' for name in SIX)}, v double, ts long"),
    )
    numbers = [*(number % 9 for number in range(25)), *(number % 12 for number in range(25, 40))]
    rows = [{**event("", number, v=float(number)), **{name: f"{name} {number}" for name in SIX}} for number in numbers]
    job.feed(rows[:25])
    _as_before_4_3(job, monkeypatch)

    job.feed(rows[25:])
    (found,) = job.run().accounts

    assert (len(job.rows("kept")), len(job.rows("again"))) == (12, 28)
    assert (found.adds_up, found.account.duplicate, found.duplicates_written) == (True, 28, 28)
    (kept, *_) = state.remembered(spark, str(job.folder / "checkpoint" / "kept"), 0).collect()
    assert json.loads(kept["columns"]) == ["shop", "till", "line", "receipt", "day", "item"]
    assert [value.rpartition(" ")[0] for value in json.loads(kept["key"])] == json.loads(kept["columns"])


@pytest.mark.full
def test_the_rows_behind_a_window_and_a_horizon_are_those_of_the_stream_that_is_returned(small_job):
    job = small_job(
        SUMS.replace('"id")', '"id", within="1 minute")'), Binding(sinks={"sums": "parquet", "again": "json", "late": "json"})
    )
    for rows in ([event("a", 0), event("a", 1)], [event("a", 50), event("b", 50)], [event("z", 200), event("b", 60)]):
        job.feed(rows)

    (found,) = job.run().accounts

    assert [(row["id"], row["ts"][17:19]) for row in job.rows("again")] == [("a", "01"), ("a", "50"), ("b", "00")]
    assert [
        sorted(section.output for section in job.manifest(batch, "sums").sections if section.digest.rows) for batch in range(3)
    ] == [
        ["again"],
        ["again"],
        ["again", "sums"],
    ]
    assert (found.adds_up, found.account.duplicate, found.duplicates_in) == (True, 3, "again")


def test_r8_dropped_rows_are_published_once_however_the_process_dies(small_job):
    job = small_job(JOB.format(key='"id"'), BOUND)
    for begin in range(0, 400, 100):
        job.feed(MANY[begin : begin + 100])
    dies(job, "rename", "/out/again/batch=000001$")
    dies(job, "rename", "/commits/2$")

    (found,) = job.run().accounts

    assert counted(job.rows("kept")) + counted(job.rows("again")) == counted(MANY)
    assert (found.adds_up, found.account.duplicate, found.duplicates_written) == (True, 363, 363)
    assert not job.staged("again")


def test_a_job_that_does_not_return_them_counts_them_and_writes_none(small_job):
    job = small_job(JOB.format(key='"id"').replace(", again=once.duplicates", ""), COUNTED)
    job.feed(MANY[:100])

    (found,) = job.run().accounts

    assert (found.account.duplicate, found.duplicates_in, found.duplicates_written) == (63, "", 0)
    assert not [path for path in job.folder.rglob("*duplicate*") if "data" not in path.parts]


@pytest.mark.full
def test_an_output_that_came_later_says_how_many_of_the_duplicates_it_has(small_job):
    job = small_job(JOB.format(key='"id"').replace(", again=once.duplicates", ""), COUNTED)
    job.feed(MANY[:100])
    job.run()

    job.text, job.binding = JOB.format(key='"id"'), BOUND
    job.write()
    job.feed(MANY[100:150])
    (found,) = job.run().accounts

    assert (found.account.duplicate, found.duplicates_in, found.duplicates_written) == (113, "again", 50)
    assert counted(job.rows("again")) == counted(MANY[100:150])


@pytest.mark.full
def test_as_a_batch_each_row_is_in_one_of_the_two_outputs(small_job, spark):
    job = small_job(JOB.format(key='"id"'), BOUND)
    job.feed(MANY[:200])
    job.feed(MANY[200:])

    result = run_bounded(load(job.folder), spark=spark)

    rows = {output.name: spark.read.parquet(output.where).collect() for output in result.outputs}
    assert counted(row.asDict() for row in rows["kept"]) + counted(row.asDict() for row in rows["again"]) == counted(MANY)
    assert {output.name: output.rows for output in result.outputs if output.name in ("kept", "again")} == {"kept": 37, "again": 363}
    assert (result.accounts[0].adds_up, result.accounts[0].duplicates_written) == (True, 363)


def test_r15_a_row_that_spark_has_dropped_and_nobody_has_written_stops_the_batch(small_job, monkeypatch):
    job = small_job(JOB.format(key='"id"'), BOUND)
    job.feed(MANY[:100])
    for side in ("before", "behind"):
        monkeypatch.setattr(f"streamproof._jvm.Dropped.{side}", lambda *_: F.lit(True))

    error = job.stopped(DivertError)

    assert error.message == "Spark dropped 63 duplicates in batch 0, and 0 rows were written for the output again."
    assert job.rows("kept") == []
