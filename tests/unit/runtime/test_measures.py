"""What Spark says of a batch, as the event of its commit has it."""

from typing import Any

import pytest

from streamproof.config import FilesSource, KafkaSource
from streamproof.connectors.files.source import FolderSource
from streamproof.connectors.kafka.source import TopicSource
from streamproof.connectors.lag import Lag
from streamproof.core.phases import Phase
from streamproof.runtime.watching import measures
from streamproof.runtime.watching.events import BatchCommitted
from streamproof.runtime.watching.figures import OperatorState
from streamproof.runtime.watching.measures import Measures, Stopwatch

FILES = FilesSource(connector="files", path="data", format="parquet")
TOPIC = KafkaSource(connector="kafka", servers="s:1", topic="t", format="json")
OURS = {"plan": 5, "work": 400, "stage": 30, "publish": 20}
DURATIONS = {
    "latestOffset": 10,
    "getBatch": 2,
    "walCommit": 3,
    "queryPlanning": 100,
    "addBatch": 470,
    "commitOffsets": 7,
    "triggerExecution": 600,
}
WINDOWS = {
    "operatorName": "stateStoreSave",
    "numRowsTotal": 12,
    "numRowsUpdated": 3,
    "numRowsRemoved": 1,
    "memoryUsedBytes": 8392,
    "customMetrics": {"rocksdbSstFileSize": 2484},
}


def committed(phases: dict[str, int]) -> BatchCommitted:
    return BatchCommitted("sums", 3, {"input": 60}, {}, None, phases)


def progress(**others: Any) -> dict[str, Any]:
    return {"batchId": 3, "durationMs": DURATIONS, "numInputRows": 60, "sources": [], "stateOperators": [], **others}


def test_a_phase_is_what_we_have_measured_and_what_spark_has():
    event = Measures(()).complete(committed(OURS), progress())

    assert event.phases_ms == {"plan": 120, "work": 400, "stage": 30, "publish": 20, "commit": 7}
    assert list(event.phases_ms) == ["plan", "work", "stage", "publish", "commit"]
    assert event.total_ms == 600


def test_the_work_of_a_batch_that_spark_itself_writes_is_sparks():
    event = Measures(()).complete(committed({"stage": 30, "publish": 20}), progress())

    assert event.phases_ms == {"plan": 115, "work": 470, "stage": 30, "publish": 20, "commit": 7}


def test_the_rates_are_sparks():
    event = Measures(()).complete(committed(OURS), progress(inputRowsPerSecond=6.0, processedRowsPerSecond=100.0))

    assert (event.input_per_second, event.processed_per_second) == (6.0, 100.0)


@pytest.mark.parametrize(
    ("said", "rows", "expected"), [(0.0, 60, None), (0.0, 0, 0.0), (None, 60, None)], ids=["first batch", "no input", "no number"]
)
def test_an_input_rate_that_spark_does_not_know_is_none(said, rows, expected):
    rate = {} if said is None else {"inputRowsPerSecond": said}

    assert Measures(()).complete(committed(OURS), progress(numInputRows=rows, **rate)).input_per_second == expected


def test_the_lag_is_the_end_of_the_topic_as_it_was_planned_less_where_the_batch_ended():
    """Of files there is none, nor of a partition whose end is not known; a topic that was made shorter is not ahead."""
    topic = {"endOffset": {"t": {"1": 40, "0": 70, "2": 9, "3": 5}}, "latestOffset": {"t": {"0": 100, "1": 40, "2": 8}}}
    files = {"endOffset": {"logOffset": 3}, "latestOffset": {"logOffset": 5}}
    unread = {"endOffset": None, "latestOffset": None}

    event = Measures([FolderSource("files", FILES), TopicSource("trades", TOPIC), TopicSource("quotes", TOPIC)]).complete(
        committed(OURS), progress(sources=[files, topic, unread])
    )

    assert event.lag == (
        Lag("trades", "t", 0, 70, 100, 30),
        Lag("trades", "t", 1, 40, 40, 0),
        Lag("trades", "t", 2, 9, 8, 0),
    )


def test_the_state_of_each_operator():
    heap = {**WINDOWS, "operatorName": "dedupe", "customMetrics": {}}

    event = Measures((), counts_rows=True).complete(committed(OURS), progress(stateOperators=[WINDOWS, heap]))

    assert event.state == (
        OperatorState("stateStoreSave", rows=12, updated=3, removed=1, memory_bytes=8392, disk_bytes=2484),
        OperatorState("dedupe", rows=12, updated=3, removed=1, memory_bytes=8392, disk_bytes=None),
    )


def test_rows_that_are_not_counted_are_not_said_to_be_none():
    """Spark says 0 then."""
    event = Measures(()).complete(committed(OURS), progress(stateOperators=[{**WINDOWS, "numRowsTotal": 0}]))

    assert event.state[0].rows is None


@pytest.mark.parametrize(
    "said",
    [
        {"stateOperators": [{"operatorName": "stateStoreSave"}]},
        {"sources": [{"endOffset": {"t": 3}, "latestOffset": {"t": 3}}]},
        {"sources": [None]},
        {"stateOperators": None},
        {"durationMs": {"latestOffset": "3 ms"}},
        {"durationMs": None},
    ],
    ids=str,
)
def test_an_odd_figure_of_sparks_leaves_the_event_as_it_is(said):
    """It is only shown: the batch is committed whatever Spark says of it."""
    event = committed(OURS)

    assert Measures([TopicSource("trades", TOPIC)]).complete(event, progress(**said)) == event


def test_a_phase_that_comes_twice_is_added_up_and_what_is_in_no_phase_is_left_out(monkeypatch):
    times = iter([0.0, 1.0, 3.0, 10.0, 10.5, 11.0])
    monkeypatch.setattr(measures, "monotonic_seconds", lambda: next(times))
    watch = Stopwatch()

    for phase in (Phase.STAGE, Phase.PUBLISH, None, Phase.STAGE, Phase.PUBLISH, None):
        watch.enter(phase)

    assert watch.milliseconds == {"stage": 1500, "publish": 2500}
