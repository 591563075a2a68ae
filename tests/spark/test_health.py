"""/health and /ready of a real job: one that hangs in a task, one that is idle, one that has not yet started, one whose driver is stuck."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.lab.process import until
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.health import Health
from streamproof.observe.values import Values
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.watching.events import BatchCommitted, QueryStarting, RunEvent
from streamproof.runtime.watching.pulse import FeelsPulse, Pulse

HANGS = """
import time
from pathlib import Path

from pyspark.sql.types import DoubleType


def hangs(value):
    while value == 13 and not Path("{file}").exists():
        time.sleep(0.1)
    return value


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("v", F.udf(hangs, DoubleType())("v"))))
"""
PATIENCE = 240
"""So many seconds are waited for what comes in a few: other tests run beside it."""
GOES_ON = Binding(sinks={"kept": "parquet"}, trigger="100 milliseconds")


@contextmanager
def watched(job: SmallJob, *listeners, hang_after: float = 8) -> Iterator[SimpleNamespace]:
    """The job runs in another thread until the test is over; `.ask(page)` gives the code and the body."""
    health, values, end = Health(hang_after=timedelta(seconds=hang_after)), Values(), threading.Event()
    heard: list = []
    with Endpoint("small", "0", values, checked=health) as endpoint:

        def ask(page: str) -> tuple[int, dict]:
            try:
                with urllib.request.urlopen(endpoint.url.replace("/metrics", page), timeout=30) as answer:
                    return answer.status, json.loads(answer.read())
            except urllib.error.HTTPError as problem:
                return problem.code, json.loads(problem.read())

        running = threading.Thread(
            target=lambda: job.run(end=end, listener=[health, values, heard.append, *listeners]), daemon=True
        )
        run = SimpleNamespace(ask=ask, end=end, heard=heard, start=running.start, over=lambda: not running.is_alive())
        run.committed = lambda: len([each for each in heard if isinstance(each, BatchCommitted)])
        try:
            yield run
        finally:
            end.set()
            running.join(PATIENCE)


class Pulses(FeelsPulse):
    """What the pulse of a run has said of tasks."""

    def __init__(self) -> None:
        self.tasks: set[tuple[int, ...]] = set()

    def __call__(self, _: RunEvent) -> None:
        pass

    def beat(self, pulse: Pulse) -> None:
        self.tasks |= {query.tasks for query in pulse.queries if query.tasks is not None}


def test_it_is_ready_once_its_queries_run_and_an_idle_source_is_no_hang_and_it_is_not_ready_while_it_ends(small_job):
    job = small_job(KEPT, Binding(trigger="100 milliseconds"))
    job.feed([event("e1", 1)])
    starting, looked = threading.Event(), threading.Event()

    def hold(happens) -> None:
        if isinstance(happens, QueryStarting):
            starting.set()
            looked.wait(PATIENCE)

    with watched(job, hold, hang_after=4) as run:
        assert run.ask("/ready")[0] == 503
        run.start()
        starting.wait(PATIENCE)
        code, said = run.ask("/ready")
        assert (code, said["status"]) == (503, "starting")
        looked.set()
        until(lambda: run.ask("/ready")[0] == 200, "the query to run", PATIENCE)
        until(run.committed, "its batch", PATIENCE)
        threading.Event().wait(9)  # twice as long as anything may stand still: there is nothing to read
        assert [run.ask(page)[0] for page in ("/health", "/ready")] == [200, 200], run.ask("/health")
        job.feed([event("e2", 2)])
        until(lambda: run.committed() == 2, "what comes later", PATIENCE)
        run.end.set()
        until(run.over, "the end", PATIENCE)
        assert run.ask("/ready")[1]["status"] == "ending"


def test_a_task_that_hangs_turns_health_bad_with_the_batch_and_is_no_hang_any_more_once_it_goes_on(small_job, tmp_path):
    go_on = tmp_path / "go-on"
    job = small_job(HANGS.format(file=go_on), GOES_ON)
    job.feed([event("e1", 1)])
    pulses = Pulses()
    with watched(job, pulses) as run:
        run.start()
        until(run.committed, "the batch that does not hang", PATIENCE)
        assert run.ask("/health")[0] == 200
        job.feed([event("e2", 2, v=13)])
        until(lambda: run.ask("/health")[0] == 503, "the hang to be seen", PATIENCE)

        _, said = run.ask("/health")

        assert said["status"] == "hangs"
        assert said["reason"].startswith("Batch 1 of kept is under way for ")
        assert "in the phase work" in said["reason"]
        assert said["queries"][0]["batch"] == 1
        assert "Spark's own page" in said["next"]
        assert run.ask("/ready")[0] == 200
        go_on.touch()
        until(lambda: run.ask("/health")[0] == 200, "it to go on", PATIENCE)
        until(lambda: run.committed() == 2, "the batch", PATIENCE)
    assert job.ids() == ["e1", "e2"]
    assert any(len(tasks) >= 3 for tasks in pulses.tasks), "Spark's jobs, their stages, and how many tasks have come to an end"


def test_a_driver_whose_thread_is_stuck_turns_health_bad(small_job, monkeypatch):
    job = small_job(KEPT, Binding(trigger="100 milliseconds"))
    job.feed([event("e1", 1)])
    hangs, goes_on, once = threading.Event(), threading.Event(), Publisher.catch_up_unless_busy

    def hang(self) -> None:
        if hangs.is_set():
            goes_on.wait(PATIENCE)
        once(self)

    monkeypatch.setattr(Publisher, "catch_up_unless_busy", hang)
    with watched(job) as run:
        run.start()
        until(run.committed, "a batch", PATIENCE)
        until(lambda: run.ask("/ready")[0] == 200, "it to be ready", PATIENCE)
        hangs.set()
        until(lambda: run.ask("/health")[0] == 503, "the hang to be seen", PATIENCE)
        assert run.ask("/health")[1]["reason"].startswith("The driver's own thread has not come around for ")
        goes_on.set()
        until(lambda: run.ask("/health")[0] == 200, "it to go on", PATIENCE)
