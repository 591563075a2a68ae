"""Faults on real jobs, watched by a real Prometheus: each raises its alert, and says how soon. The table of docs/guides/watching.md has them all."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import streamproof as sp
from services.prometheus import scraping
from services.test_watched_by_prometheus import MINUTE, WITHIN_SECONDS, watched
from spark.small_job import KEPT, Binding, SmallJob, event
from spark.test_plain_watch import Clicks
from streamproof.errors import StreamproofError
from streamproof.lab.process import until
from streamproof.lab.prometheus import Prometheus
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.rules import alert_rules
from streamproof.observe.values import Values

pytestmark = [pytest.mark.service, pytest.mark.full]
SUMS_OF_A_JOB_THAT_CAN_HANG = """
import time
from pathlib import Path

HANGS = Path(__file__).with_name("hangs")


def through(rows):
    def waits(value):
        while HANGS.exists():
            time.sleep(0.1)
        return value

    return rows.withColumn("v", F.udf(waits, "double")("v"))


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").lookup("prices", on="client").transform(through)
    sums = checked.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late)
"""
SLOWER = timedelta(seconds=4)
"""A minute of the rules where a job is started again and again: three starts take longer than 15 seconds on slow cores."""


def write_prices(job: SmallJob) -> None:
    folder = job.folder / "prices"
    folder.mkdir()
    pq.write_table(pa.table({"client": ["a"], "price": [1.0]}), folder / "all.parquet")


def is_gone(folder: Path) -> bool:
    """A folder that a backup may be writing to is replaced by a file; whether it is."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.touch(exist_ok=False)
    return folder.is_file()


@contextmanager
def raising(prometheus: Prometheus, alert: str) -> Iterator[None]:
    """A fault that must raise an alert, which did not fire before it."""
    assert alert not in prometheus.firing()
    began = time.monotonic()
    yield
    until(lambda: alert in prometheus.firing(), f"{alert} to fire", WITHIN_SECONDS)
    print(f"{alert} fired {time.monotonic() - began:.0f} s after its fault")


def test_faults_around_a_job_raise_their_alerts(small_job: Callable[..., SmallJob], tmp_path: Path) -> None:
    prices = {"table.prices": {"connector": "files", "path": "prices", "refresh": "0 seconds"}}
    with watched(small_job, tmp_path / "prometheus", SUMS_OF_A_JOB_THAT_CAN_HANG, write_prices, **prices) as (fed, prometheus):
        with raising(prometheus, "StreamproofTableStays"):  # somebody has written a table that is none
            (fed.job.folder / "prices" / "all.parquet").write_bytes(b"no table")
        with raising(prometheus, "StreamproofWatermarkStands"):  # the clock of the producers stands
            fed.stands = True
        fed.stands = False
        with raising(prometheus, "StreamproofBackupOld"):  # the place of the backups is gone
            until(lambda: is_gone((fed.job.folder / "../second").resolve()), "the place to be gone", 30)
        with raising(prometheus, "StreamproofStuck"):  # a task hangs
            (fed.job.folder / "hangs").touch()
        (fed.job.folder / "hangs").unlink()


def test_a_job_that_dies_again_and_again_raises_its_alert(small_job: Callable[..., SmallJob], tmp_path: Path) -> None:
    failing = 'events.transform(lambda rows: rows.withColumn("v", F.udf(lambda v: 1 / 0, "double")("v")))'
    for_ever = Binding(trigger="1 second")
    job, values, over = small_job(KEPT.replace("checked = events", f"checked = {failing}"), for_ever), Values(), threading.Event()
    job.feed([event("a", 0)])

    def again() -> None:
        while not over.is_set():
            with pytest.raises(StreamproofError):
                job.run(listener=values)

    with (
        Endpoint("small", "0", values) as endpoint,
        scraping(tmp_path / "prometheus", urlsplit(endpoint.url).netloc, alert_rules(SLOWER)) as prometheus,
    ):
        restarting = threading.Thread(target=again, daemon=True)
        with raising(prometheus, "StreamproofRestarts"):
            restarting.start()
        over.set()
        restarting.join(60)


def test_faults_in_plain_queries_raise_their_alerts(spark: SparkSession, tmp_path: Path) -> None:
    clicks, hangs = Clicks(spark, tmp_path / "clicks"), threading.Event()

    def hang(rows: Any, batch: int) -> None:
        while batch > 1 and not hangs.is_set():
            time.sleep(0.1)

    clicks.feed(*range(10))
    with sp.watch(clicks.spark, metrics="0", job="clicks") as watch:
        assert watch.metrics_url
        with scraping(tmp_path / "prometheus", urlsplit(watch.metrics_url).netloc, alert_rules(MINUTE)) as prometheus:
            lives = clicks.minutes()
            lives.processAllAvailable()
            with raising(prometheus, "StreamproofQueryDied"):
                dies = clicks.dying()
            assert lives.isActive
            assert not dies.isActive
            with raising(prometheus, "StreamproofLateRowsDropped"):
                clicks.feed(0, 1, 2, 11)
            writer = clicks.rows().writeStream.queryName("hangs").foreachBatch(hang)
            with raising(prometheus, "StreamproofSilent"):
                hanging = writer.option("checkpointLocation", f"{clicks.folder}/checkpoints/hangs").start()
                clicks.feed(12)
                clicks.feed(13)
            hangs.set()
            for query in (lives, hanging):
                query.stop()
