"""Which services a proof starts, and where a job that is bound to a registry is bound instead."""

from pathlib import Path

import pytest

from streamproof.config import JobConfig, load
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.services import needed
from streamproof.prove.services.places import sink_at
from streamproof.prove.sources import proved

URLS = {"kafka": "127.0.0.1:1", "registry": "http://127.0.0.1:2"}


@pytest.fixture
def config(tmp_path: Path) -> JobConfig:
    (tmp_path / "job.py").write_text("")
    (tmp_path / "streamproof.toml").write_text(
        """
[job]
entry = "job.py:small"
[registry]
url = "http://production"
user = "me"
password = "word"
[source.events]
connector = "kafka"
servers = "production:9092"
topic = "t"
format = "avro"
schema = "id string"
[sink.out]
connector = "kafka"
servers = "production:9092"
topic = "o"
format = "protobuf"
subject = "shared"
register = false
[sink.plain]
connector = "kafka"
servers = "production:9092"
topic = "p"
"""
    )
    return load(tmp_path)


def test_a_job_with_schemas_needs_a_registry(config):
    assert needed(config, {}) == ("kafka", "registry")
    assert needed(config.model_copy(update={"source": {}, "sink": {"plain": config.sink["plain"]}}), {}) == ("kafka",)


def test_a_proof_touches_no_registry_of_the_configuration(config):
    binding = ScenarioBinding("/disk", Path("/disk"), {"events": "events"}, None, 10, URLS)
    source, out = proved("events", config.source["events"]).at(binding), sink_at("out", config.sink["out"], "one", URLS)

    assert {source.registry.address, out.registry.address} == {"http://127.0.0.1:2"}
    assert source.registry.sent == out.registry.sent == {}
    assert (out.topic, out.subject, out.registers) == ("one-out", None, True)
    assert sink_at("plain", config.sink["plain"], "one", URLS).registry is None
