"""Topics of Kafka are read as they are, once, and nothing of them is lost unseen."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from full_tables import full
from services.topics import deleted, made, made_late, received, sent
from spark.small_job import KEPT, Binding, SmallJob, assert_readable, dies, event
from streamproof.config import KafkaSource, load
from streamproof.connectors.kafka.reading import read, require
from streamproof.connectors.lag import Lag
from streamproof.connectors.source import Limit
from streamproof.connectors.sources import sources_of
from streamproof.errors import ConfigurationError, DataError, WrongCheckpoint
from streamproof.lab import KafkaCluster
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, RunEvent
from streamproof.runtime.watching.lag import lag_of

pytestmark = pytest.mark.service


@pytest.fixture
def topic(kafka: KafkaCluster) -> str:
    """A topic of its own, of two partitions."""
    return made(kafka.url)


@pytest.fixture
def send(kafka: KafkaCluster) -> Callable[..., None]:
    return partial(sent, kafka.url)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], kafka: KafkaCluster, topic: str) -> Callable[..., SmallJob]:
    """`job(records_per_batch=2, ...)`: a job that reads the topic."""

    def job(text: str = KEPT, *, sinks: Mapping[str, str] | None = None, **source: Any) -> SmallJob:
        table = {"connector": "kafka", "servers": kafka.url, "topic": topic, **source}
        return small_job(text, Binding(sinks=sinks or {"kept": "parquet", "rejected": "json"}, tables={"source.events": table}))

    return job


def test_records_are_read_once_and_tombstones_are_rejected(job, send, topic):
    small = job()
    send(topic, [event("a", 0), event("b", 1), None, b"{broken"], partition=0)
    send(topic, [event("c", 2)], partition=1)
    small.run()
    send(topic, [event("d", 3, -1.0)])
    result = small.run()

    assert small.ids() == ["a", "b", "c"]
    assert sorted(row["reason"] for row in small.rows("rejected")) == ["no value (a tombstone)", "not parseable", "v >= 0"]
    assert (result.account.total, result.account_input) == (6, 6)


@pytest.mark.full
def test_a_batch_over_a_topic_ends_where_the_topic_ends_when_it_is_read(job, send, topic, spark):
    small = job()
    send(topic, [event("a", 0), event("b", 1, -1.0), None])
    config = load(small.folder)
    rows = read(spark, "events", config.source["events"], stream=False, trace=False)
    send(topic, [event("c", 2)])

    assert rows.count() == 3

    result = run_bounded(config, spark=spark)
    assert result.account.as_dict() == {**dict.fromkeys(result.account.as_dict(), 0), "emitted": 2, "rejected": 2}


def test_what_a_batch_takes_of_a_topic_is_adapted_to_how_long_batches_take(job, send, topic):
    """The offsets stay the connector's: a start without batch_time goes on where one with it has come to."""
    small, heard = job(records_per_batch=4), list[RunEvent]()
    small.binding = replace(small.binding, trigger='available-now"\nbatch_time = "1 millisecond')
    small.write()
    send(topic, [event(f"e{number}", number) for number in range(7)], partition=0)
    small.run(listener=heard.append)

    planned = [each for each in heard if isinstance(each, BatchPlanned)]
    committed = [each for each in heard if isinstance(each, BatchCommitted)]
    assert [each.limits for each in planned] == [(Limit("events", most, "records"),) for most in (4, 1, 1, 1)]
    assert [each.counts["input"] for each in committed] == [4, 1, 1, 1]
    assert [lag.lag for lag in committed[1].lag] == [2, 0]

    small.binding = replace(small.binding, trigger="available-now")
    small.write()
    send(topic, [event("e7", 7), event("e8", 8)], partition=0)
    small.run()

    assert small.ids() == [f"e{number}" for number in range(9)]


def test_r2_a_batch_is_named_by_where_it_starts_and_ends(job, send, topic):
    small = job(records_per_batch=2)
    send(topic, [event(str(number), number) for number in range(4)])
    small.run()

    first, second = small.manifest(0).fingerprint, small.manifest(1).fingerprint
    assert first.offsets == (json.dumps({topic: {"0": 2, "1": 0}}, separators=(",", ":")),)
    assert second.starts["0"] == first.offsets[0]


def test_r2_offsets_and_first_offsets_that_are_lost_come_back_from_the_manifest(job, send, topic):
    small = job(records_per_batch=2)
    send(topic, [event(str(number), number) for number in range(4)])
    dies(small, "rename", "checkpoint/kept/commits/1")
    small.lose("offsets/1", "sources/0/0")
    send(topic, [event("late comer", 9)])

    result = small.run()

    assert small.ids() == ["0", "1", "2", "3", "late comer"]
    assert sum("restored from the manifest" in note for note in result.notes) == 2


def test_r9_aborted_records_are_not_read(job, send, topic, kafka):
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.url, "transactional.id": topic})
    producer.init_transactions(20)
    for value, ends in (("a", producer.abort_transaction), ("b", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, json.dumps(event(value, 0)), partition=0)
        producer.flush(20)
        ends(20)
    small = job()
    small.run()

    assert small.ids() == ["b"]
    everything = job(read="uncommitted")
    everything.binding = Binding(checkpoint="other", sinks={"kept": "json"}, tables=everything.binding.tables, base="u/")
    everything.write()
    everything.run()
    assert [row["id"] for row in everything.rows("kept", everything.folder / "u/out/kept")] == ["a", "b"]


@pytest.mark.full
def test_the_records_own_columns_are_there_for_who_asks(job, send, topic):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("who", F.decode(F.col("kafka_headers")[0].value, "UTF-8"))
                                                              .drop("kafka_headers")))
"""
    small = job(text, include=["key", "topic", "partition", "offset", "timestamp", "headers"])
    send(topic, [event("a", 0)], partition=1, key=b"k", headers={"correlation-id": b"me"})
    send(topic, [event("b", 1)], partition=0)
    small.run()

    found = {row["id"]: row for row in small.rows("kept")}
    assert (found["a"]["kafka_key"], found["a"]["who"], found["a"]["kafka_partition"], found["a"]["kafka_offset"]) == (
        "k",
        "me",
        1,
        0,
    )
    assert (found["b"]["kafka_key"], found["b"]["who"]) == (None, None)


def test_c4_headers_are_carried_to_topics_and_to_rejected_rows(job, send, topic, kafka):
    out = made(kafka.url)
    small = job(carry=["traceparent", "correlation-id"], sinks={"rejected": "json"})
    small.binding.tables["sink.kept"] = {"connector": "kafka", "servers": kafka.url, "topic": out}
    small.write()
    send(
        topic, [event("a", 0), event("bad", 0, -1.0)], headers=[("traceparent", b"old"), ("traceparent", b"00-1"), ("other", b"x")]
    )
    send(topic, [event("b", 1)])
    small.run()

    found = {json.loads(message.value())["id"]: message for message in received(kafka.url, out)}
    assert found["a"].headers() == [("traceparent", b"00-1")]
    assert not found["b"].headers()
    assert json.loads(found["a"].value()).keys() == {"id", "client", "v", "ts"}
    assert small.rows("rejected")[0]["carried_traceparent"] == "00-1"


@pytest.mark.full
def test_the_lag_of_each_partition_is_said(job, send, topic):
    small = job()
    send(topic, [event("a", 0), event("b", 1)], partition=1)
    result = small.run()
    assert [(each.partition, each.position, each.end, each.lag) for each in result.lag] == [(0, 0, 0, 0), (1, 2, 2, 0)]

    send(topic, [event("c", 2)], partition=0)
    manifest = small.manifest(0)
    sources = sources_of(load(small.folder)).values()
    (first, second) = lag_of(small.spark, sources, [manifest], [])
    assert (first.position, first.end, first.lag, second.lag) == (0, 1, 1, 0)


def test_each_batch_says_how_much_of_each_partition_it_had_left(job, send, topic, kafka):
    """The end of a partition is that of what can be read, an open transaction is none of it; with this trigger it is that of the run's beginning."""
    small, heard = job(records_per_batch=4), list[RunEvent]()

    def comes_meanwhile(happened: RunEvent) -> None:
        if isinstance(happened, BatchPlanned) and happened.batch == 0:
            send(topic, [event("meanwhile", 8)], partition=0)

    send(topic, [event(f"a{number}", number) for number in range(6)], partition=0)
    send(topic, [event(f"b{number}", number) for number in range(2)], partition=1)
    small.run(listener=[comes_meanwhile, heard.append])
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.url, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, json.dumps(event("open", 9)), partition=1)
    producer.flush(20)
    send(topic, [event("c", 10)], partition=0)

    small.run(listener=heard.append)

    producer.abort_transaction(20)
    lags = [each.lag for each in heard if isinstance(each, BatchCommitted)]
    assert lags == [
        (Lag("events", topic, 0, 3, 6, 3), Lag("events", topic, 1, 1, 2, 1)),
        (Lag("events", topic, 0, 6, 6, 0), Lag("events", topic, 1, 2, 2, 0)),
        (Lag("events", topic, 0, 8, 8, 0), Lag("events", topic, 1, 2, 2, 0)),
    ]


def test_what_lies_behind_an_open_transaction_is_not_called_read(job, send, topic, kafka):
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.url, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, json.dumps(event("open", 0)), partition=0)
    producer.flush(20)
    send(topic, [event("a", 1), event("b", 2)])
    small = job()

    (first, second) = small.run().lag
    producer.commit_transaction(20)
    (after, _) = small.run().lag

    assert (first.position, first.end, first.lag, first.undecided) == (0, 0, 0, 3)
    assert (second.lag, second.undecided) == (0, 0)
    assert (after.lag, after.undecided) == (0, 0)
    assert small.ids() == ["a", "b", "open"]


def test_the_lag_counts_what_is_there(job, send, topic, kafka):
    """What retention has taken is none."""
    admin = AdminClient({"bootstrap.servers": kafka.url})
    send(topic, [event("a", 0), event("b", 1), event("c", 2)])
    admin.delete_records([TopicPartition(topic, 0, 2)])[TopicPartition(topic, 0)].result(20)
    early = job(start="earliest")
    early.run()
    read = sources_of(load(early.folder)).values()
    send(topic, [event("c1", 2), event("c2", 2), event("c3", 2)])
    admin.delete_records([TopicPartition(topic, 0, 5)])[TopicPartition(topic, 0)].result(20)
    assert [each.lag for each in lag_of(early.spark, read, [], [])] == [1, 0]
    assert [each.lag for each in lag_of(early.spark, read, [early.manifest(0)], [])] == [1, 0], "it has read to 3, and 4 is gone"


@pytest.mark.full
def test_the_lag_of_a_job_that_begins_late_counts_all_of_a_new_partition(job, send, topic, kafka):
    """The next run reads all of it."""
    admin = AdminClient({"bootstrap.servers": kafka.url})
    send(topic, [event("a", 0), event("b", 1), event("c", 2)])
    late = job(start="latest")
    config = sources_of(load(late.folder)).values()
    assert [each.lag for each in lag_of(late.spark, config, [], [])] == [0, 0]
    late.run()
    send(topic, [event("d", 3)])
    late.run()

    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(20)
    send(topic, [event("e", 4)], partition=2)

    newest = max(int(path.name) for path in (late.checkpoint() / "_streamproof/manifests").glob("[0-9]*"))
    assert [each.lag for each in lag_of(late.spark, config, [late.manifest(newest)], [])] == [0, 0, 1]
    late.run()
    assert late.ids() == ["d", "e"]


@pytest.mark.full
def test_partitions_that_are_added_and_a_second_topic_are_read_from_their_start(job, send, topic, kafka):
    second = f"{topic}-more"
    admin = AdminClient({"bootstrap.servers": kafka.url})
    admin.create_topics([NewTopic(second, 1, 1)])[second].result(20)
    small = job()
    send(topic, [event("a", 0)])
    small.run()
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(20)
    send(topic, [event("b", 1)], partition=2)
    send(second, [event("c", 2)])
    small.binding.tables["source.events"]["topic"] = [topic, second]
    small.write()
    small.run()

    assert small.ids() == ["a", "b", "c"]


@pytest.mark.full
def test_records_that_retention_has_taken_stop_the_job(job, send, topic, kafka):
    small = job()
    send(topic, [event("a", 0)])
    small.run()
    send(topic, [event("b", 1), event("c", 2)])
    admin = AdminClient({"bootstrap.servers": kafka.url})
    admin.delete_records([TopicPartition(topic, 0, 3)])[TopicPartition(topic, 0)].result(20)

    problem = small.stopped(DataError)

    assert "Records of Kafka are gone that the job has not read" in problem.message
    assert small.ids() == ["a"]


@pytest.mark.full
def test_a_topic_that_was_made_anew_stops_the_job(job, send, topic, kafka):
    """With fewer records than were read Spark would say so; with as many or more the first ones would never be read."""
    small = job()
    send(topic, [event("a", 0), event("b", 1)])
    small.run()
    deleted(kafka.url, topic)
    made(kafka.url, 2, topic)
    send(topic, [event(f"new {number}", 2) for number in range(3)])

    problem = small.stopped(WrongCheckpoint)

    assert "has read is another one" in problem.message
    assert f"{topic} (its id was " in problem.message
    assert small.ids() == ["a", "b"]
    assert f"--accept-topic {topic}" in problem.remedy
    small.run(accept_topics=[topic])
    assert small.ids() == ["a", "b", "new 2"]
    small.run()  # once is enough


def test_a_topic_that_a_broker_does_not_know_yet_is_asked_for_again(spark, kafka):
    with made_late(kafka.url) as topic:
        source = KafkaSource(connector="kafka", servers=kafka.url, topic=topic, format="json", schema="id string")

        assert list(require(spark, "events", source)) == [topic]


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ({"topic": "no-such-topic"}, ConfigurationError, "there is no such topic at"),
        *full(
            ({"servers": "127.0.0.1:1"}, DataError, "no broker answers at 127.0.0.1:1"),
            ({"servers": "nowhere.invalid:9092"}, ConfigurationError, "servers is nowhere"),
            ({"options": {"security.protocol": "SSL"}}, (ConfigurationError, DataError), "TLS"),
            ({"options": {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}}, ConfigurationError, "credentials"),
        ),
    ],
)
def test_a_broker_or_topic_that_is_not_there_is_named_before_anything_is_planned(job, source, kind, said):
    small = job(**source)

    with pytest.raises(kind) as problem:
        small.run()

    assert said in str(problem.value)
    assert_readable(problem.value)
    assert not (small.checkpoint() / "offsets").exists()


def logging_in(password: str) -> dict[str, str]:
    """The options of a source that logs in as a user of the shared broker."""
    login = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="risk" password="{password}";'
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": login}


@pytest.mark.full
def test_wrong_credentials_are_refused_and_right_ones_read(job, send, topic, kafka):
    send(topic, [event("a", 0)])
    small = job(servers=kafka.login_url, options=logging_in("wr0ng"))

    problem = small.stopped(ConfigurationError)

    assert "[source.events] is refused by" in problem.message
    assert "wr0ng" not in str(problem)
    small.binding.tables["source.events"]["options"] = logging_in("right")
    small.write()
    small.run()
    assert small.ids("kept") == ["a"]


def test_a_topic_that_was_read_may_not_be_taken_away(job, send, topic, kafka):
    small = job()
    send(topic, [event("a", 0)])
    small.run()
    small.binding.tables["source.events"]["topic"] = "another"
    small.write()

    assert f"has read the topic {topic}" in small.stopped(WrongCheckpoint).message
