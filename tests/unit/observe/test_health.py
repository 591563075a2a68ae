"""Whether a run is alive and ready, by a clock of the test; and what systemd is told of it."""

import contextlib
import json
import socket
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta

import pytest

from streamproof.config import secret
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.health import AT_MOST_SECONDS, LEAST_SECONDS, Health
from streamproof.observe.service_manager import ServiceManager
from streamproof.observe.values import Values
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchStaged,
    Emitter,
    PublicationWaiting,
    QueryFinishing,
    QueryStarted,
    QueryStarting,
    RunFailed,
    SparkStarting,
)
from streamproof.runtime.watching.pulse import FeelsPulse, Pulse, QueryPulse

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Told:
    """A run that is told to a `Health`, and time that passes."""

    def __init__(self, *queries, **options):
        self.now, self.queries = 1_000.0, queries or ("sums",)
        self.health = Health(clock=lambda: self.now, **options)

    def tell(self, *events):
        for event in events:
            self.health(event)

    def start(self):
        for query in self.queries:
            self.tell(QueryStarting(query), QueryStarted(query, "run-1", "checkpoint", {}))
        return self

    def beat(self, seconds=0.0, **says):
        """Time passes, and the run's thread comes around each second."""
        for _ in range(int(seconds)):
            self.now += 1
            self.beat(**says)
        self.health.beat(Pulse(tuple(QueryPulse(query, **says) for query in self.queries)))

    def batch(self, number, seconds, query="sums"):
        self.tell(BatchPlanned(query, number, AT, 1))
        self.beat(seconds)
        self.tell(BatchCommitted(query, number, {}, {}, AT, {}, int(seconds * 1_000)))

    @property
    def code(self):
        return self.health.health().code, self.health.ready().code


def test_it_is_not_ready_until_every_query_has_started_and_has_looked_for_input():
    told = Told("sums", "late")
    assert told.code == (200, 503), "nothing has started"
    told.tell(SparkStarting("job"), QueryStarting("sums"), QueryStarted("sums", "run-1", "checkpoint", {}), QueryStarting("late"))
    assert told.health.ready().reason == "Not all queries have started yet. Started so far: sums."
    told.tell(QueryStarted("late", "run-1", "checkpoint", {}))
    told.beat()
    assert told.health.ready().reason == "sums, late has not looked for input yet."
    told.tell(BatchPlanned("sums", 0, AT, 1))
    assert told.code == (200, 503), "late has not looked yet"
    told.beat(waits=True)
    assert told.code == (200, 200)


def test_it_is_not_ready_while_it_is_being_ended():
    told = Told().start()
    told.beat(waits=True)
    assert told.health.ready().good

    told.tell(QueryFinishing("sums", asked_to_end=True))

    assert told.health.ready().as_dict() | {"queries": []} == {
        "status": "ending",
        "reason": "The queries are being ended, or have ended.",
        "queries": [],
        "next": "Wait for the next start.",
    }
    assert told.health.health().good


def test_a_batch_hangs_by_what_batches_took_before_and_two_minutes_at_least():
    told = Told().start()
    for number in range(3):
        told.batch(number, 1)
    told.tell(BatchPlanned("sums", 3, AT, 1))
    told.beat(LEAST_SECONDS)
    assert told.health.health().good
    told.beat(1)

    answer = told.health.health()

    assert (answer.code, answer.status) == (503, "hangs")
    assert answer.reason == (
        "Batch 3 of sums is under way for 2 minutes 1 second, in the phase work, and for 2 minutes 1 second nothing of it has come to an end: "
        "no task, no event. The bound is 2 minutes."
    )
    assert "nothing is lost" in answer.next
    assert answer.queries[0]["batch"] == 3
    assert answer.queries[0]["seconds_without_progress"] == 121


def test_long_batches_may_take_long_and_a_first_one_longest():
    told = Told().start()
    told.tell(BatchPlanned("sums", 0, AT, 1))
    told.beat(AT_MOST_SECONDS)
    assert told.health.health().good
    told.beat(1)
    assert not told.health.health().good
    told.tell(BatchCommitted("sums", 0, {}, {}, AT, {}, 60_000), BatchPlanned("sums", 1, AT, 1))
    told.beat(600)
    assert told.health.health().good
    told.beat(1)
    assert not told.health.health().good


def test_a_batch_that_is_shorter_than_the_trigger_never_hangs():
    told = Told(trigger=timedelta(hours=1)).start()
    told.batch(0, 1)
    told.tell(BatchPlanned("sums", 1, AT, 1))
    told.beat(3_600)
    assert told.health.health().good
    told.beat(1)
    assert not told.health.health().good


def test_tasks_that_come_to_an_end_are_progress():
    told = Told(hang_after=timedelta(seconds=30)).start()
    told.tell(BatchPlanned("sums", 0, AT, 1))
    for done in range(10):
        told.beat(20, tasks=(1, 1, done))
    assert told.health.health().good
    told.beat(31, tasks=(1, 1, 9))
    assert not told.health.health().good


@pytest.mark.parametrize(
    "event",
    [BatchStaged("sums", 0, {}, {}, False, 1.0), PublicationWaiting("sums", "sums", 1, 8.0, "refused")],
    ids=lambda event: event.kind,
)
def test_what_is_said_of_a_query_is_progress_also_that_a_store_does_not_answer(event):
    told = Told(hang_after=timedelta(seconds=30)).start()
    told.tell(BatchPlanned("sums", 0, AT, 1))
    told.beat(20)
    told.tell(event)
    told.beat(20)
    assert told.health.health().good


def test_an_idle_source_is_no_hang():
    told = Told(hang_after=timedelta(seconds=5)).start()
    told.batch(0, 1)
    told.beat(100_000, waits=True)
    assert told.code == (200, 200)


def test_a_source_that_is_looked_at_again_and_again_answers():
    """With a short trigger, or a source that is slow to list, no pulse may ever meet the query while it waits."""
    told = Told(hang_after=timedelta(seconds=5)).start()
    assert told.code == (200, 503)
    for look in range(20):
        told.beat(4, says="Getting offsets from FileStreamSource", look=look)
    assert told.code == (200, 200)
    told.beat(6, says="Getting offsets from FileStreamSource", look=19)
    assert told.code == (503, 200)


def test_a_source_that_does_not_answer_is_a_hang():
    told = Told().start()
    told.beat(AT_MOST_SECONDS, says="Getting offsets from KafkaV2")
    assert told.health.health().good
    told.beat(1)
    assert (
        told.health.health().reason
        == "sums looks for input for 30 minutes 1 second: a source does not answer. The bound is 30 minutes."
    )


def test_a_thread_of_the_driver_that_does_not_come_around_is_a_hang():
    told = Told().start()
    told.batch(0, 1)
    told.beat(waits=True)
    told.now += LEAST_SECONDS + 1
    assert told.health.health().reason.startswith("The driver's own thread has not come around for 2 minutes 1 second")


def test_while_the_thread_of_the_driver_is_stuck_nothing_is_said_of_a_source():
    told = Told(hang_after=timedelta(seconds=5)).start()
    told.beat(4, says="Getting offsets from FileStreamSource")
    told.now += 2
    assert told.health.health().good
    told.now += 4
    assert told.health.health().reason.startswith("The driver's own thread has not come around for 6 seconds")


def test_a_start_may_take_half_an_hour_from_word_to_word():
    told = Told()
    told.tell(SparkStarting("job"))
    told.now += AT_MOST_SECONDS
    assert told.health.health().good
    told.now += 1
    assert told.health.health().reason == "The run is starting, and has said nothing for 30 minutes 1 second."


def test_the_second_query_hangs_beside_one_that_goes_on():
    told = Told("sums", "late", hang_after=timedelta(seconds=10)).start()
    told.tell(BatchPlanned("late", 0, AT, 1))
    for number in range(20):
        told.batch(number, 1)
    assert told.health.health().reason.startswith("Batch 0 of late is under way for 20 seconds")


def test_a_query_that_has_died_and_those_ended_beside_it_hang_no_more():
    told = Told("sums", "late", hang_after=timedelta(seconds=10)).start()
    told.tell(BatchPlanned("sums", 0, AT, 1), BatchPlanned("late", 0, AT, 1))
    told.tell(
        QueryDied("sums", 0, "DataError", "x", "data"), QueryStopped("late", "sums", None, 0), RunFailed("DataError", "x", "data")
    )
    told.now += 100
    assert told.code == (200, 503)
    assert [each["doing"] for each in told.health.health().queries] == ["died", "ended"]


def test_a_clock_that_jumps_makes_no_hang_and_hides_none(monkeypatch):
    """The wall clock goes a day forth and a day back; what passes is told by the steady one."""
    told = Told(hang_after=timedelta(seconds=10)).start()
    told.tell(BatchPlanned("sums", 0, AT, 1))
    for days in (1, -2):
        monkeypatch.setattr("streamproof.core.clock.now_utc", lambda days=days: AT + timedelta(days=days))
        told.beat(5)
        assert told.health.health().good
    told.beat(1)
    assert not told.health.health().good


def asked(endpoint, page):
    try:
        with urllib.request.urlopen(endpoint.url.replace("/metrics", page), timeout=5) as answer:
            return answer.status, answer.headers["Content-Type"], json.loads(answer.read())
    except urllib.error.HTTPError as problem:
        return problem.code, problem.headers["Content-Type"], json.loads(problem.read())


def test_the_endpoint_answers_by_it_on_this_machine_alone_and_shows_no_secret(monkeypatch):
    monkeypatch.setattr(secret, "_known", {"hunter2": "${env:PASSWORD}"})
    told = Told("hunter2", hang_after=timedelta(seconds=10)).start()
    told.tell(BatchPlanned("hunter2", 0, AT, 1))
    with Endpoint("clicks", "0", Values(), checked=told.health) as endpoint:
        assert endpoint.url.startswith("http://127.0.0.1:")
        told.beat(1)
        assert asked(endpoint, "/health")[:2] == (200, "application/json")
        assert asked(endpoint, "/ready")[0] == 200
        told.beat(11)
        code, _, said = asked(endpoint, "/health")
    assert code == 503
    assert set(said) == {"status", "reason", "queries", "next"}
    assert "hunter2" not in json.dumps(said)
    assert "Batch 0 of ${env:PASSWORD} is under way" in said["reason"]


def test_a_listener_that_does_not_return_holds_the_pulse_back():
    """The thread of a query is in the listener, and the thread of the run waits for it: by the beat that does not come it is seen."""
    held, beats = threading.Event(), []

    class Feels(FeelsPulse):
        def __call__(self, event):
            held.wait(10) if isinstance(event, BatchPlanned) else None

        def beat(self, pulse):
            beats.append(pulse)

    emitter = Emitter(Feels())
    assert emitter.felt
    assert not Emitter(print).felt
    emitting = threading.Thread(target=emitter.emit, args=(BatchPlanned("sums", 0, AT, 1),))
    emitting.start()
    beating = threading.Thread(target=emitter.beat, args=(Pulse(()),))
    beating.start()
    beating.join(0.2)
    assert beats == []
    held.set()
    beating.join(10)
    emitting.join(10)
    assert beats == [Pulse(())]


@pytest.fixture
def manager(tmp_path):
    """What a service manager is told."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(10)
        yield listening, {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "60000"}


def heard(listening, wanted):
    """The datagrams until one has this line."""
    found = []
    for _ in range(500):
        found.append(listening.recv(4_096).decode().splitlines())
        if wanted in found[-1]:
            return found
    return pytest.fail(f"{wanted} does not come: {found[-1]}")


def test_systemd_is_told_that_it_starts_that_it_is_ready_and_that_it_lives(manager):
    listening, environment = manager
    told = Told()
    with ServiceManager(told.health, environment):
        (first,) = heard(listening, "EXTEND_TIMEOUT_USEC=60000000")
        assert first == ["WATCHDOG=1", "EXTEND_TIMEOUT_USEC=60000000", "STATUS=Not all queries have started yet."]
        told.start()
        told.beat(waits=True)
        assert heard(listening, "READY=1")[-1] == ["WATCHDOG=1", "READY=1", "STATUS=ready"]
        heard(listening, "WATCHDOG=1")
    assert heard(listening, "STOPPING=1")


def test_systemd_is_told_again_that_a_run_is_ready_where_it_had_no_room_for_it(tmp_path):
    """A datagram that does not fit is lost: with Type=notify systemd would wait for it, and end the run."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(10)
        other.setblocking(False)
        other.connect(str(tmp_path / "notify"))
        with contextlib.suppress(BlockingIOError):
            while True:
                other.send(b"full")
        told, asked = Told().start(), threading.Semaphore(0)
        told.beat(waits=True)

        class Counted:
            def health(self):
                asked.release()
                return told.health.health()

            def ready(self):
                return told.health.ready()

        with ServiceManager(Counted(), {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "60000"}):
            for _ in range(3):  # so the first two are over
                assert asked.acquire(timeout=10)
            assert heard(listening, "READY=1")[-1] == ["WATCHDOG=1", "READY=1", "STATUS=ready"]


def test_systemd_is_not_told_that_a_run_lives_which_hangs(manager):
    listening, environment = manager
    told = Told(hang_after=timedelta(seconds=10)).start()
    told.tell(BatchPlanned("sums", 0, AT, 1))
    told.beat()
    with ServiceManager(told.health, environment):
        heard(listening, "READY=1")
        told.beat(11)
        datagrams = (listening.recv(4_096).decode().splitlines() for _ in range(100))  # one or two were on their way
        last = next((lines for lines in datagrams if "WATCHDOG=1" not in lines), ["none"])
        assert last[0].startswith("STATUS=Batch 0 of sums is under way for 11 seconds")
    assert heard(listening, "STOPPING=1") == [["STOPPING=1"]], "nothing more came"


def test_a_service_manager_that_does_not_listen_stops_nothing(tmp_path):
    with ServiceManager(Told().health, {"NOTIFY_SOCKET": str(tmp_path / "gone")}):
        pass
    with ServiceManager(Told().health, {}):
        pass
