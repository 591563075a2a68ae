"""What a batch says while it runs, in which order, and that a listener cannot harm it; no Spark is started."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof import _jvm
from streamproof.core.account import COUNTED, Account
from streamproof.core.manifest import Fingerprint, Manifest
from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.errors import ConfigurationError, SinkUnavailable
from streamproof.runtime.batch.commits import Commits
from streamproof.runtime.batch.deciding import Deciding
from streamproof.runtime.batch.describing import Describing
from streamproof.runtime.batch.protocol import BatchProtocol, RunEnds
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.batch.staging import Staging
from streamproof.runtime.batch.started import Identity, StartedQuery
from streamproof.runtime.binding.sinks import QuerySinks
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.rows.columns import Columns
from streamproof.runtime.run import run_job
from streamproof.runtime.watching import measures
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPublished,
    BatchStaged,
    Emitter,
    Note,
    PublicationWaiting,
    QueryEnded,
    QueryEvents,
    RunEnded,
    RunEvent,
    SparkStarting,
    WatermarkLeapt,
)
from streamproof.runtime.watching.hot_keys import HotKeys
from streamproof.runtime.watching.idle import IdleSources
from streamproof.runtime.watching.leaps import Leaps
from streamproof.runtime.watching.listeners import listeners_in
from streamproof.runtime.watching.measures import Measures
from streamproof.runtime.watching.pulse import FeelsPulse, Pulse
from streamproof.runtime.watching.quiet import QuietSources
from streamproof.runtime.watching.result import OutputResult, QueryAccount, RunResult
from streamproof.runtime.watching.watch import Watch
from streamproof.stream.node import source

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY_MS = 86_400_000


class Manifests:
    checkpoint = "checkpoint/kept"

    def __init__(self) -> None:
        self.there: dict[int, Manifest] = {}

    def read(self, batch: int) -> Manifest | None:
        return self.there.get(batch)

    whole = read

    def create(self, manifest: Manifest) -> bool:
        return self.there.setdefault(manifest.batch, manifest) is manifest

    def batches(self) -> list[int]:
        return sorted(self.there)

    def path(self, batch: int) -> str:
        return f"manifests/{batch}"

    def prune(self, newest: int, waiting: object) -> None:
        """All stay."""


class Logs:
    """What Spark writes: a batch is committed if it is in `done`; its watermark stands in `watermarks`."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.watermarks = [0, int(NOON.timestamp() * 1000)]

    def of(self, batch: int) -> BatchLogs:
        watermark, before = self.watermarks[batch], self.watermarks[batch - 1] if batch else 0
        files = {"0": (f"data/{batch}.json", f"data/{batch}b.json")}
        return BatchLogs(Fingerprint(watermark, ("o",), files), "offsets", {}, 10**14, before)

    def require_inputs(self, logs: BatchLogs, batch: int, *, whole: tuple[str, ...]) -> None:
        """They are there."""

    def committed(self, batch: int) -> bool:
        return batch in self.done

    def batches(self, log: str) -> list[int]:
        return self.done


@dataclass
class Store:
    """A sink that may lag, and may be down."""

    down: bool = False
    may_lag: bool = True
    shards: int = 1
    place: Any = field(
        default_factory=lambda: SimpleNamespace(
            format="json",
            staged_in="out/kept",
            staging="out/kept/_staging",
            where="kafka://h/kept",
            connector="kafka",
            shared=False,
        )
    )

    def prepare(self, manifest: object, section: object) -> None:
        """Nothing to prepare."""

    def publish(self, manifest: object, section: object) -> None:
        if self.down:
            raise SinkUnavailable("it is down.", required="Nothing is lost.")

    def entries(self, batch: int) -> tuple[()]:
        return ()

    def staged_whole(self, section: object) -> bool:
        return True

    def abort(self, directory: str) -> None:
        """What is staged goes."""


class Rows:
    def write(self, form: str, directory: str, options: Mapping[str, str]) -> None:
        """Written."""

    def sums(self) -> dict[str, int]:
        return {"input": 3}


def drained(batch: int) -> list[dict[str, Any]]:
    """One task has written two rows, one was rejected."""
    empty = {"partition": 0, "attempt": 0, "batch": batch, "records": 0, "floats": [], "absolutes": [], "file": None}
    return [
        {**empty, "door": "tally:kept", "rows": 2, "hash": 7, "reasons": {}},
        {**empty, "door": "rejected.0", "rows": 1, "hash": 1, "reasons": {"v >= 0": 1}},
    ]


@dataclass
class Heard:
    """A listener that keeps what it hears, and raises at some kinds."""

    events: list[RunEvent] = field(default_factory=list)
    raises_at: tuple[str, ...] = ()

    def __call__(self, event: RunEvent) -> None:
        self.events.append(event)
        if event.kind in self.raises_at:
            raise ValueError(f"no room for {event.kind}\nin a second line")

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def protocol(store, heard) -> BatchProtocol:
    manifests, events = Manifests(), QueryEvents("kept", Emitter(heard))
    publisher = Publisher(manifests, {"kept": store}, {"kept": 100}, events)
    publisher.begin(lambda _: -1)
    query = StartedQuery(
        identity=Identity("job", "kept", "i", "feedbeef", "job.kept.feedbeef"),
        root=source("trades"),
        spark=None,
        sinks=QuerySinks("kept", {"kept": store}, {"kept": ("kept",)}, {}),
        journal=Journal(
            SimpleNamespace(exists=lambda _: False, list=lambda _: {"part-00000-a.json": 9}, delete=lambda _: None),
            manifests,
            Logs(),
        ),
        events=events,
    )
    losses = SimpleNamespace(earlier=lambda *_: None, written_down=lambda _: None)
    return BatchProtocol(
        query=query,
        staging=Staging(query, SimpleNamespace(drain=drained), Columns({}, {})),
        describing=Describing(query, losses),
        deciding=Deciding(query, publisher),
        publisher=publisher,
        losses=losses,
        watch=Watch(
            Leaps("kept"), QuietSources("kept", ()), IdleSources("kept", (), {}), SimpleNamespace(look=list), HotKeys("kept", 4, {})
        ),
        commits=Commits(query.journal.logs, events, Measures(())),
    )


COUNTS = {**dict.fromkeys(("input", "expanded", *COUNTED), 0), "input": 3, "emitted": 2, "rejected": 1}
LIFE = ["batch-planned", "batch-staged", "batch-published", "batch-committed"]


def test_a_batch_is_planned_staged_published_and_committed_when_the_next_one_begins(protocol, heard):
    protocol(Rows(), 0)
    assert heard.kinds == LIFE[:3]

    protocol(Rows(), 1)

    assert heard.kinds == [*LIFE, *LIFE[:3]]
    planned, staged, published, committed, second, *_ = heard.events
    assert (planned.query, planned.batch, planned.watermark, planned.files) == ("kept", 0, None, 2)
    assert (second.batch, second.watermark) == (1, NOON)
    assert staged == BatchStaged("kept", 0, COUNTS, {"kept": 2}, False, staged.seconds)
    assert published == BatchPublished("kept", 0, "kept", 2, published.seconds, waiting=0)
    assert committed == BatchCommitted("kept", 0, COUNTS, {"kept": 2}, None, committed.phases_ms)
    assert list(committed.phases_ms) == ["plan", "work", "stage", "publish"], "of the commit only Spark knows"
    assert all(spent >= 0 for spent in (staged.seconds, published.seconds, *committed.phases_ms.values()))


@pytest.mark.parametrize("said", [{}, ["batch", 0], {"batchId": 0, "stateOperators": [{}]}, RuntimeError("gone")], ids=repr)
def test_what_spark_says_of_a_batch_stops_none(protocol, heard, monkeypatch, said):
    def newest_progress(stream):
        if isinstance(said, Exception):
            raise said
        return said

    monkeypatch.setattr(_jvm, "newest_progress", newest_progress)
    protocol.follow(SimpleNamespace(isActive=True))
    protocol(Rows(), 0)
    protocol(Rows(), 1)

    assert heard.kinds == [*LIFE, *LIFE[:3]]
    assert heard.events[3].state == ()


def test_each_phase_has_the_time_that_passes_in_it(protocol, store, monkeypatch, heard):
    """What comes between the phases, such as clearing away, is in none."""
    now = [0.0]

    def takes(seconds: float, gives: Any) -> Any:
        def passes(*_: object, **__: object) -> Any:
            now[0] += seconds
            return gives

        return passes

    monkeypatch.setattr(measures, "monotonic_seconds", lambda: now[0])
    protocol.query.journal.logs.require_inputs = takes(1, None)
    rows = SimpleNamespace(write=takes(20, None), sums=lambda: {"input": 3}, reached=list)
    protocol.query.journal.manifests.create = takes(300, True)
    store.publish = takes(4000, None)
    protocol.query.journal.manifests.prune = takes(50000, None)

    protocol(rows, 0)
    protocol(Rows(), 1)

    (committed,) = (event for event in heard.events if isinstance(event, BatchCommitted))
    assert committed.phases_ms == {"plan": 1_000, "work": 20_000, "stage": 300_000, "publish": 4_000_000}


def test_the_last_batch_is_committed_once_sparks_log_says_so_and_that_is_said_once(protocol, heard):
    protocol(Rows(), 0)
    protocol.look_for_commit()
    assert heard.kinds == LIFE[:3], "its commit log is not there yet"
    protocol.query.journal.logs.done.append(0)

    protocol.look_for_commit()
    protocol.look_for_commit()
    protocol.finish(1)

    assert heard.kinds == LIFE


def test_the_end_of_a_run_looks_for_the_commit_too(protocol, heard):
    protocol(Rows(), 0)
    protocol.query.journal.logs.done.append(0)

    protocol.finish(1)

    assert heard.kinds == LIFE


def test_a_batch_that_does_not_begin_since_the_run_ends_still_commits_the_one_before(protocol, heard):
    protocol(Rows(), 0)
    protocol.ending = True

    with pytest.raises(RunEnds):
        protocol(Rows(), 1)

    assert heard.kinds == LIFE


def test_a_batch_that_is_found_as_it_was_is_replayed(protocol, heard):
    protocol(Rows(), 0)
    protocol(Rows(), 0)

    assert [event.replayed for event in heard.events if isinstance(event, BatchStaged)] == [False, True]


def test_r8_an_output_that_is_down_is_waited_for_and_what_waited_is_published_in_order(protocol, store, heard):
    store.down = True
    protocol(Rows(), 0)
    protocol(Rows(), 1)

    waits = [event for event in heard.events if isinstance(event, PublicationWaiting)]
    assert [(each.batches, each.why) for each in waits] == [(1, "it is down."), (2, "it is down.")]
    assert all(each.seconds > 0 for each in waits)
    assert waits[-1].says == "2 batches wait for kept: it is down."
    assert "batch-published" not in heard.kinds
    store.down = False

    protocol.publisher.catch_up(at_once=True)

    published = [event for event in heard.events if isinstance(event, BatchPublished)]
    assert [(each.batch, each.waiting) for each in published] == [(0, 1), (1, 0)]
    assert [event.text for event in heard.events if isinstance(event, Note)] == protocol.events.notes
    assert [event.code for event in heard.events if isinstance(event, Note)] == [NoteCode.HAD_TO_WAIT]
    assert protocol.events.notes[0].startswith("The output kept had to wait")


def test_a_try_that_fails_again_says_what_waits(protocol, store, heard):
    store.down = True
    protocol(Rows(), 0)
    heard.events.clear()

    protocol.publisher.catch_up(at_once=True)

    assert [(event.kind, event.batches) for event in heard.events] == [("publication-waiting", 1)]


def test_a_watermark_that_leaps_is_said_in_its_batch_and_only_when_it_leaps_further(protocol, heard):
    start = protocol.query.journal.logs.watermarks[1]
    protocol.query.journal.logs.watermarks += [start + 2 * DAY_MS, start + 2 * DAY_MS, start + 3 * DAY_MS + 1, start + 9 * DAY_MS]
    for batch in range(6):
        protocol(Rows(), batch)

    leaps = [event for event in heard.events if isinstance(event, WatermarkLeapt)]
    assert (leaps[0].batch, leaps[0].before) == (2, NOON)
    assert [leap.batch for leap in leaps] == [2, 5]
    assert heard.kinds[heard.kinds.index("watermark-leapt") - 1] == "batch-published"
    assert heard.kinds[heard.kinds.index("watermark-leapt") + 1] == "batch-committed"


def test_a_watermark_beyond_the_years_of_python_is_none(protocol, heard):
    protocol.query.journal.logs.watermarks[0] = 10**16
    protocol.watch.leaps = SimpleNamespace(saw=lambda *_: None)

    protocol(Rows(), 0)

    assert heard.events[0].watermark is None


def test_a_listener_that_raises_at_every_event_harms_no_batch_and_is_noted_once(protocol, heard):
    heard.raises_at = tuple(LIFE)

    protocol(Rows(), 0)
    protocol(Rows(), 1)

    assert protocol.failure is None
    assert protocol.done.batches == 2
    assert heard.kinds == [*LIFE, *LIFE[:3]], "each event was given to it all the same"
    assert protocol.events.emitter.failures == [
        "The listener of this run raised ValueError: no room for batch-planned at the event batch-planned. The job went on; look into "
        "that function."
    ]


def test_a_listener_that_wants_to_end_the_process_does_not():
    def leaves(_: RunEvent) -> None:
        raise SystemExit

    emitter = Emitter(leaves)
    emitter.emit(SparkStarting("job"))

    (failure,) = emitter.failures
    assert failure.startswith("The listener of this run raised SystemExit at the event spark-starting.")


class Slack:
    """A listener of a user's, with a heartbeat of its own that has nothing to do with ours."""

    def __call__(self, event: RunEvent) -> None:
        """Heard."""

    def beat(self) -> None:
        raise AssertionError("nobody but its owner calls it")


def test_a_listener_of_a_users_is_not_given_the_pulse_because_it_has_a_method_beat():
    emitter = Emitter(Slack())

    assert not emitter.felt
    emitter.beat(Pulse(()))
    assert emitter.failures == []


@pytest.mark.parametrize("raised", [ValueError("no room"), SystemExit(3)])
def test_a_listener_that_raises_at_the_pulse_ends_no_run_and_is_noted_once(raised):
    class Feels(FeelsPulse):
        def __call__(self, event: RunEvent) -> None:
            """Heard."""

        def beat(self, pulse: Pulse) -> None:
            raise raised

    other = Heard()
    emitter = Emitter(Feels(), other)

    emitter.beat(Pulse(()))
    emitter.beat(Pulse(()))

    (failure,) = emitter.failures
    assert f"raised {type(raised).__name__}: {raised} at a beat of its pulse." in failure
    assert other.events == [Note("", str(failure), "listener-raised")]


def test_an_error_that_cannot_say_what_it_is_ends_no_run():
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def raising(event: RunEvent) -> None:
        raise Odd

    emitter = Emitter(raising)

    emitter.emit(SparkStarting("a"))

    (failure,) = emitter.failures
    assert failure.startswith("The listener of this run raised Odd at the event spark-starting.")


def test_ctrl_c_is_no_error_of_the_listeners():
    def interrupted(_: RunEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Emitter(interrupted).emit(SparkStarting("job"))


def test_several_listeners_hear_each_event_in_their_order():
    heard: list[tuple[str, str]] = []
    emitter = Emitter(*(lambda event, name=name: heard.append((name, event.job)) for name in ("first", "second")))

    emitter.emit(SparkStarting("a"))
    emitter.emit(SparkStarting("b"))

    assert heard == [("first", "a"), ("second", "a"), ("first", "b"), ("second", "b")]


def test_a_listener_that_raises_harms_no_other_and_the_others_hear_of_it_once_behind_the_event():
    first, broken, last = Heard(), Heard(raises_at=("spark-starting",)), Heard()
    emitter = Emitter(first, broken, last)

    emitter.emit(SparkStarting("a"))
    emitter.emit(SparkStarting("b"))

    said = (
        "The listener Heard (2 of 3) of this run raised ValueError: no room for spark-starting at the event spark-starting. The job went on; "
        "look into that function."
    )
    assert emitter.failures == [said]
    assert first.events == last.events == [SparkStarting("a"), Note("", said, "listener-raised"), SparkStarting("b")]
    assert broken.events == [SparkStarting("a"), SparkStarting("b")]


def test_two_listeners_that_raise_are_both_said_and_the_good_one_hears_of_each():
    def push(_: RunEvent) -> None:
        raise OSError("the metrics are down")

    broken, good = Heard(raises_at=("note",)), Heard()  # the first one raises when it is told of the second
    emitter = Emitter(broken, push, good)

    emitter.emit(SparkStarting("a"))
    emitter.emit(SparkStarting("b"))

    assert [failure.partition(" of this run raised ")[2].partition(":")[0] for failure in emitter.failures] == [
        "OSError",
        "ValueError",
    ]
    assert "push (2 of 3)" in emitter.failures[0]
    assert "Heard (1 of 3)" in emitter.failures[1]
    assert good.kinds == ["spark-starting", "note", "note", "spark-starting"]
    assert [event.text for event in good.events if isinstance(event, Note)] == emitter.failures


def test_events_from_several_threads_come_one_at_a_time_and_to_all_listeners_in_the_same_order():
    inside, most = [], []

    def slow(event: SparkStarting) -> None:
        inside.append(event)
        most.append(len(inside))
        threading.Event().wait(0.001)
        inside.remove(event)

    first, second = Heard(), Heard()
    emitter = Emitter(first, slow, second)
    threads = [threading.Thread(target=lambda: [emitter.emit(SparkStarting(str(n))) for n in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(most) == {1}
    assert len(first.events) == 80
    assert first.events == second.events


def test_a_listener_is_none_or_one_or_several():
    one, two = Heard(), Heard()

    assert listeners_in(None) == listeners_in([]) == ()
    assert listeners_in(one) == listeners_in([one]) == (one,)
    assert listeners_in(each for each in (one, two)) == (one, two)


@pytest.mark.parametrize(
    ("given", "said"), [(5, "The listener of this run is 5"), ([print, None], "Listener 2 of 2 of this run is None")]
)
def test_what_cannot_be_called_is_refused_before_anything_runs(given, said):
    with pytest.raises(ConfigurationError) as refused:
        run_job(None, listener=given)

    assert said in str(refused.value)
    assert "a function with one parameter" in str(refused.value)


class Stream:
    """A query of Spark's that tells of one batch at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.isActive, self.told, self.asked = True, {}, 0
        monkeypatch.setattr(_jvm, "newest_progress", self.progress)

    def progress(self, _: object) -> dict[str, Any] | None:
        self.asked += 1
        return self.told or None

    def tells_of(self, batch: int) -> None:
        self.told = {"batchId": batch, "durationMs": {"triggerExecution": 9, "commitOffsets": 2}}


@pytest.fixture
def stream(protocol, monkeypatch) -> Stream:
    stream = Stream(monkeypatch)
    protocol.follow(stream)
    return stream


def test_the_event_of_a_commit_waits_until_spark_has_told_what_the_batch_took(protocol, heard, stream):
    protocol(Rows(), 0)
    protocol.query.journal.logs.done.append(0)
    protocol.look_for_commit()
    assert heard.kinds == LIFE[:3], "Spark writes its commit log a moment before it tells"
    stream.tells_of(0)

    protocol.look_for_commit()

    assert heard.kinds == LIFE
    assert (heard.events[-1].total_ms, heard.events[-1].phases_ms["commit"]) == (9, 2)


def test_what_spark_tells_of_another_batch_is_not_said_of_this_one(protocol, heard, stream):
    protocol(Rows(), 0)
    stream.tells_of(7)

    protocol(Rows(), 1)

    (committed,) = (event for event in heard.events if isinstance(event, BatchCommitted))
    assert (committed.batch, committed.total_ms, committed.lag, committed.state) == (0, None, (), ())


def test_a_query_that_has_ended_without_telling_is_not_waited_for(protocol, heard, stream):
    protocol(Rows(), 0)
    protocol.query.journal.logs.done.append(0)
    stream.isActive = False

    protocol.look_for_commit()

    assert heard.kinds == LIFE
    assert heard.events[-1].total_ms is None


def test_spark_is_asked_nothing_where_nobody_listens(protocol, stream):
    protocol.events.emitter = Emitter()
    protocol(Rows(), 0)
    protocol(Rows(), 1)
    protocol.query.journal.logs.done.append(1)
    protocol.look_for_commit()

    assert stream.asked == 0


def test_events_are_plain_values_for_json():
    account = QueryAccount("kept", 3, Account(emitted=2))
    ended = QueryEnded("kept", 1, 0, 3, {"kept": 2}, account, 1, NOON)
    result = RunResult(
        job="job",
        batches=1,
        without_input=0,
        rows_in=3,
        seconds=0.5,
        outputs=[OutputResult("kept", "out/kept", "json", 2, "exactly once")],
        account=account.account,
        account_input=3,
        open_windows=1,
        closes_after=NOON,
        notes=[CodedNote(NoteCode.UNDER_WAY, "a note")],
        accounts=[account],
    )

    shown = json.loads(json.dumps(ended.as_dict()))
    assert (shown["kind"], shown["closes_after"]) == ("query-ended", "2026-01-05T12:00:00+00:00")
    assert (shown["account"]["adds_up"], shown["account"]["account"]["emitted"]) == (False, 2)
    last = json.loads(json.dumps(RunEnded(result).as_dict()))
    assert last == {"kind": "run-ended", "result": result.as_dict()}
    assert last["result"]["accounts"][0] == shown["account"]


@pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(days=-1)], ids=["forth", "back"])
def test_a_clock_that_jumps_within_a_batch_changes_no_latency(protocol, heard, monkeypatch, jump):
    planned_ms = protocol.query.journal.logs.of(0).clock_ms
    clock = SimpleNamespace(wall=datetime(2026, 1, 5, tzinfo=UTC), steady=100.0)
    before_ms = int(clock.wall.timestamp() * 1_000) - planned_ms
    monkeypatch.setattr("streamproof.runtime.batch.protocol.now_utc", lambda: clock.wall)
    monkeypatch.setattr("streamproof.runtime.batch.protocol.monotonic_seconds", lambda: clock.steady)
    stage, passed = protocol.staging.stage, []

    def slowly(*arguments):
        clock.wall, clock.steady = clock.wall + timedelta(seconds=3) + jump, clock.steady + 3
        return stage(*arguments)

    monkeypatch.setattr(protocol.staging, "stage", slowly)
    monkeypatch.setattr(protocol, "_latency", lambda _batch, _aged, passed_ms: passed.append(passed_ms) or ())

    protocol(Rows(), 0)

    assert passed == [before_ms + 3_000]
