"""Windows that give several rows, on real Spark: which batch gives which, with which revision; the account at every moment."""

import json
from dataclasses import replace

import pytest

from full_tables import full
from spark.small_job import Binding, event, instant
from streamproof.config import load
from streamproof.errors import ConfigurationError, JobDefinitionError, PlanChanged, RemedyAction, StagedRowsGone, StreamproofError
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.rows import waiting

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events{chain}.window({window}, by="client", allowed_lateness="20 seconds", emit="{emit}").aggregate(n=F.count("*"), total=F.sum("v"))
    return sp.Outputs(sums=sums{behind}, late=sums.late)
"""
TUMBLING = 'sp.tumbling("30 seconds")'
BOUND = Binding(sinks={"sums": "parquet", "late": "json"})


def job_of(emit, window=TUMBLING, chain="", behind=""):
    return JOB.format(emit=emit, window=window, chain=chain, behind=behind)


def shown(job, batch=None):
    """By batch the rows: client, start in seconds, revision, count."""
    found = {}
    for folder in sorted(job.out("sums").glob("batch=*")):
        rows = job.rows("sums", batch=folder.name[6:])
        found[int(folder.name[6:])] = sorted(
            (row["client"], (row["window_start"] - instant(0)).total_seconds(), row["revision"], row["n"]) for row in rows
        )
    return found if batch is None else found.get(batch, [])


def account(result):
    found = result.accounts[0]
    assert found.adds_up, found
    return found.account


def test_early_rows_come_with_every_batch_that_changes_a_window(small_job):
    job = small_job(job_of("early"), BOUND)
    job.feed([event("a", 1), event("b", 2), event("c", 1, client="b")])
    job.feed([event("d", 3), event("e", 40)])
    job.feed([event("f", 200)])

    result = job.run()

    assert shown(job) == {0: [("a", 0, 0, 2), ("b", 0, 0, 1)], 1: [("a", 0, 1, 3), ("a", 30, 0, 1)], 2: [("a", 180, 0, 1)]}
    assert (account(result).emitted, account(result).open_state, result.open_windows) == (6, 0, 1)

    job.feed([event("late", 45), event("g", 200)])
    result = job.run()

    assert shown(job)[max(shown(job))] == [("a", 180, 1, 2)]
    assert job.ids("late") == ["late"]
    assert (account(result).emitted, account(result).late) == (7, 1)


CORRECTED = [
    [event("a", 1), event("b", 2, client="b"), event("c", 40)],  # the watermark is 0 yet
    [event("d", 3), event("e", 45)],  # 10, and on time is what ends at 30: with what came just now
    [event("f", 41), event("g", 5, client="b")],  # 15: one more for b
    [event("h", 6), event("i", 100)],  # 15: one more for a
    [event("j", 7)],  # 70, and on time is what ends at 90; what ends at 30 takes rows still, since the batch before was at 15
    [event("k", 8)],  # and now it is late
]
GIVEN = {
    1: [("a", 0, 0, 2), ("b", 0, 0, 1)],
    2: [("b", 0, 1, 2)],
    3: [("a", 0, 1, 3)],
    4: [("a", 0, 2, 4), ("a", 30, 0, 3)],
}
RUN_BY_RUN = [("a", 0, 0, 1), ("b", 0, 0, 1), ("a", 0, 1, 2), ("b", 0, 1, 2), ("a", 0, 2, 3), ("a", 30, 0, 3)]
"""A run ends with a batch without input, where the watermark has gone on: windows are on time earlier, and records late."""


def every_row(job):
    return [row for rows in shown(job).values() for row in rows]


def test_corrections_come_on_time_and_once_more_for_each_batch_that_changes_a_window(small_job):
    job = small_job(job_of("corrections"), BOUND)
    for rows in CORRECTED:
        job.feed(rows)

    result = job.run()

    assert shown(job) == GIVEN
    found = account(result)
    assert (found.emitted, found.open_state, found.late, result.open_windows) == (9, 1, 1, 1)
    job.feed([event("l", 9)])
    job.run()
    parked = sorted(path.name[:6] for path in job.checkpoint("sums").glob("_streamproof/parked/*"))
    assert parked == ["000003"], "what neither the newest batch needs nor the one before it is gone"


@pytest.mark.parametrize("in_one_task", [True, pytest.param(False, marks=pytest.mark.full)])
def test_a_batch_that_puts_waiting_rows_together_publishes_what_is_due(small_job, monkeypatch, in_one_task):
    monkeypatch.setattr(waiting, "MOST", 1)
    monkeypatch.setattr(waiting, "ONE_TASK", 50_000 if in_one_task else 0)
    job = small_job(job_of("corrections"), BOUND)
    for rows in CORRECTED:
        job.feed(rows)

    job.run()

    assert shown(job) == GIVEN
    batches = [job.manifest(number, "sums") for number in range(len(CORRECTED))]
    assert any(one.folded and one.batch == batch.batch and batch.counts["emitted"] for batch in batches for one in batch.parked)


@pytest.mark.full
def test_rows_that_wait_are_put_together_where_they_lie_in_many_files(small_job, monkeypatch):
    monkeypatch.setattr(waiting, "MOST", 1)
    job = small_job(job_of("corrections"), BOUND)
    folded = 0
    for rows in CORRECTED:
        job.feed(rows)
        job.run()
        newest = max(
            int(path.name) for path in (job.checkpoint("sums") / "_streamproof/manifests").iterdir() if path.name.isdigit()
        )
        folded += any(one.folded for one in job.manifest(newest, "sums").parked)

    assert every_row(job) == RUN_BY_RUN
    assert folded > 1


@pytest.mark.full
def test_r30_rows_that_an_earlier_version_has_put_together_are_read(small_job, monkeypatch):
    monkeypatch.setattr(waiting, "MOST", 1)
    job = small_job(job_of("corrections"), BOUND)
    for rows in ([event("a", 1)], [event("b", 2)], [event("c", 3)]):
        job.feed(rows)
        job.run()
    rewritten = set()
    for path in (job.checkpoint("sums") / "_streamproof/manifests").iterdir():
        found = json.loads(path.read_text()) if path.name.isdigit() else {}
        for one in found.get("parked", ()):
            if one["folded"]:
                one["ends"] = {end: rows + 1 for end, rows in one["ends"].items()}
                del one["counted"]
                path.write_text(json.dumps(found))
                path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
                rewritten.add(int(path.name))
    assert 2 in rewritten, "the newest batch has put rows together"

    job.feed([event("z", 300)])
    job.run()

    assert every_row(job) == [("a", 0, 0, 3)]


@pytest.mark.full
@pytest.mark.parametrize("lost", ["commits/{}", *full("commits/{} _streamproof/manifests/{}")])
def test_r4_a_batch_that_runs_again_gives_the_same_rows_and_waits_for_the_same(small_job, lost):
    job = small_job(job_of("corrections"), BOUND)
    for number, rows in enumerate(CORRECTED):
        job.feed(rows)
        job.run()
        newest = max(int(path.name) for path in (job.checkpoint("sums") / "commits").iterdir() if path.name.isdigit())
        before = shown(job)
        if number:
            job.lose(*[name.format(newest) for name in lost.split()], query="sums")
        result = job.run()
        assert shown(job) == before
        assert account(result)

    assert every_row(job) == RUN_BY_RUN


@pytest.mark.full
def test_r20_rows_that_wait_and_are_gone_stop_the_start(small_job):
    job = small_job(job_of("corrections"), BOUND)
    for identity, at in (("a", 100), ("b", 99)):  # the second does not move the watermark: its batch is the newest
        job.feed([event(identity, at)])
        job.run()
    for part in (job.checkpoint("sums") / "_streamproof/parked").glob("000002-*/*.jsonl"):
        part.unlink()

    job.feed([event("z", 300)])
    error = job.stopped(StagedRowsGone)

    assert error.action is RemedyAction.REPLAY_LAST
    job.run(replay_last=True)
    assert every_row(job) == [("a", 90, 0, 2)]


@pytest.mark.parametrize(
    ("damaged", "error"),
    [
        (('{"_due":1', '{"_due":2'), StagedRowsGone),
        (('{"_due":', '{"_doe":'), StagedRowsGone),
        (('"n":', '"n";'), StreamproofError),
    ],
)
def test_r20_a_row_that_waits_and_cannot_be_read_any_more_stops_its_batch(small_job, damaged, error):
    job = small_job(job_of("corrections"), BOUND)
    job.feed([event("a", 61), event("b", 62, client="b")])
    job.run()
    parts = list((job.checkpoint("sums") / "_streamproof/parked").glob("*/*.jsonl"))
    part, text = parts[0], parts[0].read_text()
    part.with_name(f".{part.name}.crc").unlink()  # only Hadoop's local files have one
    part.write_text(text.replace(*damaged, 1))
    assert part.read_text() != text

    job.feed([event("z", 300)])
    job.stopped(error)
    part.write_text(text)
    job.run()

    assert every_row(job) == [("a", 60, 0, 1), ("b", 60, 0, 1)]


@pytest.mark.full
def test_r25_another_emission_or_lateness_on_an_old_checkpoint_is_refused(small_job):
    job = small_job(job_of("corrections"), BOUND)
    job.feed([event("a", 1)])
    job.run()
    for old, new, said in (
        ("corrections", "early", "emission: early now, corrections before"),
        ("20 seconds", "40 seconds", "allowed lateness: 40 seconds now, 20 seconds before"),
    ):
        job.text = job_of("corrections").replace(old, new)
        job.write()
        assert said in job.stopped(PlanChanged, accept_lateness=True).message


@pytest.mark.full
@pytest.mark.parametrize("emit", ["early", *full("corrections")])
def test_as_a_batch_each_window_has_one_row_and_it_is_the_first(small_job, spark, emit):
    job = small_job(job_of(emit), BOUND)
    for rows in CORRECTED:
        job.feed(rows)

    result = run_bounded(load(job.folder), spark=spark)

    assert result.accounts[0].adds_up
    rows = spark.read.parquet(str(job.folder / "checkpoint-bounded" / "sums")).collect()
    assert sorted((row["client"], row["revision"], row["n"]) for row in rows) == [
        ("a", 0, 1),
        ("a", 0, 3),
        ("a", 0, 5),
        ("b", 0, 2),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (job_of("correction"), 'Did you mean "corrections"?'),
        (job_of("early", window='sp.session("30 seconds")'), "sessions have no rows before they are final"),
        (
            job_of("early").replace('("v"))', '("v")).transform(lambda rows: rows.drop("revision"))'),
            "leaves out the column revision",
        ),
        (job_of("early").replace("n=F.count", "revision=F.count"), "taken by the window"),
        (job_of("corrections").replace('F.sum("v")', 'F.first(F.expr("map(1, v)"))'), "a map whose keys are no texts"),
    ],
)
def test_what_makes_no_sense_is_refused(small_job, text, said):
    job = small_job(text, BOUND)
    job.feed([event("a", 1)])

    assert said in str(job.stopped(JobDefinitionError))


def test_calls_need_the_revision_in_their_key(small_job):
    called = {"connector": "http", "url": "http://localhost:1/calls", "key": ["client", "window_start"]}
    bound = Binding(sinks={"late": "json"}, tables={"sink.sums": called})
    job = small_job(job_of("corrections"), bound)

    assert '[sink.sums] key lacks "revision"' in job.stopped(ConfigurationError).message
    assert small_job(job_of("final"), bound, folder="final").run().accounts[0].adds_up
    with_revision = replace(bound, tables={"sink.sums": {**called, "key": [*called["key"], "revision"]}})
    assert small_job(job_of("corrections"), with_revision, folder="revised").run().accounts[0].adds_up


@pytest.mark.full
def test_rows_of_keys_that_differ_by_a_microsecond_wait_each_by_itself(small_job):
    text = job_of(
        "corrections", chain='.transform(lambda rows: rows.withColumn("at", F.timestamp_micros(F.col("v").cast("bigint"))))'
    )
    job = small_job(text.replace('by="client"', 'by="at"'), BOUND)
    job.feed([event("a", 1, v=1.0), event("b", 2, v=2.0), event("c", 3, v=1.0)])
    job.feed([event("d", 200, v=5.0)])

    result = job.run()

    assert sorted((row["at"].microsecond, row["n"]) for row in job.rows("sums")) == [(1, 2), (2, 1)]
    assert (account(result).emitted, account(result).open_state) == (3, 1)


@pytest.mark.full
def test_a_checkpoint_may_have_brackets_and_stars_in_its_name(small_job):
    job = small_job(job_of("corrections"), Binding(sinks={"sums": "parquet", "late": "parquet"}, checkpoint="check[1] {a,b} *"))
    job.feed([event("a", 1)])
    job.feed([event("b", 100)])
    job.feed([event("c", 200)])
    job.feed([event("late", 2)])

    found = account(job.run())

    assert [rows[0] for _, rows in sorted(shown(job).items()) if rows] == [("a", 0, 0, 1), ("a", 90, 0, 1)]
    assert (found.emitted, found.late, found.open_state, job.ids("late")) == (2, 1, 1, ["late"])


@pytest.mark.full
def test_a_column_that_is_called_like_one_of_sparks_comes_back_from_waiting(small_job):
    text = job_of("corrections").replace("total=F.sum", '_corrupt_record=F.max("client"), total=F.sum')
    job = small_job(text, BOUND)
    job.feed([event("a", 1)])
    job.feed([event("b", 200)])

    job.run()

    assert [row["_corrupt_record"] for row in job.rows("sums")] == [row["client"] for row in job.rows("sums")] != []


@pytest.mark.full
def test_a_column_that_is_called_like_one_of_ours_is_refused(small_job):
    job = small_job(job_of("corrections").replace("total=F.sum", "_place=F.sum"), BOUND)
    job.feed([event("a", 1)])

    assert "_place" in job.stopped(JobDefinitionError).message
