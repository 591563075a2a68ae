"""Plain jobs that call a service by themselves: the lab starts it, each scenario has an empty place of its own, and it is read back."""

import json
from pathlib import Path

import pytest

import streamproof as sp
from services.conftest import needs
from streamproof.prove.subjects.pyspark.preparation import Wanted

pytestmark = pytest.mark.service

POSTGRES = """
import os
import psycopg

UPSERT = "INSERT INTO public.totals VALUES (%s, %s, %s) ON CONFLICT (account) DO UPDATE SET clicks = EXCLUDED.clicks"


def totals(clicks):
    clicks.groupBy("user").count().writeStream.outputMode("update").option("checkpointLocation", "checkpoint").foreachBatch(keep).start()


def keep(rows, batch):
    with psycopg.connect(os.environ["DSN"]) as database:
        database.execute("CREATE TABLE IF NOT EXISTS public.totals (account text PRIMARY KEY, clicks bigint, batch bigint)")
        for row in rows.collect():
            database.execute(UPSERT, (row["user"], row["count"], batch))


def read_totals():
    with psycopg.connect(os.environ["DSN"]) as database:
        return database.execute("SELECT account, clicks FROM public.totals").fetchall()
"""
REDIS = """
import redis


def totals(clicks, store):
    def keep(rows, batch):
        with redis.Redis.from_url(store) as connection:
            for row in rows.collect():
                connection.hset("totals", row["user"], row["count"])

    clicks.groupBy("user").count().writeStream.outputMode("update").option("checkpointLocation", "checkpoint").foreachBatch(keep).start()


def read_totals(store):
    with redis.Redis.from_url(store) as connection:
        return [(user.decode(), int(count)) for user, count in connection.hgetall("totals").items()]
"""
KAFKA = """
import os
from confluent_kafka import Consumer, Producer, TopicPartition


def totals(clicks):
    clicks.groupBy("user").count().writeStream.outputMode("update").option("checkpointLocation", "checkpoint").foreachBatch(keep).start()


def keep(rows, batch):
    producer = Producer({"bootstrap.servers": os.environ["BROKERS"]})
    for row in rows.collect():
        producer.produce(os.environ["TOPIC"], key=row["user"], value=str(row["count"]))
    producer.flush()


def read_totals():
    consumer = Consumer({"bootstrap.servers": os.environ["BROKERS"], "group.id": "reads"})
    newest = {}
    for partition in consumer.list_topics(os.environ["TOPIC"]).topics[os.environ["TOPIC"]].partitions:
        place = TopicPartition(os.environ["TOPIC"], partition, 0)
        _, end = consumer.get_watermark_offsets(place)
        consumer.assign([place])
        for message in consumer.consume(end, 30.0) if end else ():
            newest[message.key().decode()] = int(message.value())
    consumer.close()
    return list(newest.items())
"""
APPENDS = (
    ("account text PRIMARY KEY", "account text"),
    (" ON CONFLICT (account) DO UPDATE SET clicks = EXCLUDED.clicks", ""),
)


def proved(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, service: str, only: str, **given: dict[str, str]) -> sp.Proof:  # type: ignore[name-defined]
    needs(service)
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    monkeypatch.chdir(folder)
    wanted = Wanted("job.py:totals", {"clicks": "clicks.jsonl"}, readers=("totals=job:read_totals",), as_is=True, **given)  # type: ignore[arg-type]
    return sp.prove(wanted.target, job=wanted, services=[service], quick=True, batches=2, only=only)


def test_an_upsert_into_postgresql_passes_and_a_twin_that_appends_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"environment": {"DSN": "{postgres}"}}

    proof = proved(tmp_path, monkeypatch, POSTGRES, "postgres", "*commit/*@1*", **given)

    assert proof.verdict == "pass", proof
    assert proof.report["fired"] == len(proof.report["scenarios"]) > 1
    assert [(output["name"], output["rows"]) for output in proof.report["outputs"]] == [("totals", 3)]

    twin = POSTGRES
    for one, other in APPENDS:
        assert one in twin
        twin = twin.replace(one, other)
    proof = proved(tmp_path, monkeypatch, twin, "postgres", "*commit/*@1:before*", **given)

    verdicts = {scenario["id"]: scenario["verdict"] for scenario in proof.report["scenarios"]}
    assert verdicts.pop("fault-free") == "pass", "each scenario begins with an empty database"
    assert set(verdicts.values()) == {"fail"}
    assert "--service postgres" in proof.failures[0]["replay"]


@pytest.mark.full
def test_hashes_of_redis_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"arguments": {"store": "{redis}"}}

    assert proved(tmp_path, monkeypatch, REDIS, "redis", "*commit/*@1*", **given).verdict == "pass"

    counting = REDIS.replace("hset", "hincrby").replace('row["count"])', 'int(row["count"]))')
    assert proved(tmp_path, monkeypatch, counting, "redis", "*commit/*@1:before*", **given).verdict == "fail"


@pytest.mark.full
def test_topics_of_kafka_are_made_and_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"environment": {"BROKERS": "{kafka}", "TOPIC": "{kafka.topic:totals}"}}

    assert proved(tmp_path, monkeypatch, KAFKA, "kafka", "*commit/*@1*", **given).verdict == "pass"
