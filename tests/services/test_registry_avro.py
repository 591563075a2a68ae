"""Avro through a registry: every record by the schema that it was written by, nothing lost that cannot be read (C1)."""

import base64
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from services.registry import asks_for, avro, framed, from_avro, record, registered, schema_of
from services.topics import made, received, sent
from spark.small_job import KEPT, START, Binding, SmallJob, assert_readable, event
from streamproof.errors import ConfigurationError, RegistryError, RegistryUnavailable, StreamproofError
from streamproof.lab import KafkaCluster
from streamproof.lab.registry import Registry

pytestmark = pytest.mark.service

V1 = record("Event", id="string", client="string", v="double", ts="long")


@pytest.fixture
def topic(kafka: KafkaCluster) -> str:
    """A topic of its own, of two partitions."""
    return made(kafka.url)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], kafka: KafkaCluster, registry: Registry, topic: str) -> Callable[..., SmallJob]:
    """`job(include=[...])`: a job that reads the topic as Avro."""

    def job(text: str = KEPT, *, binding: Mapping[str, Any] | None = None, url: str = registry.url, **source: Any) -> SmallJob:
        given = {"sinks": {"kept": "parquet", "rejected": "json"}, **(binding or {})}
        table = {"connector": "kafka", "servers": kafka.url, "topic": topic, **source}
        tables = {"source.events": table, "registry": {"url": url}, **given.pop("tables", {})}
        return small_job(text, Binding(format="avro", tables=tables, **given))

    return job


@pytest.fixture
def send(kafka: KafkaCluster, topic: str) -> Callable[..., None]:
    return lambda values, partition=0: sent(kafka.url, topic, values, partition)


@pytest.mark.full
def test_several_versions_in_one_batch_are_read_by_the_schema_they_were_written_by(job, send, registry, topic):
    """A field added with a default, removed, promoted, and an optional one: one row per record."""
    v2 = record("Event", id="string", more=("string", "x"), client=(["null", "string"], None), v="float", ts="long")
    v3 = record("Event", ts="int", v="int", id="string")
    one, two, three = (registered(registry.url, f"{topic}-value", each) for each in (V1, v2, v3))
    send([avro(one, V1, event("a", 0)), avro(three, v3, {"id": "c", "v": 3, "ts": 7})])
    send([avro(two, v2, {**event("b", 1, 2.5), "client": None, "more": "y"})], partition=1)
    small = job(include=["schema_id"])
    small.run()

    assert {row["id"]: (row["client"], row["v"], row["kafka_schema_id"]) for row in small.rows("kept")} == {
        "a": ("a", 1.0, one),
        "b": (None, 2.5, two),
        "c": (None, 3.0, three),
    }


@pytest.mark.full
def test_a_schema_that_appears_while_the_job_stands_or_runs_needs_no_new_plan(job, send, registry, topic):
    one = registered(registry.url, f"{topic}-value", V1)
    send([avro(one, V1, event("a", 0))])
    small = job(records_per_batch=1)
    small.run()
    v2 = record("Event", id="string", client="string", v="double", ts="long", added=("int", 0))
    two = registered(registry.url, f"{topic}-value", v2)
    send([avro(two, v2, {**event("b", 1), "added": 1}), avro(one, V1, event("c", 2))])
    small.run()

    assert small.ids() == ["a", "b", "c"]


def test_what_cannot_be_read_is_rejected_with_its_bytes_and_a_reason(job, send, registry, topic):
    one = registered(registry.url, f"{topic}-value", V1)
    whole = avro(one, V1, event("good", 0))
    other = record("Event", id="string", v="string", ts="long")
    text, nothing = registered(registry.url, f"{topic}-other", other), record("Other", x="int")
    foreign = registered(registry.url, f"{topic}-foreign", nothing)
    json_id = registered(registry.url, f"{topic}-json", '{"type": "object", "properties": {}}', "JSON")
    broken = {
        b'{"id": "json"}': "not in the registry's wire format (begins with 0x7b)",
        b"\0\0\0": "too short for a schema id",
        b"": "too short for a schema id",
        framed(999_999, b"x"): "unknown schema 999999",
        b"\0\xff\xff\xff\xffx": "unknown schema -1",
        whole[:-3]: f"broken record of schema {one}",
        framed(one, b""): f"broken record of schema {one}",
        whole + b"\0": f"bytes after the record of schema {one}",
        framed(one, b"\xfe\xff\xff\xff\x0f" + b"x" * 20): f"broken record of schema {one}",  # a text of two gigabytes
        avro(text, other, {"id": "t", "v": "1", "ts": 1}): f"schema {text} does not fit the job: v: ",
        avro(foreign, nothing, {"x": 1}): f"schema {foreign} does not fit the job: it has none of the columns",
        framed(json_id, b"{}"): f"schema {json_id} is of the type JSON, not AVRO",
    }
    send([whole, None, *broken])
    small = job()
    result = small.run()

    assert small.ids() == ["good"]
    found = {
        base64.b64decode(row["original_base64"]): row["reason"]
        for row in small.rows("rejected")
        if row["original_base64"] is not None
    }
    assert found.keys() == broken.keys()
    assert {value: found[value] for value in broken if not found[value].startswith(broken[value])} == {}
    assert [row["reason"] for row in small.rows("rejected") if row["original_base64"] is None] == ["no value (a tombstone)"]
    assert result.account.total == result.account_input == len(broken) + 2


@pytest.mark.parametrize("own", [False, True])  # with an alias: what the writer calls it is not what the reader does
def test_a_version_that_counts_event_time_in_another_unit_is_rejected(job, send, registry, topic, own):
    """Avro calls it compatible, and the watermark would leap a thousandfold."""

    name = "stamp" if own else "TS"

    def counting(unit: str) -> dict[str, Any]:
        time = {"type": "long", "logicalType": f"timestamp-{unit}"}
        return record("Event", id="string", client="string", v="double", **{name: time})

    millis, micros = (registered(registry.url, f"{topic}-value", counting(unit)) for unit in ("millis", "micros"))
    plain = record("Event", id="string", client="string", v="double", **{name: "long"})

    def written(schema: int, row: dict[str, Any], factor: int = 1) -> bytes:
        return avro(schema, plain, {**row, name: factor * row["ts"]})

    send([written(millis, event("a", 0)), written(micros, event("b", 1), 1_000)])
    small = job(schema_file="reader.avsc") if own else job()
    reader = record("Event", id="string", client="string", v="double", ts="long")
    reader["fields"][-1]["aliases"] = ["stamp"]
    (small.folder / "reader.avsc").write_text(json.dumps(reader))
    small.run()

    assert small.ids() == ["a"]
    reason = f"schema {micros} does not fit the job: {'ts' if own else 'TS'}: event_time counts milliseconds, the writer's is timestamp-micros"
    assert [row["reason"] for row in small.rows("rejected")] == [reason]


def test_aliases_and_defaults_of_the_readers_own_schema_are_honoured(job, send, registry, topic):
    one = registered(registry.url, f"{topic}-value", V1)
    old = record("Former", name="string", v="double", ts="long")
    two = registered(registry.url, f"{topic}-value", old)
    reader = record("Event", id="string", client=("string", "nobody"), v="double", ts="long")
    reader["fields"][0]["aliases"] = ["name"]
    send([avro(one, V1, event("a", 0)), avro(two, old, {"name": "b", "v": 1.0, "ts": 1})])
    small = job(schema_file="reader.avsc")
    import json

    (small.folder / "reader.avsc").write_text(json.dumps(reader))
    small.run()

    assert {row["id"]: row["client"] for row in small.rows("kept")} == {"a": "a", "b": "nobody"}


def test_times_decimals_enums_and_nested_values_mean_what_their_writer_meant(job, send, registry, topic):
    millis, micros = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
    amount = {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}
    side = {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}
    legs = {"type": "array", "items": record("Leg", book="string", size=["null", "int"])}
    schemas = [
        record(
            "Event", id="string", v="double", ts=each, amount=amount, side=side, legs=legs, tags={"type": "map", "values": "long"}
        )
        for each in (millis, micros)
    ]
    wrong = record("Event", id="string", v="double", ts="long", amount=amount)
    scaled = record("Event", id="string", v="double", ts=millis, amount={**amount, "scale": 3})
    ids = [registered(registry.url, f"{topic}-{number}", each) for number, each in enumerate([*schemas, wrong, scaled])]
    from decimal import Decimal

    row = {"v": 1.0, "ts": START, "amount": Decimal("12.34"), "side": "SELL", "legs": [{"book": "x", "size": 1}], "tags": {"k": 5}}
    send([avro(each, schema, {"id": f"e{each}", **row}) for each, schema in zip(ids, schemas, strict=False)])
    send([avro(ids[2], wrong, {"id": "no", **row, "ts": 1}), avro(ids[3], scaled, {"id": "no", **row})])
    ddl = "id string, v double, ts timestamp, amount decimal(10,2), side string, legs array<struct<book string, size int>>, tags map<string,bigint>"
    small = job(
        binding={
            "schema": ddl.replace("book string", "book: string").replace("size int", "size: int"),
            "event_time": 'event_time = { column = "ts" }',
        }
    )
    small.run()

    assert [row["ts"] for row in small.rows("kept")] == [START, START]
    (found, _) = small.rows("kept")
    assert (found["amount"], found["side"], found["legs"], dict(found["tags"])) == (
        Decimal("12.34"),
        "SELL",
        [{"book": "x", "size": 1}],
        {"k": 5},
    )
    assert sorted(row["reason"] for row in small.rows("rejected")) == [
        f"schema {ids[2]} does not fit the job: ts: the column is timestamp, the writer's long",
        f"schema {ids[3]} does not fit the job: amount: the column is decimal(10,2), the writer's decimal(8,3)",
    ]


def test_rows_are_written_in_avro_and_their_schema_is_registered(job, send, registry, topic, kafka):
    one, out = registered(registry.url, f"{topic}-value", V1), made(kafka.url)
    send([avro(one, V1, event("a", 0)), avro(one, V1, event("b", 1))])
    tables = {
        "sink.kept": {
            "connector": "kafka",
            "servers": kafka.url,
            "topic": out,
            "format": "avro",
            "tombstone": "id = 'b'",
            "key": "id",
        }
    }
    small = job(binding={"sinks": {"rejected": "json"}, "tables": tables})
    small.run()

    values = {message.key(): message.value() for message in received(kafka.url, out)}
    assert values[b"b"] is None
    assert from_avro(registry.url, values[b"a"])["id"] == "a"
    written = struct.unpack(">I", values[b"a"][1:5])[0]
    assert '"name":"kept"' in schema_of(registry.url, written).replace(" ", "")


def test_a_schema_that_the_registry_refuses_stops_the_job_before_its_first_batch(job, send, registry, topic, kafka):
    one, out = registered(registry.url, f"{topic}-value", V1), made(kafka.url)
    send([avro(one, V1, event("a", 0))])
    asks_for(registry.url, f"{out}-value", "FORWARD") if registered(
        registry.url, f"{out}-value", record("kept", id="string", needed="string")
    ) else None
    tables = {"sink.kept": {"connector": "kafka", "servers": kafka.url, "topic": out, "format": "avro"}}
    small = job(binding={"sinks": {"rejected": "json"}, "tables": tables})

    problem = small.stopped(ConfigurationError)

    assert f"refuses the schema of {out}-value" in problem.message
    assert not (small.checkpoint() / "offsets").exists()
    assert received(kafka.url, out) == []


def test_a_schema_that_is_only_looked_up_must_be_there(job, send, registry, topic, kafka):
    out = made(kafka.url)
    sink = {"connector": "kafka", "servers": kafka.url, "topic": out, "format": "avro", "register": False}
    small = job(binding={"sinks": {"rejected": "json"}, "tables": {"sink.kept": sink}})

    assert "does not have its schema" in small.stopped(ConfigurationError).message


@pytest.mark.full
def test_a_registry_that_does_not_answer_stops_the_job_and_rejects_nothing(job, send, registry, topic):
    one = registered(registry.url, f"{topic}-value", V1)
    send([avro(one, V1, event("a", 0))])
    small = job(url="http://127.0.0.1:1")
    problem = small.stopped(RegistryUnavailable)
    small.binding.tables["registry"]["url"] = registry.url
    small.write()
    small.run()

    assert "does not answer" in problem.message
    assert (small.ids(), small.rows("rejected")) == (["a"], [])


@pytest.mark.full
@pytest.mark.parametrize(("status", "said"), [(500, "answers 500"), (401, "answers 401"), (404, "answers 404")])
def test_an_answer_that_is_none_stops_the_job_and_rejects_nothing(job, send, registry, topic, answering, status, said):
    """The real registry cannot be made to answer so: a stub does. Its 404 is that of a server which knows no registry."""
    one = registered(registry.url, f"{topic}-value", V1)
    send([avro(one, V1, event("a", 0))])
    small = job(url=answering(status))
    small.binding.tables["registry"] |= {"user": "me", "password": "secret-word"}
    small.write()

    with pytest.raises(StreamproofError) as problem:
        small.run()

    assert_readable(problem.value)
    assert isinstance(problem.value, RegistryError)
    assert said in problem.value.message
    assert "secret-word" not in str(problem.value)
    assert small.rows("rejected") == []


def test_a_reader_that_avro_cannot_have_is_refused_at_the_start(job):
    small = job(binding={"schema": "id string, `a b` double, ts long"})

    assert "cannot be read as Avro" in small.stopped(ConfigurationError).message
