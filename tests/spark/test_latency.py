"""How old records are when readers get them, as a run says it, against the clock of one that hears of each publication."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spark.small_job import KEPT, START, SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.core.clock import now_utc
from streamproof.runtime.watching.events import BatchCommitted, BatchPublished, RunEvent
from streamproof.runtime.watching.latency import Since

NEAR = 0.05
"""The part by which a latency may be off, or by `NEAR_MS`."""
NEAR_MS = 10
AGES = [2] * 180 + [30] * 16 + [1_000] * 3 + [90_000]
"""Of 200 events, in seconds: so the median is 2, 95 in 100 are at most 30, 99 in 100 at most 1,000."""


class Heard:
    """Hears a run: what the commits say, and when each batch was published."""

    def __init__(self) -> None:
        self.committed: list[BatchCommitted] = []
        self.published: dict[int, float] = {}

    def __call__(self, heard: RunEvent) -> None:
        if isinstance(heard, BatchPublished):
            self.published[heard.batch] = now_utc().timestamp()
        if isinstance(heard, BatchCommitted):
            self.committed.append(heard)


def aged(age: float, identity: str = "e", **columns: Any) -> dict[str, Any]:
    """An event that is so many seconds old now."""
    return event(identity, (now_utc() - timedelta(seconds=age) - START).total_seconds(), **columns)


def near(expected_ms: float) -> Any:
    return pytest.approx(expected_ms, rel=NEAR, abs=NEAR_MS)


def test_a_batch_says_how_old_its_records_were_when_readers_got_them(small_job: Callable[..., SmallJob]) -> None:
    job, heard = small_job(KEPT), Heard()
    fed = now_utc().timestamp()
    job.feed([*(aged(age, f"e{number}") for number, age in enumerate(AGES)), "{broken", aged(10**6, "bad", v=-1.0)])

    job.run(listener=heard, latency=True)

    (first,) = [each for each in heard.committed if each.counts["input"]]
    (said,) = first.latency
    since_fed = (heard.published[first.batch] - fed) * 1_000
    assert (said.source, said.since) == ("events", Since.EVENT)
    assert said.records == 201, "a record that cannot be read has no time; one that the job rejects has"
    assert said.p50_ms == near(2_000 + since_fed)
    assert said.p95_ms == near(30_000 + since_fed)
    assert said.p99_ms == near(1_000_000 + since_fed)
    assert said.most_ms == near(10**9 + since_fed)


def test_of_many_records_a_part_is_looked_at_and_says_the_same(small_job: Callable[..., SmallJob]) -> None:
    job, heard = small_job(KEPT), Heard()
    fed = now_utc().timestamp()
    ages = [AGES[number % len(AGES)] for number in range(40_000)]
    job.feed([aged(age, f"e{number}") for number, age in enumerate(ages)])

    job.run(listener=heard, latency=True)

    (first,) = [each for each in heard.committed if each.counts["input"]]
    (said,) = first.latency
    since_fed = (heard.published[first.batch] - fed) * 1_000
    assert said.records == 40_000
    assert said.p50_ms == pytest.approx(2_000 + since_fed, rel=NEAR, abs=2_000)  # to make them takes a while
    assert said.p99_ms == near(1_000_000 + since_fed)


def test_it_changes_no_row_and_no_count(small_job: Callable[..., SmallJob]) -> None:
    def ran(*, latency: bool) -> tuple[Any, Any]:
        job = small_job(SUMS, WINDOWED, folder=f"latency-{latency}")
        job.feed([event("e1", 1), event("e2", 2, client="b"), event("bad", 3, v=-1)])
        job.feed([event("e3", 100)])
        job.feed([event("late", 5)])
        result = job.run(latency=latency, listener=Heard())
        return sorted(map(str, job.rows("sums"))), result.account

    rows, account = ran(latency=True)
    assert rows
    assert (rows, account) == ran(latency=False)


def test_without_being_asked_nothing_is_measured_and_without_an_event_time_nothing_is_said(
    small_job: Callable[..., SmallJob],
) -> None:
    timed, timeless = Heard(), Heard()
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run(listener=timed)
    other = small_job(KEPT, Binding(event_time=""), folder="timeless")
    other.feed([event("e1", 1)])
    other.run(listener=timeless, latency=True)

    assert timed.committed
    assert timeless.committed
    assert [each.latency for each in (*timed.committed, *timeless.committed) if each.latency] == []
