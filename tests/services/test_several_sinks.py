"""An output to a database, a topic and files: staged once, published to each, and one that is down holds up no other (K7, R8)."""

import json

import psycopg
import pyarrow.parquet as pq
import pytest

from services.topics import made, received
from spark.small_job import KEPT, Binding, event
from streamproof.core.account import Account
from streamproof.errors import SinkUnavailable, StreamproofError, WrongCheckpoint
from streamproof.runtime import run

pytestmark = pytest.mark.service
SINKS = ("postgres", "kafka", "files")


@pytest.fixture
def topic(kafka):
    return made(kafka.url)


@pytest.fixture
def job(small_job, own_postgres, kafka, topic):
    """`job("kafka", "postgres")`: rows that pass go to these sinks, in this order, the others to files; `small` is bound anew."""
    tables = {
        "postgres": {"connector": "postgres", "url": own_postgres.url, "table": "kept", "create": True},
        "kafka": {"connector": "kafka", "servers": kafka.url, "topic": topic, "key": ["id"]},
        "files": {"connector": "files", "path": "out/files", "format": "json"},
    }

    def job(*sinks, small=None):
        binding = Binding(sinks={"rejected": "json"}, tables={f"sink.kept.{name}": tables[name] for name in sinks})
        if small is None:
            return small_job(KEPT, binding)
        small.binding = binding
        small.write()
        return small

    return job


@pytest.fixture
def rows(own_postgres, kafka, topic):
    """`rows(small)`: by sink what its readers see, as ids and values."""

    def rows(small):
        with psycopg.connect(own_postgres.url) as connection:
            there = connection.execute("select to_regclass('kept') is not null").fetchone()[0]
            table = connection.execute("select id, v from kept order by id").fetchall() if there else []
        records = [json.loads(message.value()) for message in received(kafka.url, topic)]
        return {
            "postgres": table,
            "kafka": sorted((row["id"], row["v"]) for row in records),
            "files": sorted((row["id"], row["v"]) for row in small.rows("kept", small.folder / "out/files")),
        }

    return rows


def staged(small):
    return sorted((small.folder / "checkpoint-kept/_staging").glob("*/*.parquet"))


def test_k7_r8_one_sink_lags_while_the_others_go_on_and_what_is_staged_stays_for_it(job, rows, own_postgres, monkeypatch):
    small = job(*SINKS)
    small.feed([event("a", 0, 1.5), event("bad", 0, -1.0)])
    small.run()
    assert rows(small) == {sink: [("a", 1.5)] for sink in SINKS}
    assert not staged(small), "what every sink has taken is dropped"

    own_postgres.kill()
    for number in range(1, 4):
        small.feed([event(f"x{number}", number, float(number))])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        problem = small.stopped(SinkUnavailable)
    assert problem.message.startswith("3 batches of kept.postgres wait: postgresql://127.0.0.1")
    waiting = staged(small)
    assert [path.parent.name.partition("-")[0] for path in waiting] == ["000001", "000002", "000003"]
    assert pq.read_schema(waiting[0]).names[:4] == ["id", "client", "v", "ts"], "staged for all of them, encoded for none"

    job("kafka", "files", small=small)
    assert "3 batches with rows for the output kept, which" in small.stopped(WrongCheckpoint).message
    assert staged(small) == waiting, "a sink is not taken away while batches wait for it"
    job(*SINKS, small=small)

    own_postgres.restart()
    every = [("a", 1.5), ("x1", 1.0), ("x2", 2.0), ("x3", 3.0)]
    assert rows(small) == {"postgres": [("a", 1.5)], "kafka": every, "files": every}
    result = small.run()

    assert rows(small) == dict.fromkeys(SINKS, every)
    assert not staged(small)
    assert result.account == Account(emitted=4, rejected=1)


@pytest.mark.full
@pytest.mark.parametrize("sinks", [("postgres", "kafka"), ("kafka", "postgres")], ids="-".join)
def test_k7_r6_a_crash_between_the_publications_to_two_services_doubles_nothing(job, rows, dying_tasks, sinks):
    first, second = sinks
    small = job(*sinks)
    small.feed([event("a", 0), event("b", 1)])
    with dying_tasks(f"publish/kept.{second}@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    both = [("a", 1.0), ("b", 1.0)]
    assert rows(small) == {first: both, second: [], "files": []}

    assert small.run().account == Account(emitted=2)

    assert rows(small) == {first: both, second: both, "files": []}
    assert not staged(small)
