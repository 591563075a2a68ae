"""Two sources in one stream: what is late by which watermark, doors that both have, restarts, and columns that differ (R13)."""

import json
import os
from typing import Any

import pytest

from spark.small_job import EVENT_TIME, Binding, event, instant
from streamproof.config import load
from streamproof.core.notes import NoteCode
from streamproof.errors import ConfigurationError, JobDefinitionError
from streamproof.replay.bounded.run import run_bounded

UNION = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    both = events.require(v="v >= 0").union(others).filter("client <> 'x'", name="x")
    sums = both.{chain}.aggregate(n=F.count("*"), total=F.sum("v"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=both.rejected)
"""
TUMBLING = 'window(sp.tumbling("30 seconds"), by="client")'
PLAIN = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    return sp.Outputs(sums=events.transform(lambda rows: rows.withColumn("w", F.col("v") * 2)).union({others}))
"""
OTHERS = {
    "connector": "files",
    "path": "others",
    "format": "json",
    "files_per_batch": 1,
    "schema": "ts long, v double, client string, id string",
    "event_time": {"column": "ts", "unit": "milliseconds", "lag": "20 seconds"},
}


def bound(*sinks: str, **changed: Any) -> Binding:
    return Binding(
        sinks=dict.fromkeys(sinks or ("sums", "late", "rejected"), "json"), tables={"source.others": {**OTHERS, **changed}}
    )


def feed(job, *rows: dict[str, Any]) -> None:
    """A file of the other source."""
    folder = job.folder / "others"
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("*.json")))
    path = folder / f"{number:03d}.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (1_700_000_000 + number,) * 2)


def watermarks(job) -> list[float]:
    """The watermark of each batch, in seconds after nine o'clock; 0 before the first."""
    logs = sorted((job.checkpoint("sums") / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    found = [json.loads(path.read_text().splitlines()[1])["batchWatermarkMs"] for path in logs]
    return [milliseconds and milliseconds / 1000 - instant(0).timestamp() for milliseconds in found]


def test_r13_each_source_has_its_watermark_and_the_least_counts_also_behind_a_restart(small_job):
    job = small_job(UNION.format(chain=TUMBLING), bound())
    job.feed([event("e1", 100), event("x1", 101, client="x"), event("bad", 102, v=-1)])
    feed(job, event("o1", 60), event("x2", 61, client="x"))
    job.feed([event("e2", 29, client="b"), event("e3", 31, client="b")])
    feed(job, event("o2", 200, client="b"))
    job.feed([event("e4", 29.9), event("e5", 300)])
    feed(job, event("o3", 29.9, v=2.0), event("o4", 210))

    result = job.run()

    # the first batch: 100 - 10 and 60 - 20; then 100 - 10 and 200 - 20; then 300 - 10 and 210 - 20
    assert watermarks(job) == [0, 40, 90, 190]
    assert job.ids("late") == ["e4", "o3"]
    assert {row["id"] for row in job.rows("rejected")} == {"bad"}
    account = result.accounts[0]
    assert (account.input, account.account.filtered, account.account.late, account.adds_up) == (12, 2, 2, True)
    assert not [note for note in result.notes if note.code == NoteCode.SOURCE_QUIET]

    job.feed([event("e6", 900)])
    result = job.run()

    assert watermarks(job)[-1] == 190  # the others are quiet
    (note,) = [note for note in result.notes if note.code == NoteCode.SOURCE_QUIET]
    assert note.about == "others"
    feed(job, event("o5", 800))
    job.run()
    assert watermarks(job)[-1] == 190  # Spark has forgotten e6
    job.feed([event("e7", 901)])
    feed(job, event("o6", 801))
    result = job.run()
    assert watermarks(job)[-1] == 781
    assert result.accounts[0].adds_up


@pytest.mark.full
def test_r13_a_quiet_source_does_not_hold_the_watermark_for_ever_and_comes_back(small_job):
    quiet = {**OTHERS["event_time"], "idle_after": "0 seconds"}
    job = small_job(UNION.format(chain=TUMBLING), bound(event_time=quiet))
    job.feed([event("e1", 100)])
    feed(job, event("o1", 60))
    job.feed([event("e2", 300)])  # others delivers nothing in this batch, nor in those after it
    job.feed([event("e3", 400)])
    job.feed([event("e4", 401)])

    result = job.run()

    assert watermarks(job) == [0, 40, 290, 390, 391]
    assert [note.about for note in result.notes if note.code == NoteCode.SOURCE_IDLE] == ["others"]
    assert not [note for note in result.notes if note.code == NoteCode.SOURCE_QUIET]

    job.feed([event("e5", 500)])  # a start of its own
    job.run()

    assert watermarks(job)[-1] == 490
    job.feed([event("e6", 900)])
    feed(job, event("late", 450), event("o2", 700))
    result = job.run()

    assert watermarks(job)[-2:] == [680, 890]  # it is back and holds the watermark, until the batch without any data
    assert job.ids("late") == ["late"]
    assert result.accounts[0].adds_up


@pytest.mark.full
def test_r13_a_source_is_quiet_for_as_long_as_the_clocks_of_batches_say_also_over_starts(small_job):
    quiet = {**OTHERS["event_time"], "idle_after": "1 hour"}
    job = small_job(UNION.format(chain=TUMBLING), bound(event_time=quiet))
    job.feed([event("e1", 100)])
    feed(job, event("o1", 60))
    job.feed([event("e2", 300)])
    job.run()
    assert watermarks(job)[-1] == 40

    for log in (job.checkpoint("sums") / "offsets").glob("[0-9]*"):  # an hour ago
        version, metadata, *ends = log.read_text().splitlines()
        changed = {**json.loads(metadata), "batchTimestampMs": json.loads(metadata)["batchTimestampMs"] - 3_600_000}
        log.write_text("\n".join([version, json.dumps(changed), *ends]))
        (log.parent / f".{log.name}.crc").unlink(missing_ok=True)
    job.feed([event("e3", 400)])
    job.run()

    assert watermarks(job)[-1] == 390


def test_idle_after_of_a_source_that_is_in_no_union_is_refused(small_job):
    alone = "@sp.job\ndef small(events: sp.Stream) -> sp.Outputs:\n    return sp.Outputs(sums=events.deduplicate('id'))\n"
    job = small_job(alone, Binding(sinks={"sums": "json"}, event_time=EVENT_TIME.replace(" }", ', idle_after = "1 minute" }')))
    job.feed([event("e1", 1)])

    assert "idle_after, and events is in no union" in str(job.stopped(ConfigurationError))


@pytest.mark.full
def test_windows_that_overlap_are_expanded_and_counted_in_each_source_and_in_a_batch(small_job, spark):
    job = small_job(UNION.format(chain='window(sp.hopping("20 seconds", every="10 seconds"), by="client")'), bound())
    job.feed([event("e1", 1), event("e2", 100)])
    feed(job, event("o1", 2, v=2.0), event("o2", 101))

    result = job.run()

    account = result.accounts[0]
    assert (account.input, account.expanded, account.adds_up) == (4, 4, True)
    batch = run_bounded(load(job.folder), spark=spark).accounts[0]
    assert (batch.input, batch.expanded, batch.account.emitted, batch.adds_up) == (4, 4, 8, True)
    assert sorted((row["n"], row["total"]) for row in job.rows("sums")) == [(2, 3.0), (2, 3.0)]


@pytest.mark.full
def test_a_deduplication_finds_copies_in_the_other_source_for_as_long_as_the_longer_delay(small_job):
    chain = 'deduplicate("id").window(sp.tumbling("30 seconds"), by="client")'
    job = small_job(UNION.format(chain=chain), bound())
    job.feed([event("same", 100)])
    feed(job, event("o1", 131))
    job.feed([event("e1", 129)])  # the watermark is 111 in the next batch: by the delay of events the key were forgotten with it
    feed(job, event("o2", 132))
    job.feed([event("e2", 130)])
    feed(job, event("same", 133))

    result = job.run()

    assert result.account.duplicate == 1
    assert result.accounts[0].adds_up


def test_rows_without_state_are_put_together_by_the_names_of_their_columns(small_job):
    made = 'others.transform(lambda rows: rows.withColumn("w", F.lit(0.5)))'
    job = small_job(PLAIN.format(others=made), bound("sums"))
    job.feed([event("e1", 1, v=4.0)])
    feed(job, event("o1", 2))

    result = job.run()

    assert sorted((row["id"], row["v"], row["w"]) for row in job.rows("sums")) == [("e1", 4.0, 8.0), ("o1", 1.0, 0.5)]
    assert result.accounts[0].adds_up


def test_columns_that_differ_are_named(small_job):
    job = small_job(PLAIN.format(others='others.transform(lambda rows: rows.withColumn("v", F.lit("1")))'), bound("sums"))
    job.feed([event("e1", 1)])
    feed(job, event("o1", 1))

    error = job.stopped(JobDefinitionError)

    assert "others has no w; v is a double in events, a string in others" in error.message


def test_a_policy_that_follows_the_furthest_source_is_refused(small_job):
    job = small_job(
        UNION.format(chain=TUMBLING), Binding(**{**vars(bound()), "spark": {"spark.sql.streaming.multipleWatermarkPolicy": "max"}})
    )
    assert EVENT_TIME in (job.folder / "streamproof.toml").read_text()

    assert "the source that is furthest" in job.stopped(ConfigurationError).required


@pytest.mark.parametrize(("within", "duplicates"), [("5 seconds", 0), ("1 hour", 1)])
def test_r12_a_horizon_of_its_own_holds_for_rows_of_both_sources_and_moves_no_watermark(small_job, within, duplicates):
    job = small_job(UNION.format(chain=f'deduplicate("id", within="{within}").{TUMBLING}'), bound())
    for number, (of_events, of_others) in enumerate(((0, 0), (100, 100), (101, 101))):
        job.feed([event("again" if number == 0 else f"e{number}", of_events)])
        feed(job, event(f"o{number}", of_others))
    job.feed([event("e3", 102)])
    feed(job, event("again", 102))

    result = job.run()

    # 100 - 10 and 100 - 20, and so on
    assert watermarks(job)[:4] == [0, -20, 80, 81]
    found = result.accounts[0]
    assert (found.adds_up, found.account.duplicate, found.account.late, found.account.emitted) == (True, duplicates, 0, 2)
