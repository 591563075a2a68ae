"""What is made of Spark's own words about plain PySpark jobs, which each version says in its own way: recorded from real runs.

All of them are of one job. The query `counts` counts per minute over a watermark of a minute; its second file has four late rows. A query without a name dies
in its second batch, by a division by zero in `foreachBatch`.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from streamproof.connectors.lag import Lag
from streamproof.runtime.watching.events import BatchCommitted, Note, RunEvent
from streamproof.runtime.watching.watched import Watched, lag_in, phases_in
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted

SAID = sorted((Path(__file__).parent / "data" / "spark_says").glob("*.jsonl"))


def heard(path: Path, known: Watched) -> Iterator[RunEvent]:
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        match told["what"]:
            case "started":
                yield from known.started(told["id"], told["run"], told["name"])
            case "progress":
                yield from known.progressed(told["progress"])
            case "idle":
                yield from known.idle(told["id"], told["run"])
            case "terminated":
                yield from known.ended(told["id"], told["run"], told["exception"], told["error_class"])


def progress(**more: Any) -> dict[str, Any]:
    return {"id": "aaaaaaaa-1", "runId": "run-1", "name": "clicks", "batchId": 0, "numInputRows": 5, "durationMs": {}, **more}


def test_each_version_has_its_words():
    assert {path.stem.rpartition(".")[0] for path in SAID} == {"3.5", "4.0", "4.1", "4.3"}


@pytest.fixture(params=SAID, ids=lambda path: path.stem)
def events(request: pytest.FixtureRequest) -> list[RunEvent]:
    return list(heard(request.param, Watched()))


def test_a_query_says_the_interval_of_its_trigger_where_spark_tells_it():
    known = Watched(trigger_seconds=lambda identity: {"aaaaaaaa-1": 3_600.0}.get(identity))

    assert next(known.started("aaaaaaaa-1", "run-1", "clicks")) == WatchedStarted("clicks", "run-1", "aaaaaaaa-1", 3_600.0)
    assert next(known.started("bbbbbbbb-1", "run-2", "other")) == WatchedStarted("other", "run-2", "bbbbbbbb-1", None)


def test_batches_have_their_records_phases_and_state(events):
    batches = [event for event in events if isinstance(event, BatchCommitted) and event.query == "counts"]

    assert [(batch.batch, batch.counts["input"]) for batch in batches] == [(0, 10), (1, 0), (2, 5), (3, 0)]
    assert [batch.watermark for batch in batches] == [None, *(datetime(2026, 1, 5, 9, minute, tzinfo=UTC) for minute in (8, 8, 10))]
    assert [batch.newest_event and batch.newest_event.minute for batch in batches] == [9, None, 11, None]
    for batch in batches:
        assert list(batch.phases_ms) == ["plan", "work-and-write", "commit"]
        assert batch.total_ms >= sum(batch.phases_ms.values())
        (state,) = batch.state
        assert state.operator == "stateStoreSave"
        assert state.disk_bytes
        assert not batch.lag
    assert [batch.state[0].rows for batch in batches] == [10, 2, 3, 1]
    assert (batches[0].input_per_second, batches[2].input_per_second is not None) == (None, True)


def test_late_rows_that_spark_has_dropped_are_counted(events):
    dropped = [event.state[0].dropped for event in events if isinstance(event, BatchCommitted) and event.state]

    assert dropped == [0, 0, 4, 0]


def test_a_query_that_dies_is_told_from_one_that_is_stopped(events):
    ended = {event.query: event.error for event in events if isinstance(event, WatchedEnded)}

    (unnamed,) = {*ended} - {"counts"}
    assert ended["counts"] is None
    assert ended[unnamed].endswith("ZeroDivisionError")
    assert "division by zero" not in repr(events), "a text may hold values of rows"


def test_a_query_without_a_name_has_the_beginning_of_its_id(events):
    by_id = {event.id: event.query for event in events if isinstance(event, WatchedStarted)}
    (note,) = [event for event in events if isinstance(event, Note)]

    ((identity, query),) = [(identity, query) for identity, query in by_id.items() if query != "counts"]
    assert query == identity[:8]
    assert note.code == "query-unnamed"
    assert query in note.text
    assert "queryName" in note.text


def test_spark_is_heard_without_input_too():
    seconds = iter([10.0, 12.5, 22.5])
    known = Watched(clock=lambda: next(seconds))

    told = [*known.started("aaaaaaaa-1", "run-1", "clicks"), *known.progressed(progress()), *known.idle("aaaaaaaa-1", "run-1")]
    told += known.idle("aaaaaaaa-1", "run-1")

    words = [event for event in told if isinstance(event, WatchedHeard)]
    assert [(word.batch, word.since_before) for word in words] == [(0, None), (None, 2.5), (None, 10.0)]


def test_what_spark_does_not_tell_is_absent_and_not_zero():
    (_, word, batch) = Watched().progressed(progress(numInputRows=None, stateOperators=[], sources=[]))

    assert (word.watermark, batch.watermark, batch.newest_event) == (None, None, None)
    assert (batch.counts, batch.phases_ms, batch.total_ms, batch.state, batch.lag) == ({}, {}, None, (), ())
    assert (batch.input_per_second, batch.processed_per_second) == (None, None)


BEYOND = {"max": "57970-01-01T00:00:00.000Z", "watermark": "57969-12-31T00:00:00.000Z"}


def test_an_event_beyond_the_year_9999_blinds_no_watch():
    """Its watermark stays, so it comes with every later progress too."""
    state = {
        "operatorName": "dedupe",
        "numRowsTotal": 1,
        "numRowsUpdated": 0,
        "numRowsRemoved": 0,
        "memoryUsedBytes": 100,
        "numRowsDroppedByWatermark": 5,
    }
    known = Watched()

    [*known.progressed(progress())]
    (word, batch) = known.progressed(progress(batchId=1, eventTime=BEYOND, stateOperators=[state]))

    assert (word.batch, word.watermark, batch.watermark, batch.newest_event) == (1, None, None, None)
    assert (batch.counts, batch.state[0].dropped) == ({"input": 5}, 5)


@pytest.mark.parametrize(
    ("odd", "name"),
    [
        ({"eventTime": {"watermark": 5, "max": []}}, ""),
        ({"eventTime": []}, "eventTime"),
        ({"stateOperators": [{"operatorName": "dedupe"}]}, "stateOperators"),
        ({"sources": [None]}, "sources"),
        ({"durationMs": {"latestOffset": "3 ms"}}, "durationMs"),
        ({"durationMs": [1]}, "durationMs"),
        ({"durationMs": None}, ""),
    ],
    ids=str,
)
def test_an_odd_field_takes_no_other_along_and_is_noted_once(odd, name):
    known = Watched()
    [*known.started("aaaaaaaa-1", "run-1", "clicks")]

    word, batch, *notes = known.progressed(progress(processedRowsPerSecond=7.0, **odd))

    assert (word.query, word.batch, batch.counts, batch.processed_per_second) == ("clicks", 0, {"input": 5}, 7.0)
    assert [note.code for note in notes] == (["progress-not-read"] if name else [])
    assert all(name in note.text for note in notes)
    assert len([*known.progressed(progress(**odd))]) == 2, "it was said already"


def test_the_state_is_not_counted_where_nobody_can_be_asked_for_it():
    def gone() -> bool:
        raise RuntimeError

    *_, word, batch, note = Watched(counts_rows=gone).progressed(progress())

    assert (word.kind, batch.state, note.code) == ("watched-heard", (), "progress-not-read")


def test_queries_without_a_name_that_come_and_go_fill_no_memory():
    known = Watched()
    for number in range(1_200):
        identity, run = f"{number:08x}-x", f"run-{number}"
        assert len([*known.started(identity, run, None), *known.ended(identity, run, None, None)]) == 3

    assert max(len(kept) for kept in vars(known).values() if hasattr(kept, "__len__")) == 1_000


def test_a_progress_that_comes_after_the_end_is_no_event():
    known = Watched()
    [*known.progressed(progress()), *known.ended("aaaaaaaa-1", "run-1", None, None)]

    assert not [*known.progressed(progress(batchId=1))]


def test_rows_that_a_state_store_does_not_count_are_not_zero():
    state = {
        "operatorName": "dedupe",
        "numRowsTotal": 0,
        "numRowsUpdated": 4,
        "numRowsRemoved": 0,
        "memoryUsedBytes": 100,
        "numRowsDroppedByWatermark": 2,
    }

    *_, batch = Watched(counts_rows=lambda: False).progressed(progress(stateOperators=[state]))

    assert (batch.state[0].rows, batch.state[0].updated, batch.state[0].disk_bytes, batch.state[0].dropped) == (None, 4, None, 2)


def test_the_lag_of_topics_is_what_lies_between_two_offsets():
    topic = {
        "description": "KafkaV2[Subscribe[clicks]]",
        "endOffset": {"clicks": {"0": 93, "1": 7}},
        "latestOffset": {"clicks": {"0": 100, "1": 7, "2": 4}},
    }
    files = {"description": "FileStreamSource[file:/in]", "endOffset": {"logOffset": 0}, "latestOffset": None}
    quiet = {**topic, "latestOffset": None}

    assert list(lag_in({"sources": [files, topic, quiet]})) == [
        Lag("source 1", "clicks", 0, 93, 100, 7),
        Lag("source 1", "clicks", 1, 7, 7, 0),
    ]


def test_phases_have_our_names_only_where_they_are_ours():
    assert phases_in({"latestOffset": 3, "walCommit": 4, "addBatch": 50, "commitOffsets": 6, "triggerExecution": 70, "new": 7}) == {
        "plan": 7,
        "work-and-write": 50,
        "commit": 6,
    }


def test_two_queries_of_one_name_are_told_apart():
    known = Watched()

    first = next(iter(known.started("aaaaaaaa-1", "run-1", "clicks")))
    second = next(iter(known.started("bbbbbbbb-2", "run-2", "clicks")))
    [*known.ended("aaaaaaaa-1", "run-1", None, None)]
    again = next(iter(known.started("aaaaaaaa-1", "run-3", "clicks")))

    assert [event.query for event in (first, second, again)] == ["clicks", "clicks (bbbbbbbb)", "clicks"]


def test_a_query_is_heard_that_ran_before_the_watch_and_one_that_ended_does_not_come_back():
    known = Watched()

    started, word, batch = known.progressed(progress())
    (ended,) = known.ended("aaaaaaaa-1", "run-1", None, None)

    assert [event.query for event in (started, word, batch, ended)] == ["clicks"] * 4
    assert not [*known.started("aaaaaaaa-1", "run-1", "clicks")]
    assert not known.runs


@pytest.mark.parametrize(
    ("exception", "error_class", "error"),
    [
        (
            "org.apache.spark.SparkException: [X] card 4711\nCaused by: java.io.IOException: 4711",
            "STREAM_FAILED",
            "STREAM_FAILED IOException",
        ),
        ("boom 4711", None, "unknown"),
        ("java.lang.OutOfMemoryError", None, "OutOfMemoryError"),
    ],
)
def test_an_error_is_named_without_its_text(exception, error_class, error):
    known = Watched()
    [*known.started("aaaaaaaa-1", "run-1", "clicks")]

    (ended,) = known.ended("aaaaaaaa-1", "run-1", exception, error_class)

    assert ended.error == error
