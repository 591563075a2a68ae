"""The events of a real run: in their order, with numbers that agree with the result; a listener that raises stops nothing."""

import json
import urllib.request
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import pytest
from prometheus_client.parser import text_string_to_metric_families

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, SmallJob, event, instant
from streamproof.core.account import COUNTED, Account
from streamproof.errors import AccountError, DataError, StreamproofError
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.values import Values
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchPublished,
    BatchStaged,
    Note,
    QueryEnded,
    QueryFinishing,
    QueryStarted,
    RunEnded,
    RunEvent,
    RunFailed,
    WatermarkLeapt,
)
from streamproof.runtime.watching.result import RunResult

Kind = TypeVar("Kind", bound=RunEvent)
LIFE = ["batch-planned", "batch-staged", "batch-published", "batch-committed"]


def run(job: SmallJob) -> tuple[RunResult, list[RunEvent]]:
    heard: list[RunEvent] = []
    return job.run(listener=heard.append), heard


def of(kind: type[Kind], heard: Sequence[RunEvent]) -> list[Kind]:
    return [event for event in heard if isinstance(event, kind)]


def kinds(heard: Sequence[RunEvent]) -> list[str]:
    """The kinds in their order, notes left aside."""
    return [event.kind for event in heard if not isinstance(event, Note)]


def test_a_run_with_late_and_rejected_rows_says_what_each_batch_did(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1), event("bad", 2, v=-1), "{broken"])
    job.feed([event("e2", 100)])
    job.feed([event("e3", 101)])
    job.feed([event("late", 5)])  # behind the watermark of the batch before

    result, heard = run(job)

    assert kinds(heard)[:2] == ["query-starting", "query-started"]
    assert heard[1].batch == 0, "the first batch of the run"
    assert kinds(heard)[-3:] == ["query-finishing", "query-ended", "run-ended"]
    for batch in range(result.batches):
        of_batch = [each.kind for each in heard if getattr(each, "batch", None) == batch and each.kind.startswith("batch-")]
        life = [kind for kind in of_batch if kind != "batch-published"]
        assert life == [kind for kind in LIFE if kind != "batch-published"]
    staged, committed = of(BatchStaged, heard), of(BatchCommitted, heard)
    assert staged[0].counts == {**dict.fromkeys(COUNTED, 0), "input": 3, "expanded": 0, "emitted": 0, "rejected": 2}
    assert (staged[3].counts["input"], staged[3].counts["late"]) == (1, 1)
    assert [each.counts for each in staged] == [each.counts for each in committed]
    assert not any(each.replayed for each in staged)
    planned = of(BatchPlanned, heard)
    assert (planned[0].watermark, planned[2].watermark) == (None, instant(90))
    assert [each.files for each in planned[:4]] == [1, 1, 1, 1]
    published = Counter[str]()
    for each in of(BatchPublished, heard):
        published[each.output] += each.rows
    assert published == {"sums": 1, "late": 1, "rejected": 2} == {output.name: output.rows for output in result.outputs}
    assert {(each.batch, each.output) for each in of(BatchPublished, heard)} >= {(0, "rejected"), (3, "late")}
    json.dumps([each.as_dict() for each in heard])


def test_the_end_of_a_query_has_its_totals_and_its_account_and_the_end_of_the_run_its_result(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.feed([event("e2", 100)])

    result, heard = run(job)

    (started,), (ended,) = of(QueryStarted, heard), of(QueryEnded, heard)
    assert started.outputs == {output.name: output.where for output in result.outputs}
    assert started.checkpoint == str(job.checkpoint("sums"))
    assert (ended.batches, ended.input, ended.rows) == (result.batches, 3, {"sums": 1, "late": 0, "rejected": 1})
    assert ended.account.account == result.account == Account(emitted=1, open_state=1, rejected=1)
    assert (ended.open_windows, ended.closes_after) == (1, instant(120))
    assert heard[-1] == RunEnded(result)
    assert of(QueryFinishing, heard) == [QueryFinishing("sums", asked_to_end=False)]


def test_a_run_that_goes_on_says_the_account_of_the_batches_before(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.feed([event("e2", 100)])
    first, _ = run(job)
    job.feed([event("e3", 200)])

    result, heard = run(job)

    (started,) = of(QueryStarted, heard)
    assert started.batch == first.batches
    assert (started.trigger_seconds, started.resumes) == (None, False)
    assert started.counts == {**dict.fromkeys(COUNTED, 0), "input": 3, "expanded": 0, "emitted": 1, "rejected": 1}
    added = Counter(started.counts)
    for each in of(BatchCommitted, heard):
        added.update(each.counts)
    assert added["input"] == result.account_input == 4
    assert {place: added[place] for place in COUNTED} == {place: result.account.as_dict()[place] for place in COUNTED}


def test_a_start_says_whether_the_run_before_has_left_a_batch_unfinished(small_job):
    """By that alerts tell a job that dies again and again from one that ends well each time."""
    failing = 'events.transform(lambda rows: rows.withColumn("v", F.udf(lambda v: 1 / 0, "double")("v")))'
    job = small_job(KEPT.replace("checked = events", f"checked = {failing}"), Binding(trigger="1 second"))
    job.feed([event("e1", 1)])
    heard: list[RunEvent] = []
    for _ in range(2):
        with pytest.raises(StreamproofError):
            job.run(listener=heard.append)

    assert [(each.trigger_seconds, each.resumes) for each in of(QueryStarted, heard)] == [(1.0, False), (1.0, True)]


def test_the_phases_of_a_batch_make_up_its_time_and_its_state_grows_and_shrinks(small_job):
    counting = {"spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "true"}
    job = small_job(SUMS, Binding(**{**vars(WINDOWED), "spark": counting}))
    job.feed([event("e1", 1), event("e2", 2, client="b"), event("bad", 3, v=-1)])
    job.feed([event("e3", 100)])
    job.feed([event("e4", 101)])

    result, heard = run(job)

    committed = of(BatchCommitted, heard)
    assert [each.batch for each in committed] == list(range(result.batches))
    for each in committed:
        assert list(each.phases_ms) == ["plan", "work", "stage", "publish", "commit"]
        spent, total = sum(each.phases_ms.values()), each.total_ms
        assert 0.8 * total <= spent <= total + 5, f"{each.phases_ms} of {total}"
        assert each.phases_ms["work"] > 0
        assert each.processed_per_second == pytest.approx(each.counts["input"] * 1000 / total, abs=0.1)
    assert [each.watermark for each in committed] == [each.watermark for each in of(BatchPlanned, heard)]
    assert committed[2].watermark == instant(90)
    assert [each.newest_event for each in committed[1:3]] == [instant(100), instant(101)]
    assert committed[0].input_per_second is None
    assert committed[1].input_per_second > 0
    states = [each.state for each in committed]
    assert {(len(state), state[0].operator) for state in states} == {(1, "stateStoreSave")}
    assert [(state[0].rows, state[0].updated, state[0].removed) for state in states[:3]] == [(2, 2, 0), (3, 1, 0), (1, 1, 2)]
    assert all(state[0].memory_bytes > 0 and state[0].disk_bytes > 0 for state in states)
    assert not any(each.lag for each in committed), "files have none"


def test_several_listeners_hear_a_run_and_one_that_raises_harms_neither_it_nor_the_others(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    first: list[RunEvent] = []
    last: list[RunEvent] = []

    def push(_: RunEvent) -> None:
        raise OSError("the metrics are down")

    result = job.run(listener=[first.append, push, last.append])

    (said,) = [note for note in result.notes if "listener" in note]
    assert said.startswith("The listener test_several_listeners")
    assert "push (2 of 3) of this run raised OSError: the metrics are down at the event query-starting." in said
    assert first == last
    assert [event.text for event in first if isinstance(event, Note) and event.code == "listener-raised"] == [said]
    assert [kind for kind in kinds(first) if kind.startswith("batch-")][:4] == LIFE


def test_each_note_of_the_result_was_an_event(small_job):
    """Those of a query, and those about the whole run."""
    job = small_job(KEPT, Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])
    assert job.run().notes == [f"The output rejected has no [sink.rejected]; its rows are kept at {job.out('rejected')}."]
    job.lose("commits/0")
    job.lose("offsets/0")

    result, heard = run(job)

    assert [each.text for each in of(Note, heard)] == result.notes
    assert {each.query for each in of(Note, heard)} == {"kept", ""}
    assert of(BatchStaged, heard)[0].replayed
    assert of(BatchPublished, heard)[0].rows == 1


@pytest.mark.full
def test_a_watermark_that_leaps_is_an_event(small_job):
    job = small_job(SUMS, Binding(**{**vars(WINDOWED), "event_time": WINDOWED.event_time.replace(" }", ', max_future = "none" }')}))
    job.feed([event("e1", 1)])
    job.feed([event("far", 86_400 * 365 * 100)])
    job.feed([event("e2", 2)])

    result, heard = run(job)

    (leap,) = of(WatermarkLeapt, heard)
    (of_result,) = result.leaps
    assert (leap.query, leap.batch, leap.before, leap.after) == ("sums", of_result.batch, of_result.before, of_result.after)


def test_a_listener_that_raises_harms_nothing_and_is_noted_once(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.feed([event("e2", 100)])

    def raises(_: RunEvent) -> None:
        raise OSError("the metrics are down")

    result = job.run(listener=raises)

    assert result.account == Account(emitted=1, open_state=1)
    assert [note for note in result.notes if "listener" in note] == [
        "The listener of this run raised OSError: the metrics are down at the event query-starting. The job went on; look into that function."
    ]


def test_a_listener_that_raises_at_the_very_end_is_noted_too(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])

    def raises(happens: RunEvent) -> None:
        if isinstance(happens, RunEnded):
            raise OSError("too late")

    assert any("OSError: too late at the event run-ended" in note for note in job.run(listener=raises).notes)


def test_two_queries_say_whose_batch_it_is(small_job):
    job = small_job("""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(v="v >= 0"), big=events.require(v="v > 5"))
""")
    job.binding = Binding(sinks={"kept": "parquet", "big": "parquet"})
    job.write()
    job.feed([event("small", 1, v=1), event("large", 2, v=9)])

    result, heard = run(job)

    for query in ("kept", "big"):
        mine = [each.kind for each in heard if getattr(each, "query", None) == query and each.kind.startswith("batch-")]
        assert list(dict.fromkeys(mine)) == LIFE
    assert [each.account for each in of(QueryEnded, heard)] == result.accounts


def test_a_run_that_fails_says_so_last(small_job):
    job = small_job(KEPT, Binding(format="parquet"))
    job.feed_bytes(b"no parquet", "parquet")
    heard: list[RunEvent] = []

    with pytest.raises(DataError) as error:
        job.run(listener=heard.append)

    assert heard[-1] == RunFailed("DataError", error.value.message, "data", error.value.failure)
    assert error.value.failure.query == "kept"
    assert not of(RunEnded, heard)


def test_an_account_that_does_not_add_up_is_said_behind_the_result(small_job):
    dropping = 'kept=checked.transform(lambda rows: rows.filter("v > 5"))'
    job = small_job(KEPT.replace("kept=checked", dropping))
    job.feed([event("e1", 1)])
    heard: list[RunEvent] = []

    with pytest.raises(AccountError) as error:
        job.run(listener=heard.append)

    failed = RunFailed("AccountError", error.value.message, "account", error.value.failure)
    assert heard[-2:] == [RunEnded(error.value.result), failed]
    assert failed.failure is not None


def test_the_metrics_of_a_run_say_what_its_result_says(small_job):
    job = small_job(SUMS, WINDOWED)
    for batch in range(4):
        job.feed([event(f"e{batch}{number}", 60 * batch + number, v=number - 1) for number in range(3)] + [event(f"l{batch}", 0)])
    values = Values()

    result = job.run(listener=values)

    with Endpoint("small", "0", values) as endpoint:
        text = urllib.request.urlopen(endpoint.url, timeout=10).read().decode()
    found = {
        (sample.name, sample.labels.get("place", sample.labels.get("output", ""))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("query") == "sums"
    }
    assert found["streamproof_batches_total", ""] == result.batches
    assert found["streamproof_input_records_total", ""] == result.rows_in == 16
    account = result.account.as_dict()
    assert {place: found.get(("streamproof_records_total", place), 0) for place in COUNTED} == {
        place: account[place] for place in COUNTED
    }
    assert account["late"]
    assert account["rejected"]
    for output in result.outputs:
        assert found["streamproof_rows_published_total", output.name] == output.rows
    assert found["streamproof_query_up", ""] == 0
