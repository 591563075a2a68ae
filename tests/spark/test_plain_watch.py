"""`sp.watch` on real plain PySpark queries: late rows are counted, a query that dies is seen beside one that lives, and nothing in it stops a query."""

import json
import subprocess
import threading
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import streamproof as sp
from streamproof.lab.process import until
from streamproof.observe.plain.watch import Watch
from streamproof.runtime.watching.events import BatchCommitted, RunEvent
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted


class Clicks:
    """A folder of files of clicks, and the queries that read it, in a session of their own: minutes over a watermark, as in examples/plain_pyspark."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.files = spark.newSession(), folder, 0
        self.spark.conf.set("spark.sql.shuffle.partitions", 1)
        self.spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "200")
        (folder / "in").mkdir(parents=True)

    def feed(self, *minutes: int) -> None:
        lines = [json.dumps({"user": "a", "at": f"2026-01-05T09:{minute:02d}:00Z"}) for minute in minutes]
        (self.folder / f"{self.files}.tmp").write_text("\n".join(lines))
        (self.folder / f"{self.files}.tmp").rename(self.folder / "in" / f"{self.files}.json")
        self.files += 1

    def rows(self) -> DataFrame:
        return (
            self.spark.readStream.schema("user string, at timestamp")
            .option("maxFilesPerTrigger", 1)
            .json(f"{self.folder}/in/*.json")
        )

    def minutes(self, name: str = "minutes") -> StreamingQuery:
        counted = self.rows().withWatermark("at", "1 minute").groupBy(F.window("at", "1 minute"), "user").count()
        writer = counted.writeStream.queryName(name).outputMode("append").format("noop")
        return writer.option("checkpointLocation", f"{self.folder}/checkpoints/{name}").start()

    def dying(self) -> StreamingQuery:
        def write(rows: DataFrame, batch: int) -> None:
            raise ValueError(f"card {4711} of batch {batch}")

        return self.rows().writeStream.foreachBatch(write).option("checkpointLocation", f"{self.folder}/checkpoints/dying").start()


@pytest.fixture
def clicks(spark: SparkSession, tmp_path: Path) -> Clicks:
    return Clicks(spark, tmp_path)


def scraped(watch: Watch) -> tuple[str, dict[tuple[str, ...], float]]:
    """The text that Prometheus gets, and its samples by name, query, and operator or phase."""
    assert watch.metrics_url
    text = urllib.request.urlopen(watch.metrics_url, timeout=10).read().decode()
    return text, {
        (
            sample.name,
            sample.labels["query"],
            *(sample.labels[one] for one in ("operator", "phase") if one in sample.labels),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "query" in sample.labels and "le" not in sample.labels
    }


def shown(watch: Watch) -> dict[str, Any]:
    picture: dict[str, Any] = json.loads(urllib.request.urlopen(f"{watch.live_url}picture.json", timeout=10).read())
    return picture


def test_late_rows_are_counted_and_a_query_that_dies_is_seen_beside_one_that_lives(clicks: Clicks) -> None:
    clicks.feed(*range(10))
    heard: list[RunEvent] = []
    lives = clicks.minutes()  # before the watch: it is seen all the same
    with sp.watch(clicks.spark, metrics="0", live="0", job="clicks", listener=heard.append) as watch:
        lives.processAllAvailable()
        dies = clicks.dying()
        until(lambda: not dies.isActive, "the query to die", 60)
        clicks.feed(0, 1, 2, 11)
        lives.processAllAvailable()
        until(
            lambda: scraped(watch)[1].get(("streamproof_state_dropped_rows_total", "minutes", "0 stateStoreSave")) == 3,
            "late rows",
            30,
        )
        dead = dies.id[:8]
        until(lambda: scraped(watch)[1].get(("streamproof_query_died", dead)) == 1, "the death", 30)

        newest = ("streamproof_watermark_timestamp_seconds", "minutes")
        until(
            lambda: scraped(watch)[1][newest] == datetime(2026, 1, 5, 9, 10, tzinfo=UTC).timestamp(),
            "the watermark of the last batch",
            30,
        )

        text, found = scraped(watch)
        assert (found["streamproof_query_up", "minutes"], found["streamproof_query_up", dead]) == (1, 0)
        assert found["streamproof_trigger_interval_seconds", "minutes"] == 0, "a batch follows the one before"
        assert found["streamproof_query_died", "minutes"] == 0
        assert found["streamproof_input_records_total", "minutes"] == 14
        assert found["streamproof_phase_seconds_total", "minutes", "work-and-write"] > 0
        assert lives.isActive
        page = shown(watch)
        assert (page["word"], page["job"]) == ("stopped", "clicks")
        assert page["why"] == f"A query has died: {dead} of {error(heard)}. minutes goes on."
        (minutes,) = [query for query in page["queries"] if query["name"] == "minutes"]
        assert minutes["account"] is None
        assert [state["dropped"] for state in minutes["state"]] == [3]
        assert {trouble["code"] for trouble in page["troubles"]} == {"query-died", "query-unnamed", "late-rows-dropped"}
        assert "4711" not in text + json.dumps(page) + repr(heard), "the text of an error may hold values of rows"
        (note,) = watch.notes
        assert "queryName" in note
        lives.stop()

    assert [(event.query, event.error) for event in heard if isinstance(event, WatchedEnded)] == [
        (dead, error(heard)),
        ("minutes", None),
    ]
    assert [event.query for event in heard if isinstance(event, WatchedStarted)] == ["minutes", dead]


def error(heard: list[RunEvent]) -> str:
    (said,) = [event.error for event in heard if isinstance(event, WatchedEnded) and event.error]
    assert said.endswith("ValueError")
    return said


def test_what_prometheus_gets_is_what_it_takes(clicks: Clicks) -> None:
    from unit.observe.test_alerts import promtool

    program = promtool()
    clicks.feed(1, 2)
    with sp.watch(clicks.spark, metrics=0) as watch:
        query = clicks.minutes()
        query.processAllAvailable()
        until(lambda: ("streamproof_batch_seconds_count", "minutes") in scraped(watch)[1], "a batch", 30)
        text, _ = scraped(watch)
        query.stop()
    done = subprocess.run([program, "check", "metrics"], input=text, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_listener_that_raises_and_one_that_hangs_stop_no_query(clicks: Clicks) -> None:
    clicks.feed(1, 2)
    heard: list[RunEvent] = []
    hanging, entered = threading.Event(), threading.Event()

    def raise_it(_: RunEvent) -> None:
        raise ValueError("no")

    def hang(event: RunEvent) -> None:
        if isinstance(event, BatchCommitted):
            entered.set()
            hanging.wait(60)

    watch = sp.watch(clicks.spark, listener=[raise_it, heard.append, hang])
    query = clicks.minutes()
    query.processAllAvailable()
    assert entered.wait(30)
    clicks.feed(5, 6)
    query.processAllAvailable()
    done = query.lastProgress["batchId"] if query.lastProgress else 0
    hanging.set()
    until(lambda: done in [event.batch for event in heard if isinstance(event, WatchedHeard)], "what was said meanwhile", 30)
    query.stop()
    watch.stop()
    watch.stop()

    assert done >= 2
    assert len([note for note in watch.notes if "raised ValueError" in note]) == 1
    assert not [event for event in heard if isinstance(event, WatchedEnded) and event.error]


def test_after_the_watch_the_query_goes_on_and_is_heard_no_more(clicks: Clicks) -> None:
    clicks.feed(1, 2)
    heard: list[RunEvent] = []
    query = clicks.minutes()
    with sp.watch(clicks.spark, listener=heard.append):
        query.processAllAvailable()
    before = len(heard)
    clicks.feed(3, 4)
    query.processAllAvailable()

    assert query.isActive
    assert len(heard) == before
    query.stop()
