"""A store that was emptied, ledger and all, is noticed by what the manifests say of it, however old its newest rows are (R26)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from services.conftest import needs
from services.topics import deleted, ledger_of, made
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.errors import StoreEmptied
from streamproof.lab import KafkaCluster, Postgres, Redis

pytestmark = pytest.mark.service
Store = tuple[dict[str, object], Callable[[], None]]


@pytest.fixture
def of_postgres(postgres: Postgres, schema: str) -> Store:
    def empty() -> None:
        with psycopg.connect(postgres.url) as connection:
            connection.execute(f"drop schema {schema} cascade")
            connection.execute(f"create schema {schema}")

    return {"connector": "postgres", "url": postgres.url, "table": f"{schema}.kept", "create": True}, empty


@pytest.fixture
def of_redis(tmp_path: Path) -> Iterator[Store]:
    needs("redis")
    with Redis(tmp_path / "redis") as server:
        table = {"connector": "redis", "url": server.url, "key": ["id"], "prefix": "kept:"}
        yield table, lambda: redis.Redis.from_url(server.url).flushall()


@pytest.fixture
def of_kafka(kafka: KafkaCluster) -> Store:
    url = kafka.url
    topic = made(url)

    def empty() -> None:
        deleted(url, ledger_of(topic))
        deleted(url, topic)
        made(url, name=topic)

    return {"connector": "kafka", "servers": url, "topic": topic}, empty


@pytest.mark.parametrize("of", ["of_postgres", "of_redis", "of_kafka"])
@pytest.mark.full
def test_r26_a_store_that_was_emptied_is_noticed_though_its_newest_rows_are_old(
    small_job: Callable[..., SmallJob], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, of: str
):
    monkeypatch.setattr("streamproof.runtime.journal.manifests.KEPT", 3)
    table, empty = request.getfixturevalue(of)
    small = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": table}))
    for number in range(6):
        small.feed([event(f"e{number}", number, v=1 if number < 2 else -1)])
    small.run()
    assert small.run().batches == 0, "what is there is not missed"
    empty()

    problem = small.stopped(StoreEmptied)
    assert problem.message.endswith("knows nothing of batch 1, the newest of 2 that were published there.")
    assert "--accept-missing" in problem.remedy

    for accept in (True, False):
        notes = " ".join(small.run(accept_missing=accept).notes)
        assert "knows nothing of what was published there up to batch 1: accepted as lost" in notes
        assert "No new batch has written down yet what was accepted as lost of kept" in notes
    small.feed([event("e6", 6)])
    small.run()
    assert small.sink().owner().batch == 6
    for number in range(7, 11):
        small.feed([event(f"e{number}", number, v=-1)])
    assert not any("lost" in note for note in small.run().notes)
    empty()
    assert "knows nothing of batch 6" in small.stopped(StoreEmptied).message
