"""A run that is asked to end: between two batches where it can, and the account says where every record is that was read."""

import threading

import pytest

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.errors import DataError
from streamproof.lab.process import until
from streamproof.runtime import ending
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, RunEvent
from streamproof.runtime.watching.result import RunResult

SLOW = """
import time

from pyspark.sql.types import DoubleType


def slowly(value):
    time.sleep(5)
    return value


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").transform(lambda rows: rows.withColumn("v", F.udf(slowly, DoubleType())("v")))
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""


def run_until(job: SmallJob, batches: int) -> RunResult:
    """Runs, and asks it to end when it says that it has done so many batches, and with 0 when it has begun one."""
    end, done = threading.Event(), []

    def hear(event: RunEvent) -> None:
        done.extend([event] if isinstance(event, BatchCommitted) else [])
        if isinstance(event, BatchPlanned | BatchCommitted) and len(done) >= batches:
            end.set()

    return job.run(end=end, listener=hear)


@pytest.mark.parametrize("trigger", ["100 milliseconds", "1 hour"])
def test_a_run_that_would_go_on_for_ever_ends_behind_a_batch_and_accounts_for_what_it_read(small_job, trigger):
    job = small_job(SUMS, Binding(**{**vars(WINDOWED), "trigger": trigger, "files_per_batch": 2}))
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.feed([event("e2", 2)])

    result = run_until(job, 1)

    assert result.ended_early
    assert result.account == Account(open_state=2, rejected=1)
    assert result.account_input == 3
    assert not [note for note in result.notes if "under way" in note]


def test_a_batch_that_takes_too_long_is_left_and_done_again_by_the_next_run(small_job, monkeypatch):
    job = small_job(SLOW, Binding(sinks={"kept": "parquet", "rejected": "json"}, trigger="1 hour"))
    job.feed([event("e1", 1)])
    monkeypatch.setattr(ending, "PATIENCE_SECONDS", 0)

    result = run_until(job, 0)

    assert "A batch of kept was under way: the next start does it again, and doubles nothing." in result.notes
    assert (result.account_input, result.account.total) == (0, 0)
    job.text, job.binding = KEPT, Binding()
    job.write()
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_a_query_that_dies_while_it_is_asked_to_end_is_still_an_error(small_job):
    job = small_job(KEPT, Binding(trigger="1 hour", format="parquet"))
    job.feed_bytes(b"no parquet", "parquet")

    with pytest.raises(DataError):
        run_until(job, 0)


def test_a_call_that_nothing_interrupts_is_left_to_end_with_the_process(small_job, monkeypatch):
    """Of a store that does not answer, say."""
    job = small_job(KEPT, Binding(trigger="1 hour", spark={"spark.sql.streaming.stopTimeout": "500ms"}))
    job.feed([event("e1", 1)])
    publishing, answers = threading.Event(), threading.Event()

    def hang(*_: object) -> None:
        publishing.set()
        answers.wait(60)
        raise OSError("no answer")

    monkeypatch.setattr(ending, "PATIENCE_SECONDS", 0)
    with monkeypatch.context() as hanging:
        hanging.setattr(Publisher, "_publish", hang)  # within the lock that the run's own look at it would wait for
        result = job.run(end=publishing)
        answers.set()

    assert "kept did not stop in time; what it was doing ends with this process." in result.notes
    assert result.account == Account()


def test_an_idle_query_is_not_called_under_way_where_another_took_the_time(small_job):
    job = small_job(KEPT, Binding(trigger="1 hour"))
    query = start_query(bind(load(job.folder)), "kept", job.spark.newSession(), Start())
    until(lambda: query.stream.status["message"] == "Waiting for next trigger", "the query to wait for input", 30)

    assert query.end(-5) is True


def test_a_run_that_is_asked_to_end_before_it_begins_begins_nothing(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    end = threading.Event()
    end.set()

    with pytest.raises(KeyboardInterrupt):
        job.run(end=end)

    assert not job.checkpoint().exists()


def test_what_has_stopped_a_query_meanwhile_is_said(small_job):
    """While another query of the job is being ended."""
    job = small_job(KEPT, Binding(trigger="1 hour", format="parquet"))
    job.feed_bytes(b"no parquet", "parquet")
    query = start_query(bind(load(job.folder)), "kept", job.spark.newSession(), Start())
    until(lambda: not query.stream.isActive, "the query to stop", 30)

    with pytest.raises(DataError):
        query.end(5)


@pytest.mark.full
def test_the_account_is_that_of_the_newest_batch_that_spark_has_committed(small_job, monkeypatch):
    """A batch that is cut off while it is published has its manifest; Spark counts its rows neither as read nor as in a window."""
    job = small_job(SUMS, Binding(**{**vars(WINDOWED), "trigger": "1 hour", "files_per_batch": 2}))
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    publishing = threading.Event()

    def cut_off(*_: object) -> None:
        publishing.set()
        threading.Event().wait(3)
        raise OSError("cut off")

    monkeypatch.setattr(ending, "PATIENCE_SECONDS", 0)
    with monkeypatch.context() as slow:
        slow.setattr(Publisher, "publish", cut_off)
        result = job.run(end=publishing)

    assert (job.checkpoint("sums") / "_streamproof/manifests/0").exists()
    assert result.account == Account()
    assert result.accounts[0].adds_up
    job.binding = WINDOWED
    job.write()
    assert job.run().account == Account(open_state=1, rejected=1)
