"""The table [registry], and which sources and sinks take it."""

from pathlib import Path

import pytest

from streamproof.config import load
from streamproof.errors import ConfigurationError

JOB = """
[job]
entry = "job.py:small"
[source.events]
connector = "kafka"
servers = "s:9092"
topic = "t"
schema = "id string"
"""


@pytest.fixture
def written(tmp_path: Path):
    def written(text: str, source: str = 'format = "avro"') -> Path:
        (tmp_path / "job.py").write_text("")
        (tmp_path / "streamproof.toml").write_text(f"{JOB}{source}\n{text}")
        return tmp_path

    return written


def test_sources_and_sinks_take_the_registry_of_the_file(written, monkeypatch):
    monkeypatch.setenv("REGISTRY_PASSWORD", "a-secret")
    folder = written(
        '[registry]\nurl = "http://r:8081/"\nuser = "me"\npassword = "${env:REGISTRY_PASSWORD}"\n'
        '[sink.out]\nconnector = "kafka"\nservers = "s:9092"\ntopic = "o"\nformat = "protobuf"\n'
        '[sink.plain]\nconnector = "kafka"\nservers = "s:9092"\ntopic = "p"\n'
    )
    config = load(folder)

    assert config.source["events"].registry == config.sink["out"].registry == config.registry
    assert config.sink["plain"].registry is None
    assert config.registry.address == "http://r:8081"
    assert config.registry.sent == {"Authorization": "Basic bWU6YS1zZWNyZXQ="}
    assert "a-secret" not in repr(config)


def test_a_profile_may_name_another(written):
    folder = written('[registry]\nurl = "http://r:8081"\n[profile.test.registry]\nurl = "http://test:1"\n')

    assert load(folder, profile="test").source["events"].registry.address == "http://test:1"


def test_a_schema_file_is_found_beside_the_configuration(written):
    folder = written('[registry]\nurl = "http://r:8081"\n', source='format = "avro"\nschema_file = "trade.avsc"')
    (folder / "trade.avsc").write_text("{}")

    assert load(folder).source["events"].schema_file == str(folder / "trade.avsc")


@pytest.mark.parametrize(
    ("text", "source", "said"),
    [
        ("", 'format = "avro"', 'has format "avro", and no registry is named'),
        ('[registry]\nurl = "r:8081"', 'format = "avro"', "url is no address"),
        ('[registry]\nurl = "http://me:word@r"', 'format = "avro"', "url holds a user or a password"),
        ('[registry]\nurl = "http://r"\nuser_name = "me"', 'format = "avro"', 'has no key "user_name"'),
        (
            '[registry]\nurl = "http://r"',
            'format = "avro"\nschema_file = "no.avsc"',
            "schema_file names no.avsc, and there is no such file",
        ),
        (
            '[registry]\nurl = "http://r"',
            'format = "json"\nschema_file = "no.avsc"',
            "schema_file is for the formats of a registry",
        ),
        ('[registry]\nurl = "http://r"', 'format = "arvo"', 'Did you mean "avro"?'),
    ],
)
def test_what_is_wrong_is_named(written, text, source, said):
    with pytest.raises(ConfigurationError) as problem:
        load(written(text, source))

    assert said in str(problem.value)
    assert "word@" not in str(problem.value)
