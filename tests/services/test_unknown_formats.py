"""A ledger entry of a service in a format that is not known stops the start, and stays as it is (R30)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis
from confluent_kafka import Producer

from full_tables import full
from services.conftest import needs
from services.topics import ledger_of, made, received
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.errors import UnknownFormat
from streamproof.lab import KafkaCluster, PaymentsApi, Postgres, Redis

pytestmark = pytest.mark.service


def newer(text: str) -> str:
    return json.dumps({**json.loads(text), "format": 2})


@dataclass(frozen=True)
class Store:
    """What a sink of a service is bound to; `later` makes its newest entry one of format 2, `shown` gives all that is there."""

    table: dict[str, object]
    later: Callable[[SmallJob], None]
    shown: Callable[[SmallJob], object]


@pytest.fixture
def of_postgres(postgres: Postgres, schema: str) -> Store:
    def ask(query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(postgres.url, options=f"-c search_path={schema}") as connection:
            found = connection.execute(query)
            return found.fetchall() if found.description else []

    return Store(
        {"connector": "postgres", "url": postgres.url, "table": f"{schema}.kept", "create": True},
        lambda _: ask("update streamproof_ledger set format = 2") and None,
        lambda _: (ask("select * from streamproof_ledger"), ask("select * from kept")),
    )


@pytest.fixture
def of_redis(tmp_path: Path) -> Iterator[Store]:
    needs("redis")
    with Redis(tmp_path / "redis") as server:
        client = redis.Redis.from_url(server.url, decode_responses=True)

        def later(_: SmallJob) -> None:
            for field, text in client.hgetall("streamproof:ledger:kept:").items():
                if text.startswith("{"):
                    client.hset("streamproof:ledger:kept:", field, newer(text))

        yield Store(
            {"connector": "redis", "url": server.url, "key": ["id"], "prefix": "kept:"},
            later,
            lambda _: (client.hgetall("streamproof:ledger:kept:"), sorted(client.keys("kept:*"))),
        )


@pytest.fixture
def of_kafka(kafka: KafkaCluster) -> Store:
    topic = made(kafka.url)

    def later(_: SmallJob) -> None:
        newest = received(kafka.url, ledger_of(topic))[-1]
        producer = Producer({"bootstrap.servers": kafka.url})
        producer.produce(ledger_of(topic), newer(newest.value().decode()), newest.key(), partition=0)
        producer.flush(20)

    def shown(_: SmallJob) -> object:
        return [[(record.key(), record.value()) for record in received(kafka.url, name)] for name in (topic, ledger_of(topic))]

    return Store({"connector": "kafka", "servers": kafka.url, "topic": topic}, later, shown)


@pytest.fixture
def of_http(tmp_path: Path) -> Iterator[Store]:
    def ledger(job: SmallJob) -> Path:
        return job.out("kept") / "_calls/batch=000000/_ledger.json"

    def later(job: SmallJob) -> None:
        ledger(job).write_text(newer(ledger(job).read_text()))
        ledger(job).with_name("._ledger.json.crc").unlink(missing_ok=True)

    with PaymentsApi(tmp_path / "api") as api:
        table = {"connector": "http", "url": f"{api.url}/payments", "key": ["id"], "idempotent": True}
        yield Store(table, later, lambda job: (ledger(job).read_text(), api.effects("/payments")))


@pytest.mark.parametrize("of", ["of_postgres", *full("of_redis", "of_kafka", "of_http")])
def test_r30_a_ledger_entry_of_an_unknown_format_stops_the_start(
    small_job: Callable[..., SmallJob], request: pytest.FixtureRequest, of: str
):
    store = request.getfixturevalue(of)
    small = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": store.table}))
    small.feed([event("e0", 0)])
    small.run()
    store.later(small)
    before = store.shown(small)
    small.feed([event("e1", 1)])

    for lost in ((), ("commits/0",)):
        small.lose(*lost)
        error = small.stopped(UnknownFormat)
        assert "is a ledger entry of format 2" in error.message
        assert store.shown(small) == before
        assert small.manifest(0).batch == 0


def test_r30_a_mark_of_a_batch_that_has_begun_is_not_written_over(small_job, of_redis):
    """Of Redis: a batch under way leaves a mark, which is of the format of an entry."""
    small = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": of_redis.table}))
    small.feed([event("e0", 0)])
    small.run()
    small.lose("commits/0")
    client = redis.Redis.from_url(str(of_redis.table["url"]), decode_responses=True)
    ledger = "streamproof:ledger:kept:"
    (field,) = [field for field, text in client.hgetall(ledger).items() if text.startswith("{")]
    client.hset(ledger, json.dumps([*json.loads(field), "begun"]), newer(client.hget(ledger, field)))
    client.hdel(ledger, field)
    before = client.hgetall(ledger)

    small.stopped(UnknownFormat)

    assert client.hgetall(ledger) == before
