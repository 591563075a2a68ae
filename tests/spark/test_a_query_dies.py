"""A query that dies never stays dead beside living ones: the others are ended in order, and the run says all of it."""

import threading
from collections import Counter

import pytest

from spark.small_job import Binding, SmallJob, event, run_apart
from streamproof.errors import EndedFromOutside, StreamproofError
from streamproof.observe.live.board import RunBoard
from streamproof.observe.metrics.queries import UP
from streamproof.observe.values import Values
from streamproof.runtime import ending, run
from streamproof.runtime.batch.staging import Staging
from streamproof.runtime.query import RunningQuery
from streamproof.runtime.start.query import start_query
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, QueryFinishing, RunEvent, RunFailed
from streamproof.runtime.watching.failure import Stopped

THREE = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    kept = events.require(v="v >= 0")
    poison = F.raise_error(F.lit("poison"))
    middle = kept.transform(lambda rows: rows.withColumn("v", F.when(F.col("client") != "poison", F.col("v")).otherwise(poison)))
    last = kept.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(first=kept.filter("v < 100", name="small"), middle=middle, last=last)
"""
QUERIES = ("first", "middle", "last")
ON_FILES = Binding(sinks=dict.fromkeys(QUERIES, "parquet"), trigger="100 milliseconds")
"""Goes on until it is told to end: without the dead query the others would run for ever."""


def dying(small_job, binding: Binding = ON_FILES, batches: int = 6) -> SmallJob:
    """A job of three queries whose third batch has a record that the query in the middle cannot get past; later batches are there to be read."""
    job = small_job(THREE, binding)
    for batch in range(batches):
        client = "poison" if batch == 2 else "a"
        job.feed([event(f"e{batch}", 10 * batch, client=client), event(f"f{batch}", 10 * batch + 1)])
    return job


def test_the_others_are_ended_after_their_batch_and_the_run_says_which_died_why_and_where_each_was_ended(small_job):
    job, heard, values, board = dying(small_job), list[RunEvent](), Values(), RunBoard("small")

    error = job.stopped(StreamproofError, listener=[heard.append, values, board])

    assert error.exit_code == 1
    committed = Counter(each.query for each in heard if isinstance(each, BatchCommitted))
    assert committed["middle"] == 2
    newest = {query: committed[query] - 1 for query in ("first", "last")}
    (died,) = [each for each in heard if isinstance(each, QueryDied)]
    assert (died.query, died.batch, died.code) == ("middle", 2, "error")
    stopped = [each for each in heard if isinstance(each, QueryStopped)]
    assert stopped == [QueryStopped(query, "middle", newest[query], None) for query in ("first", "last")], "in the order of the job"
    assert error.failure.ended == tuple(Stopped(query, newest[query]) for query in ("first", "last"))
    said = dict(error.failure.lines()) | {"ended": [line for word, line in error.failure.lines() if word == "ended"]}
    assert said["in"] == "query middle, batch 2"
    assert said["ended"] == [f"query {query} after batch {newest[query]}" for query in ("first", "last")]
    kinds = [type(each) for each in heard]
    assert (
        kinds.index(QueryDied) < kinds.index(QueryFinishing) < kinds.index(QueryStopped) < kinds.index(RunFailed) == len(heard) - 1
    )
    assert values.now(UP) == {(query,): 0 for query in QUERIES}
    assert {query.name: query.doing for query in board._picture.queries.values()} == {
        "first": "ended",
        "middle": "died",
        "last": "ended",
    }
    later = Counter(each.query for each in heard[kinds.index(QueryDied) :] if isinstance(each, BatchPlanned))
    assert max(later.values(), default=0) <= 1, "no batch begins once that is known; one may have been between the two"
    begun = {(each.query, each.batch) for each in heard if isinstance(each, BatchPlanned)} - {("middle", 2)}
    assert begun == {(query, batch) for query in QUERIES for batch in range(committed[query])}, "no batch is left in its middle"


def test_after_a_restart_nothing_of_any_query_is_lost_or_doubled(small_job):
    job = dying(small_job)
    job.stopped(StreamproofError)
    job.text = THREE.replace(".otherwise(poison)", '.otherwise(F.col("v"))')
    job.binding = Binding(**{**vars(ON_FILES), "trigger": "available-now"})
    job.write()

    result = job.run()

    everything = sorted(f"{name}{batch}" for name in "ef" for batch in range(6))
    assert job.ids("first") == everything
    assert job.ids("middle") == everything
    assert all(each.adds_up and each.input == len(everything) for each in result.accounts)
    last = next(each for each in result.accounts if each.query == "last")
    assert last.account.emitted + last.account.open_state == len(everything)


def test_a_batch_of_a_living_query_that_takes_too_long_is_interrupted_and_named_and_done_again(small_job, monkeypatch):
    job = dying(small_job)
    monkeypatch.setattr(ending, "PATIENCE_BESIDE_A_DEAD_QUERY_SECONDS", 0)
    begun, dead = threading.Event(), threading.Event()

    def hear(happens: RunEvent) -> None:
        if isinstance(happens, QueryDied):
            dead.set()

    staging = Staging.stage

    def slowly(self, rows, batch, *more):
        """The batch of the living query is still under way when the other one has died."""
        if self.query.name == "middle" and batch == 2:
            begun.wait(60)
        if self.query.name == "last" and batch == 1:
            begun.set()
            dead.wait(60)
            threading.Event().wait(5)
        return staging(self, rows, batch, *more)

    with monkeypatch.context() as slow:
        slow.setattr(Staging, "stage", slowly)
        error = job.stopped(StreamproofError, listener=hear)

    last = next(each for each in error.failure.ended if each.query == "last")
    assert last.said == "query last in the middle of batch 1: the next start does it again, and doubles nothing"


@pytest.mark.full
def test_by_the_command_line_the_exit_code_is_not_0_and_the_text_has_it_all(tmp_path):
    job = SmallJob(None, tmp_path / "job", THREE, ON_FILES)
    for batch in range(4):
        job.feed([event(f"e{batch}", 10 * batch, client="poison" if batch == 2 else "a")])

    done = run_apart(job)

    assert done.returncode == 1, done.stderr
    assert "in       query middle, batch 2" in done.stderr
    assert "ended    query first after batch " in done.stderr
    assert "query last after batch " in done.stderr


def test_a_query_that_something_else_stops_does_not_stay_stopped_beside_the_others(small_job, monkeypatch):
    job = dying(small_job, batches=2)
    started: list[RunningQuery] = []
    monkeypatch.setattr(run, "start_query", lambda *args: started.append(start_query(*args)) or started[-1])

    def stop(happens: RunEvent) -> None:
        if isinstance(happens, BatchCommitted) and happens.query == "middle" and happens.batch == 0:
            threading.Thread(target=started[1].stream.stop).start()  # as code of the job may do

    error = job.stopped(EndedFromOutside, listener=stop)

    assert error.exit_code == 75
    assert error.failure.query == "middle"
    assert [each.query for each in error.failure.ended] == ["first", "last"]
