"""A real Prometheus scrapes a real job: it understands every query of the dashboard and every alert; faults raise their alerts, a quiet job none."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from services.prometheus import scraping
from spark.small_job import SUMS, Binding, SmallJob, event
from streamproof.lab.process import until
from streamproof.lab.prometheus import Prometheus
from streamproof.observe.dashboard import expression
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.metrics import METRICS
from streamproof.observe.rules import alert_rules
from streamproof.observe.spans import shrunk
from streamproof.observe.values import Values

pytestmark = pytest.mark.service
MINUTE = timedelta(seconds=1)
"""So long is a minute of the rules."""
WITHIN_SECONDS = 90
"""An alert has to fire so soon after its fault."""
QUIET_SECONDS = 25
SECONDS_OF_EVENTS = 30
"""So much event time has each file: a window of `SUMS`."""
NOT_OF_THIS_JOB = {
    "batch_limit",
    "batch_resumed_timestamp_seconds",
    "consumer_lag_records",
    "heard_interval_seconds",
    "hot_key_share",
    "last_failure_info",
    "last_heard_timestamp_seconds",
    "notes_total",
    "query_died",
    "rules_rejected_total",
    "state_dropped_rows_total",
    "state_rows",
    "state_rows_dropped_timestamp_seconds",
    "table_read_failed_timestamp_seconds",
    "table_reads_failed_total",
    "table_rows",
    "watermark_leapt_timestamp_seconds",
}
"""Metrics without a series: they are of plain PySpark jobs, or
the job reads no topic and no table, has no limit, no hot key and no leap, was not started again, and does not count the rows of its state."""


@dataclass
class Fed:
    """A job that gets a file each second, of good events unless a fault is asked for; `stands` lets their event times stand."""

    job: SmallJob
    at: float = 0.0
    stands: bool = False
    fault: Callable[[float], list[dict[str, Any]]] | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def feed(self) -> None:
        while not self.over.is_set():
            rows = [event(f"e{self.at}-{number}", self.at + number) for number in range(SECONDS_OF_EVENTS)]
            fault = self.fault
            self.job.feed([*rows, *(fault(self.at) if fault is not None else [])])
            self.at += 0 if self.stands else SECONDS_OF_EVENTS
            time.sleep(1)


@contextmanager
def watched(
    small_job: Callable[..., SmallJob],
    folder: Path,
    text: str = SUMS,
    prepare: Callable[[SmallJob], None] = lambda _: None,
    **tables: Any,
) -> Iterator[tuple[Fed, Prometheus]]:
    """A job that runs, fed and scraped; `tables` are further ones of its configuration, and `prepare` makes what they need."""
    job = small_job(
        text,
        Binding(
            sinks={"sums": "parquet", "late": "json", "rejected": "json"},
            trigger="1 second",
            files_per_batch=None,
            tables={"backup": {"to": "../second", "every": "10 seconds"}, **tables},
        ),
    )
    prepare(job)
    fed, values, end = Fed(job), Values(), threading.Event()
    running = threading.Thread(target=lambda: job.run(listener=values, latency=True, end=end), daemon=True)
    feeding = threading.Thread(target=fed.feed, daemon=True)
    with (
        Endpoint("small", "0", values) as endpoint,
        scraping(folder, urlsplit(endpoint.url).netloc, alert_rules(MINUTE)) as prometheus,
    ):
        feeding.start()
        running.start()
        try:
            until(lambda: bool(prometheus.series("streamproof_batches_total > 3")), "the fourth batch", 120)
            yield fed, prometheus
        finally:
            fed.over.set()
            end.set()
            running.join(60)
            feeding.join(20)


def test_a_quiet_job_raises_no_alert_and_faults_raise_theirs(small_job: Callable[..., SmallJob], tmp_path: Path) -> None:
    with watched(small_job, tmp_path / "prometheus") as (fed, prometheus):
        seen = set[str]()
        until_quiet = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < until_quiet:
            seen |= set(prometheus.firing())
            time.sleep(1)
        assert seen == set(), "the job is well"

        (group,) = prometheus.asked("rules")["groups"]
        assert [
            (rule["name"], rule["health"], rule.get("lastError", "")) for rule in group["rules"] if rule["health"] != "ok"
        ] == []
        for metric in METRICS:
            prometheus.series(shrunk(expression(metric), MINUTE))  # it says so where it does not understand one
        empty = {metric.name for metric in METRICS if not prometheus.series(f'{{__name__=~"{metric.full_name}(_count)?"}}')}
        assert empty == NOT_OF_THIS_JOB
        ages = {
            one["metric"]["quantile"]: float(one["value"][1]) for one in prometheus.series("streamproof_record_latency_seconds")
        }
        assert 0 < ages["0.5"] <= ages["0.95"] <= ages["0.99"]

        fed.fault = lambda at: [event(f"bad{at}-{number}", at, v=-1.0) for number in range(5)]
        until(lambda: "StreamproofManyRejected" in prometheus.firing(), "the alert on rejected records", WITHIN_SECONDS)
        assert set(prometheus.firing()) == {"StreamproofManyRejected"}

        fed.fault = lambda at: [event(f"old{at}-{number}", at - 10_000) for number in range(5)]
        until(lambda: "StreamproofManyLate" in prometheus.firing(), "the alert on late records", WITHIN_SECONDS)

        fed.fault = lambda at: [event(f"wrong{at}", at + 200_000)]
        until(lambda: "StreamproofWatermarkLeapt" in prometheus.firing(), "the alert on the watermark", WITHIN_SECONDS)
