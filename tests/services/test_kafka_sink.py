"""A topic of Kafka is written exactly once for readers with read_committed, or the reason is said."""

import itertools
import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from full_tables import full
from services.conftest import before_publication, told
from services.topics import deleted, ledger_of, made, made_late, received
from spark.small_job import KEPT, SUMS, Binding, SmallJob, dies, event
from streamproof.connectors.kafka.ledger import Ledger, Remembered, key_of
from streamproof.connectors.kafka.sink import TopicSink
from streamproof.connectors.kafka.transactions import Shard, fenced
from streamproof.connectors.sink import entry_of
from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.core.manifest import LedgerEntry
from streamproof.core.phases import StepName
from streamproof.errors import (
    ConfigurationError,
    OutputInUse,
    SinkError,
    SinkUnavailable,
    StoreEmptied,
    StreamproofError,
    TwoDrivers,
    UnknownFormat,
)
from streamproof.lab import KafkaCluster
from streamproof.lab.process import until
from streamproof.runtime import run

pytestmark = pytest.mark.service


@pytest.fixture
def topic(kafka: KafkaCluster) -> str:
    return made(kafka.url)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], kafka: KafkaCluster, topic: str) -> Callable[..., SmallJob]:
    """`job(key=["id"], ...)`: rows that pass go to the topic, the others to files."""

    def job(text: str = KEPT, output: str = "kept", folder: str = "job", **sink: Any) -> SmallJob:
        table = {"connector": "kafka", "servers": kafka.url, "topic": topic, **sink}
        return small_job(text, Binding(sinks={"rejected": "json"}, tables={f"sink.{output}": table}), folder=folder)

    return job


@pytest.fixture
def ids(kafka: KafkaCluster, topic: str) -> Callable[..., list[str]]:
    """The ids of the records that a reader sees."""
    return lambda **more: sorted(json.loads(message.value())["id"] for message in received(kafka.url, topic, **more))


def ledger(kafka: KafkaCluster, topic: str, shards: int = 1) -> list[LedgerEntry]:
    return list(Ledger(kafka.url, topic, {}).read(range(shards), {}).entries)


def noise(length: int) -> str:
    """A text that does not become shorter by compression."""
    return "".join(random.Random(7).choices("0123456789abcdefghijklmnopqrstuvwxyz", k=length))


def test_rows_are_in_the_topic_once_as_json_by_their_key(job, kafka, topic, ids):
    small = job(key=["client", "id"])
    small.feed([event("a", 0, 1.5), event("b", 1, 2.0, client="x"), event("c", 2, -1.0)])
    small.feed([event("d", 3)])

    result = small.run()

    assert ids() == ["a", "b", "d"]
    found = {message.key().decode(): json.loads(message.value()) for message in received(kafka.url, topic)}
    assert found["a|a"] == {"id": "a", "client": "a", "v": 1.5, "ts": "2026-01-05T09:00:00.000000Z"}
    assert [(entry.batch, entry.rows, entry.shard) for entry in ledger(kafka, topic)] == [(0, 2, 0), (1, 1, 0)]
    shown = next(output for output in result.outputs if output.name == "kept")
    assert (shown.rows, shown.format, shown.where) == (3, "kafka", f"kafka://{kafka.url}/{topic}")
    small.run()
    assert ids() == ["a", "b", "d"]
    assert small.sink().owner().batch == 1, "the newest tells whether a checkpoint is behind its output"


def test_r6_a_crash_between_publication_and_commit_does_not_double(job, ids):
    small = job()
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    assert ids() == ["a", "b"]

    small.run()

    assert ids(isolation="read_uncommitted") == ["a", "b"]


def test_r6_a_task_that_dies_before_its_commit_leaves_nothing_that_readers_see(job, ids, dying_tasks):
    small = job()
    small.feed([event("a", 0), event("b", 1)])
    with dying_tasks("publish/kept@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert ids() == []
    small.run()

    assert ids() == ["a", "b"]


@pytest.mark.full
def test_r7_shards_are_fixed_by_the_manifest_and_only_those_that_are_missing_are_published(job, kafka, topic, ids, dying_tasks):
    small = job(shards=2)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    for half in (range(4), range(4, 8)):
        small.feed([event(str(number), number) for number in half])
    with dying_tasks("publish/kept.1@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert {entry.shard for entry in ledger(kafka, topic, 2)} == {0}, "the other died before its commit"

    small.binding.tables["sink.kept"]["shards"] = 1
    small.write()
    small.run()

    assert ids() == [str(number) for number in range(8)]
    assert sorted((entry.batch, entry.shard) for entry in ledger(kafka, topic, 2)) == [(0, 0), (0, 1)]


def test_r6_a_second_publisher_fences_the_first(kafka, topic):
    entry = LedgerEntry("job", "kept", "i", 0, 0, "m", "f", 1, 1)
    Ledger(kafka.url, topic, {}).require(1)
    first = fenced(entry, Ledger(kafka.url, topic, {}))
    first.begin_transaction()
    first.produce(topic, b"of a zombie")
    first.flush(20)
    fenced(entry, Ledger(kafka.url, topic, {}))

    with pytest.raises(Exception, match=r"FENCED|fenced"):
        first.commit_transaction(20)
    assert received(kafka.url, topic) == []


@pytest.mark.full
def test_r7_another_manifests_record_for_the_batch_stops_the_publisher(job, kafka, topic, ids):
    small = job()
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    small.change_manifest(0, lambda manifest: manifest.update(id="of another driver"))
    (entry,) = ledger(kafka, topic)
    written(kafka, Ledger(kafka.url, topic, {}), [replace(entry, rows=7)])

    assert "was published by the manifest" in small.stopped(TwoDrivers).message
    assert ids() == ["a"]


@pytest.mark.full
def test_r3_an_equal_entry_of_a_manifest_that_was_lost_stands(job, ids):
    small = job()
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    small.change_manifest(0, lambda manifest: manifest.update(id="made again"))
    small.run()
    small.feed([event("b", 1)])
    small.run()

    assert ids(isolation="read_uncommitted") == ["a", "b"]


@pytest.mark.full
def test_r4_a_zombie_cannot_commit_a_manifest_that_was_discarded(job, kafka, topic, ids):
    small = job()
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/_streamproof/manifests/0", side="after")
    manifest = small.manifest(0)
    zombie = fenced(entry_of(manifest, manifest.sections[0]), Ledger(kafka.url, topic, {}))
    zombie.begin_transaction()
    zombie.produce(topic, b'{"id": "of a zombie"}')
    zombie.flush(20)
    sink = small.sink()

    sink.fence(manifest, manifest.sections[0])

    with pytest.raises(Exception, match=r"FENCED|fenced"):
        zombie.commit_transaction(20)
    assert not sink.begun(0)
    small.change_manifest(0, lambda found: found["sections"][0]["digest"].update(hash=1))
    small.run()
    assert ids() == ["a"]


def test_a_ledger_is_read_on_from_where_it_was_read_to(kafka, topic):
    ledger = Ledger(kafka.url, topic, {})
    ledger.require(1)
    one = LedgerEntry("job", "kept", "i", 0, 0, "m", "f", 1, 1)
    written(kafka, ledger, [replace(one, batch=batch) for batch in range(30)])
    known = Remembered(ledger, lambda entry: entry.job == "job")
    known.look()
    assert known.entry(29, 0).batch == 29
    written(kafka, ledger, [replace(one, batch=30)])

    reading = ledger.read([0], known.ends)

    assert [entry.batch for entry in reading.entries] == [30]
    assert reading.ends[0] == known.ends[0] + 2, "the record and the mark of its transaction"


@pytest.mark.full
def test_entries_that_no_restart_asks_for_are_dropped_and_what_would_need_them_is_refused(job, kafka, topic, ids, monkeypatch):
    monkeypatch.setattr("streamproof.connectors.ledgers.KEPT", 2)
    small = job()
    for number in range(4):
        small.feed([event(str(number), number)])
    small.run()
    records = received(kafka.url, ledger_of(topic))
    assert [json.loads(message.key())[3] for message in records if message.value() is None] == [0, 1]

    sink = small.sink()
    sink.owner()
    assert [sink._known.entry(batch, 0) is None for batch in range(4)] == [True, True, False, False], "whether compacted yet or not"
    assert sink.complete(small.manifest(3), small.manifest(3).sections[0])
    monkeypatch.setattr(type(sink), "staged_whole", lambda *_: True)
    with pytest.raises(TwoDrivers, match="older than what the ledger"):
        sink.publish(small.manifest(0), small.manifest(0).sections[0])
    assert ids() == ["0", "1", "2", "3"]


def test_r7_who_wakes_up_with_a_batch_whose_entry_was_dropped_does_not_write_it_again(kafka, topic):
    """Under its fence it reads what others have published meanwhile; of its own batch there is nothing left."""
    ledger = Ledger(kafka.url, topic, {})
    ledger.require(1)
    old = LedgerEntry("job", "kept", "i", 0, 0, "m", "f", 1, 1)
    written(kafka, ledger, [replace(old, batch=batch) for batch in (6, 7)])
    rows = pa.RecordBatch.from_pylist(
        [{"key": None, "value": b"of a zombie"}], pa.schema([("key", pa.binary()), ("value", pa.binary())])
    )

    (said,) = Shard(ledger, old, 1, 1, (), UNWATCHED).publish(iter([rows]))

    assert said.to_pylist()[0]["message"] == "batch 0 behind batch 7"
    assert received(kafka.url, topic) == []
    (said,) = Shard(ledger, replace(old, output="other"), 1, 1, (), UNWATCHED).publish(iter([rows]))
    assert said.to_pylist()[0]["message"] is None, "another output has batches of its own"
    assert len(received(kafka.url, topic)) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("entry", "kind", "said"),
    [
        (b'{"format": 1, "job"', SinkError, "has the key of an entry and is none"),
        (b"{}", UnknownFormat, "is a ledger entry of no format"),
    ],
    ids=["a cut one", "one of no format"],
)
def test_a_foreign_record_in_the_ledger_is_passed_over_and_a_broken_entry_is_named(job, kafka, topic, ids, entry, kind, said):
    small = job()
    small.feed([event("a", 0)])
    small.run()
    producer = Producer({"bootstrap.servers": kafka.url})
    producer.produce(ledger_of(topic), b"hello", b"somebody")
    producer.produce(ledger_of(topic), b"hello")
    producer.flush(20)
    small.feed([event("b", 1)])
    small.run()
    assert ids() == ["a", "b"]

    producer.produce(ledger_of(topic), entry, json.dumps(["small", "kept", "i", 2, 0]))
    producer.flush(20)
    small.feed([event("c", 2)])
    problem = small.stopped(kind)
    assert said in problem.message


def written(kafka: KafkaCluster, ledger: Ledger, entries: Sequence[LedgerEntry]) -> None:
    """Entries as publications would have left them."""
    producer = fenced(entries[0], ledger)
    for entry in entries:
        producer.begin_transaction()
        producer.produce(ledger.name, entry.to_json(), key_of(entry), partition=0)
        producer.commit_transaction(20)


@pytest.mark.full
def test_r1_a_topic_of_another_checkpoint_is_refused(job, ids):
    small = job()
    small.feed([event("a", 0)])
    small.run()
    other = job(folder="other")
    other.feed([event("b", 0)])

    assert "belongs to another run of this job" in other.stopped(OutputInUse).message
    assert ids() == ["a"]
    assert "--replace-output" not in other.stopped(OutputInUse).remedy
    assert "cannot empty the topic" in other.stopped(ConfigurationError, replace_output=True).message


@pytest.mark.full
def test_r1_no_output_is_emptied_if_one_of_them_cannot_be(small_job, kafka, topic):
    table = {"connector": "kafka", "servers": kafka.url, "topic": topic}
    small = small_job(KEPT, Binding(sinks={"kept": "json"}, tables={"sink.rejected": table}))
    small.feed([event("a", 0), event("bad", 1, -1.0)])
    small.run()
    shutil.rmtree(small.folder / "checkpoint")

    assert "No output is emptied" in small.stopped(ConfigurationError, replace_output=True).message
    assert small.ids() == ["a"]
    table["topic"] = made(kafka.url)
    small.write()
    small.run(replace_output=True)
    assert small.ids() == ["a"]
    assert len(received(kafka.url, table["topic"])) == 1


def test_a_topic_and_a_ledger_that_a_broker_does_not_know_yet_are_asked_for_again(kafka):
    with made_late(kafka.url) as topic:
        ledger = Ledger(kafka.url, topic, {})
        ledger.require(1)

    deleted(kafka.url, ledger.name)
    for shards in (None, [0]):
        with made_late(kafka.url, ledger.name, **{"cleanup.policy": "compact"}):
            assert ledger.read(shards, {}).entries == ()
        deleted(kafka.url, ledger.name)


@pytest.mark.full
def test_a_ledger_that_is_gone_is_not_taken_for_the_topic(job, kafka, topic):
    small = job()
    for number in range(2):
        small.feed([event(str(number), number)])

    with before_publication(TopicSink, 1, lambda: deleted(kafka.url, ledger_of(topic))):
        problem = small.stopped(StoreEmptied)

    assert "lacks newest entries of its ledger" in problem.message


@pytest.mark.full
def test_a_ledger_that_loses_newest_entries_while_the_job_runs_stops_it(job, kafka, topic, ids):
    small = job()
    for number in range(2):
        small.feed([event(str(number), number)])

    def lost() -> None:
        deleted(kafka.url, ledger_of(topic))
        made(kafka.url, 1, ledger_of(topic), **{"cleanup.policy": "compact"})

    with before_publication(TopicSink, 1, lost):
        problem = small.stopped(StoreEmptied)

    assert "lacks newest entries of its ledger" in problem.message
    assert ids() == ["0"]


@dataclass(frozen=True)
class Waiting(Steps):
    """Waits at a step until the brokers have aborted what is open in a topic."""

    servers: str
    topic: str
    at: str

    def reached(self, step: StepName) -> None:
        from confluent_kafka import Consumer, TopicPartition

        if str(step) == self.at:
            ends = [
                Consumer({"bootstrap.servers": self.servers, "group.id": "waiting", "isolation.level": level})
                for level in ("read_committed", "read_uncommitted")
            ]
            places = [TopicPartition(self.topic, number) for number in range(2)]

            def aborted() -> bool:
                committed, written = ([end.get_watermark_offsets(place, 20)[1] for place in places] for end in ends)
                return sum(written) > 0 and committed == written

            until(aborted, "the brokers to abort the transaction", 60)


@pytest.mark.full
def test_a_transaction_that_brokers_abort_for_its_age_is_said_to_be_too_long(job, kafka, topic, ids):
    small = job(options={"transaction.timeout.ms": "1000", "socket.timeout.ms": "1000"})
    small.feed([event("a", 0)])
    with told(Waiting(kafka.url, topic, "publish/kept@0:before")):
        problem = small.stopped(SinkError)

    assert "takes too long" in problem.message
    assert "1 s are allowed" in problem.message
    small.run()
    assert ids() == ["a"]


def test_a_timeout_beyond_what_brokers_allow_is_refused(job):
    small = job(options={"transaction.timeout.ms": "3600000"})
    small.feed([event("a", 0)])

    assert "Lower options" in small.stopped(SinkError).remedy


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_ledger_that_kafka_deletes_from_is_refused(job, kafka, policy):
    topic = made(kafka.url)
    name = ledger_of(topic)
    admin = AdminClient({"bootstrap.servers": kafka.url})
    admin.create_topics([NewTopic(name, 1, -1, config={"cleanup.policy": policy})])[name].result(20)
    small = job(topic=topic)
    small.feed([event("a", 0)])

    problem = small.stopped(SinkError)

    assert problem.message == f"The ledger {name} has cleanup.policy = {policy}."
    assert "published twice" in problem.required


def test_rows_that_say_so_are_tombstones(job, kafka, topic):
    small = job(key=["id"], tombstone="v = 0")
    small.feed([event("a", 0, 0.0), event("b", 1)])
    small.run()

    assert {message.key(): message.value() is None for message in received(kafka.url, topic)} == {b"a": True, b"b": False}


def test_a_message_that_is_too_large_is_said_and_nothing_of_its_batch_is_seen(job, kafka, small_job):
    small_topic = made(kafka.url, **{"max.message.bytes": "1000"})
    small = job(topic=small_topic)
    small.feed([event("a", 0), event("b", 1, client=noise(100_000))])

    problem = small.stopped(SinkError)

    assert "too large" in problem.message
    assert received(kafka.url, small_topic) == []


@pytest.mark.full
@pytest.mark.parametrize("headers", [[], ["client"]], ids=["rows", "rows with headers"])
def test_a_message_that_is_too_large_is_said_also_while_rows_behind_it_are_written(kafka, headers):
    topic = made(kafka.url, partitions=1, **{"max.message.bytes": "1000"})
    mine = Ledger(kafka.url, topic, {})
    mine.require(1)
    entry = LedgerEntry("job", "out", "incarnation", 0, 0, "manifest", "fingerprint", 1_000_005, 0)
    values = [pa.array([noise(100_000)] + [b"v"] * 200_000, pa.binary())]
    rows = pa.RecordBatch.from_arrays(
        [pa.nulls(200_001, pa.binary()), *values * (1 + len(headers))], names=["key", "value", *headers]
    )
    shard = Shard(mine, entry, 1, entry.rows, tuple(headers), Steps())

    (answer,) = (batch.to_pylist()[0] for batch in shard.publish(itertools.repeat(rows, 5)))

    assert (answer["entry"], answer["code"]) == (None, KafkaError.MSG_SIZE_TOO_LARGE)
    assert received(kafka.url, topic) == []


@pytest.mark.parametrize(
    ("sink", "kind", "said"),
    [
        ({"topic": "no-such-topic"}, SinkError, "There is no topic"),
        ({"key": ["clint"]}, None, 'needs the column "clint", which is not there. Did you mean "client"?'),
        *full(
            ({"options": {"compression.typ": "lz4"}}, ConfigurationError, "compression.typ"),
            ({"options": {"security.protocol": "SSL"}, "servers": None}, SinkError, "cannot be written"),
        ),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_first_batch(job, kafka, monkeypatch, sink, kind, said):
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)
    monkeypatch.setattr("streamproof.connectors.kafka.client.SECONDS", 3)
    monkeypatch.setattr("streamproof.connectors.kafka.ledger.SECONDS", 3)
    small = job(**{**sink, "servers": kafka.url})
    small.feed([event("a", 0)])

    with pytest.raises(kind or Exception) as problem:
        small.run()

    assert said in str(problem.value)


def logging_in(password: str) -> dict[str, str]:
    """The options of a sink that logs in as a user of the shared broker."""
    login = {"sasl.username": "risk", "sasl.password": password}
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", **login}


@pytest.mark.full
def test_wrong_credentials_are_refused_and_right_ones_write(job, kafka, topic):
    small = job(servers=kafka.login_url, options=logging_in("wr0ng"))
    small.feed([event("a", 0)])

    problem = small.stopped(SinkError)

    assert "refuses us" in problem.message
    assert "wr0ng" not in str(problem)
    small.binding.tables["sink.kept"]["options"] = logging_in("right")
    small.write()
    small.run()
    assert [json.loads(message.value())["id"] for message in received(kafka.url, topic)] == ["a"]


@pytest.mark.full
def test_r8_a_broker_that_is_down_neither_stops_nor_doubles_the_others_and_catches_up(job, tmp_path, monkeypatch):
    with KafkaCluster(tmp_path / "own") as own:
        topic = made(own.url)
        small = job(servers=own.url, topic=topic)
        small.feed([event("a", 0), event("r0", 0, -1.0)])
        small.run()
        own.kill(1)
        for number in range(1, 3):
            small.feed([event(f"x{number}", number), event(f"r{number}", number, -1.0)])
        with monkeypatch.context() as impatient:
            impatient.setattr(run, "_PATIENCE_SECONDS", 0)
            for module in ("client", "ledger", "transactions"):
                impatient.setattr(f"streamproof.connectors.kafka.{module}.SECONDS", 2)
            assert small.stopped(SinkUnavailable).message.startswith("2 batches of kept wait: ")
        assert small.ids("rejected") == ["r0", "r1", "r2"]
        own.restart(1)
        small.run()

        assert sorted(json.loads(message.value())["id"] for message in received(own.url, topic)) == ["a", "x1", "x2"]


@pytest.mark.full
def test_at_least_once_is_written_by_sparks_own_sink_and_says_so(job, ids):
    small = job(guarantee="at-least-once")
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    result = small.run()

    assert ids() == ["a", "a"], "that is what it means"
    assert next(output for output in result.outputs if output.name == "kept").guarantee.startswith("at least once")
    small.run()
    assert ids() == ["a", "a"]


@pytest.mark.full
def test_windows_go_to_a_topic(job, kafka, topic):
    small = job(SUMS, output="sums", key=["client", "window_start"])
    small.feed([event("a", 0), event("b", 1), event("c", 100)])
    small.feed([event("d", 200)])
    small.run()

    assert sorted(json.loads(message.value())["n"] for message in received(kafka.url, topic)) == [1, 2]
