"""JSON Schema and Protobuf through a registry: read by the writer's schema, written by one of their own (C1)."""

import base64
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from services.registry import framed, registered, schema_of
from services.topics import made, received, sent
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.connectors.registry.client import RegisteredSchema
from streamproof.connectors.registry.protobuf import ProtobufReader, ProtobufWriter
from streamproof.errors import ConfigurationError, RegistryUnavailable, SinkError
from streamproof.lab import KafkaCluster
from streamproof.lab.registry import Registry

pytestmark = pytest.mark.service

PROTO = """syntax = "proto3";
message Other { int32 x = 1; }
message Event { optional string id = 1; optional string client = 2; optional double v = 3; optional int64 ts = 4; }
"""
NEWER = PROTO.replace("optional double v = 3;", "reserved 3; optional float v = 7; optional string more = 8;")
WINDOWED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    rows = events.transform(lambda rows: rows.select("id", "client", "v", "ts", F.array(F.struct("client")).alias("legs"),
                            F.expr("cast(v as decimal(10,2))").alias("exact"), F.create_map(F.col("id"), F.lit(5)).alias("tags")))
    return sp.Outputs(kept=rows)
"""


def closed(**kinds: str) -> str:
    properties = {name: {"type": [kind, "null"]} for name, kind in kinds.items()}
    return json.dumps({"type": "object", "properties": properties, "additionalProperties": False})


@pytest.fixture
def topic(kafka: KafkaCluster) -> str:
    """A topic of its own, of two partitions."""
    return made(kafka.url)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], kafka: KafkaCluster, registry: Registry, topic: str) -> Callable[..., SmallJob]:
    """`job("protobuf", include=[...])`: a job that reads the topic in the format."""

    def job(
        form: str, text: str = KEPT, *, sinks: Mapping[str, Any] | None = None, url: str = registry.url, **source: Any
    ) -> SmallJob:
        table = {"connector": "kafka", "servers": kafka.url, "topic": topic, **source}
        tables = {"source.events": table, "registry": {"url": url}, **(sinks or {})}
        files = {"kept": "parquet", "rejected": "json"} if sinks is None else {"rejected": "json"}
        return small_job(text, Binding(format=form, tables=tables, sinks=files))

    return job


def rejected(small: SmallJob) -> dict[bytes, str]:
    return {base64.b64decode(row["original_base64"] or ""): row["reason"] for row in small.rows("rejected")}


def test_json_is_held_against_the_schema_that_it_names(job, registry, topic, kafka):
    one = registered(registry.url, f"{topic}-a", closed(id="string", client="string", v="number", ts="integer"), "JSON")
    two = registered(registry.url, f"{topic}-b", closed(id="string", v="number", ts="integer", more="string"), "JSON")
    good = [framed(one, json.dumps(event("a", 0)).encode()), framed(two, b'{"id": "b", "v": 1, "ts": 1, "more": "x"}')]
    bad = {
        framed(one, b'{"id": "c", "v": "much", "ts": 1}'): f"schema {one} does not take the record (properties.v.type)",
        framed(one, b'{"id": "c", "v": 1, "ts": 1, "x": 1}'): f"schema {one} does not take the record (additionalProperties)",
        framed(one, b'{"id": '): f"broken record of schema {one}",
        framed(999_999, b"{}"): "unknown schema 999999",
        b"\0\xff\xff\xff\xff{}": "unknown schema -1",
        b'{"id": "c"}': "not in the registry's wire format (begins with 0x7b)",
        b"\0\0": "too short for a schema id",
        b"": "no value (a tombstone)",
    }
    sent(kafka.url, topic, [*good, *(value or None for value in bad)])
    small = job("json_schema", include=["schema_id", "offset"])
    result = small.run()

    assert {row["id"]: (row["client"], row["kafka_schema_id"]) for row in small.rows("kept")} == {"a": ("a", one), "b": (None, two)}
    assert rejected(small) == bad
    assert result.account.total == len(good) + len(bad)


@pytest.mark.full
def test_json_that_is_not_validated_must_still_fit_the_columns(job, registry, topic, kafka):
    one = registered(registry.url, f"{topic}-a", closed(id="string"), "JSON")
    bad = {
        framed(one, b'{"id": "b", "v": "much", "ts": 1}'): "does not fit the columns",
        framed(one, b'{"id": "c", "v": 1, "ts": 1} {}'): "more than a record in its value",
    }
    sent(kafka.url, topic, [framed(one, json.dumps(event("a", 0)).encode()), *bad])
    small = job("json_schema", validate=False)
    small.run()

    assert (small.ids(), rejected(small)) == (["a"], bad)


def test_protobuf_is_read_by_the_message_and_the_version_that_it_names(job, registry, topic, kafka):
    one, two = (registered(registry.url, f"{topic}-{len(each)}", each, "PROTOBUF") for each in (PROTO, NEWER))
    write, newer = (ProtobufWriter(each, "Event").opened() for each in (PROTO, NEWER))
    good = [
        framed(one, write(json.dumps(event("a", 0)).encode())),
        framed(two, newer(b'{"id": "b", "v": 2.5, "ts": 1, "more": "x"}')),
    ]
    bad = {
        framed(one, b"\x02\x02\x0a\x99"): f"broken record of schema {one}",
        framed(one, b"\x02\x0e"): f"schema {one} has no message at the record's indexes",
        framed(one, b""): f"schema {one} no message indexes",
        framed(999_999, b"\0"): "unknown schema 999999",
    }
    sent(kafka.url, topic, [*good, *bad])
    small = job("protobuf", include=["schema_id"])
    small.run()

    assert {row["id"]: (row["client"], row["v"], row["kafka_schema_id"]) for row in small.rows("kept")} == {
        "a": ("a", 1.0, one),
        "b": (None, 2.5, two),
    }
    assert rejected(small) == bad


@pytest.mark.parametrize("form", ["json_schema", "protobuf"])
def test_rows_are_written_by_a_schema_that_is_registered_for_them(job, registry, topic, kafka, form):
    out = made(kafka.url)
    sink = {"connector": "kafka", "servers": kafka.url, "topic": out, "format": form}
    one = registered(registry.url, f"{topic}-a", closed(id="string", client="string", v="number", ts="integer"), "JSON")
    sent(kafka.url, topic, [framed(one, json.dumps(event("a", 0)).encode())])
    small = job("json_schema", WINDOWED, sinks={"sink.kept": sink})
    small.run()

    ((value,),) = [[message.value()] for message in received(kafka.url, out)]
    schema_id = struct.unpack(">I", value[1:5])[0]
    text = schema_of(registry.url, schema_id)
    payload = (
        value[5:] if form == "json_schema" else ProtobufReader().opened(RegisteredSchema("PROTOBUF", text), {}).text(value[5:])
    )
    found = json.loads(payload)
    assert (found["id"], found["v"], found["legs"], found["tags"], found["ts"]) == (
        "a",
        1.0,
        [{"client": "a"}],
        {"a": 5},
        "2026-01-05T09:00:00.000000Z",
    )
    assert float(found["exact"]) == 1.0


@pytest.mark.full
def test_rows_that_a_schema_of_the_users_own_does_not_take_stop_the_job(job, registry, topic, kafka):
    out = made(kafka.url)
    sink = {"connector": "kafka", "servers": kafka.url, "topic": out, "format": "json_schema", "schema_file": "out.json"}
    one = registered(registry.url, f"{topic}-a", closed(id="string", v="number", ts="integer"), "JSON")
    sent(kafka.url, topic, [framed(one, b'{"id": "a", "v": 1, "ts": 1}')])
    small = job("json_schema", sinks={})
    (small.folder / "out.json").write_text('{"type": "object", "properties": {"client": {"type": "string"}}}')
    small.binding.tables["sink.kept"] = sink
    small.write()

    assert "does not take the record (properties.client.type)" in small.stopped(SinkError).message
    assert received(kafka.url, out) == []


def test_a_message_without_a_field_for_a_column_is_refused_at_the_start(job, registry, topic, kafka):
    sink = {"connector": "kafka", "servers": kafka.url, "topic": made(kafka.url), "format": "protobuf", "schema_file": "out.proto"}
    small = job("json_schema", sinks={})
    (small.folder / "out.proto").write_text(PROTO)
    small.binding.tables["sink.kept"] = sink
    small.write()

    assert "has no field id" in small.stopped(ConfigurationError).message


@pytest.mark.full
@pytest.mark.parametrize("form", ["json_schema", "protobuf"])
def test_a_registry_that_does_not_answer_stops_the_job_and_rejects_nothing(job, registry, topic, kafka, answering, form):
    sent(kafka.url, topic, [framed(1, b"{}")])
    small = job(form, url=answering(500))

    assert "answers 500" in small.stopped(RegistryUnavailable).message
    assert small.rows("rejected") == []
