"""`streamproof schema check`: what fits, what does not and why, by a real registry (C2)."""

import json
from pathlib import Path
from typing import Any

import pytest

from full_tables import full
from services.registry import asks_for, record, registered
from streamproof.cli.main import main
from streamproof.core.ids import new_id, short
from streamproof.lab.registry import Registry

pytestmark = pytest.mark.service

ONE = record("Trade", id="string", notional="double")
TWO = record("Trade", id="string", notional="double", venue=(["null", "string"], None))


@pytest.fixture
def check(registry: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`check(schema, "--compatibility", "full")`: the exit code, and what was said on either stream."""

    def check(topic: str, schema: Any, *arguments: str, name: str = "new.avsc") -> tuple[int, str]:
        file = tmp_path / name
        file.write_text(schema if isinstance(schema, str) else json.dumps(schema))
        code = main(["schema", "check", str(file), "--topic", topic, "--registry", registry.url, *arguments])
        said = capsys.readouterr()
        return code, said.out + said.err

    return check


@pytest.fixture
def topic(registry: Registry) -> str:
    """A topic whose subject has two versions and asks for backward compatibility."""
    name = f"trades-{short(new_id())}"
    for each in (ONE, TWO):
        registered(registry.url, f"{name}-value", each)
    asks_for(registry.url, f"{name}-value", "BACKWARD")
    return name


def test_a_schema_that_fits_the_level_of_the_registry_passes(check, topic):
    code, said = check(topic, record("Trade", id="string", notional="double", desk=("string", "none")))

    assert code == 0, said
    assert "backward: it must read what the newest has written" in said
    assert said.count("compatible") == 3


def test_what_does_not_fit_is_named_by_version_and_field(check, topic):
    code, said = check(topic, record("Trade", id="string", notional="string", desk="string"))

    assert code == 1
    assert "notional: the reader has STRING, the writer DOUBLE" in said
    assert "desk: the writer does not have it, and the reader has no default" in said


@pytest.mark.parametrize(
    ("schema", "level", "code"),
    [
        (record("Trade", id="string"), "backward", 0),
        (record("Trade", id="string"), "forward", 1),
        *full(
            (record("Trade", id="string", notional="double", desk="string"), "forward", 0),
            (record("Trade", id="string", notional="double", desk="string"), "full", 1),
            (record("Trade", id="string", notional="double", desk=("string", "")), "full_transitive", 0),
            (record("Trade", id="string", notional="double", venue=(["null", "string"], None)), "full-transitive", 0),
            (record("Trade", id="string", notional="double", desk="string"), "none", 0),
        ),
    ],
)
def test_each_level_asks_in_its_direction(check, topic, schema, level, code):
    found, said = check(topic, schema, "--compatibility", level)

    assert found == code, said


@pytest.mark.full
def test_only_a_transitive_level_asks_about_older_versions(check, registry):
    name = f"trades-{short(new_id())}"
    for each in (record("Trade", id="string"), record("Trade", id="string", venue="string")):
        registered(registry.url, f"{name}-value", each)
    fresh = record("Trade", id="string", venue="string", desk=("string", ""))

    assert check(name, fresh, "--compatibility", "backward")[0] == 0
    code, said = check(name, fresh, "--compatibility", "backward_transitive")
    assert code == 1
    assert "version 1    not compatible   the new one cannot read it: venue: the writer does not have it" in said
    assert "(not asked)" in check(name, fresh, "--compatibility", "backward")[1]


def test_of_other_types_the_registry_decides_at_its_own_level(check, registry):
    name = f"trades-{short(new_id())}"

    def closed(kind: str) -> str:
        return json.dumps({"type": "object", "properties": {"a": {"type": kind}}, "additionalProperties": False})

    registered(registry.url, f"{name}-value", closed("integer"), "JSON")
    asks_for(registry.url, f"{name}-value", "BACKWARD")

    assert check(name, closed("number"), name="new.json")[0] == 0
    assert check(name, closed("string"), name="new.json")[0] == 1
    code, said = check(name, closed("number"), "--compatibility", "full", name="new.json")
    assert (code, "can be asked for Avro alone" in said) == (2, True)


def test_keys_have_a_subject_of_their_own_and_a_first_schema_is_fine_where_that_is_said(check, topic):
    code, said = check(topic, ONE, "--key")
    assert (code, "has no schema of" in said) == (2, True)
    assert check(topic, ONE, "--key", "--first")[0] == 0


@pytest.mark.parametrize(
    ("schema", "arguments", "name", "said"),
    [
        ("{", (), "new.avsc", "is no Avro schema"),
        (ONE, ("--compatibility", "backwards"), "new.avsc", 'Did you mean "backward"?'),
        ("x", (), "new.txt", "It ends in .avsc, .json, .proto"),
        ("syntax", (), "new.proto", "The new schema is PROTOBUF, and version 1"),
    ],
)
def test_wrong_usage_says_what_is_required(check, topic, schema, arguments, name, said):
    code, text = check(topic, schema, *arguments, name=name)

    assert (code, said in text) == (2, True), text


def test_a_registry_that_does_not_answer_or_is_none_is_named(tmp_path, capsys, answering):
    file = tmp_path / "new.avsc"
    file.write_text(json.dumps(ONE))
    for url, said, code in (
        ("http://127.0.0.1:1", "does not answer", 75),
        (answering(500), "answers 500", 75),
        (answering(403), "refuses us (403)", 1),
        (answering(404), "answers as no schema registry does", 1),
    ):
        assert main(["schema", "check", str(file), "--topic", "t", "--registry", url]) == code
        assert said in capsys.readouterr().err
    assert main(["schema", "check", str(file), "--topic", "t", "--registry", "nowhere"]) == 2


def test_the_registry_of_a_job_is_taken_with_its_profile(registry, topic, tmp_path, capsys):
    (tmp_path / "job.py").write_text("")
    text = '[job]\nentry = "job.py:small"\n[source.a]\nconnector = "files"\npath = "p"\nformat = "json"\nschema = "id string"\n'
    (tmp_path / "streamproof.toml").write_text(f'{text}[profile.test.registry]\nurl = "{registry.url}"\n')
    (tmp_path / "new.avsc").write_text(json.dumps(TWO))
    given = ["schema", "check", str(tmp_path / "new.avsc"), "--topic", topic, "--job", str(tmp_path)]

    assert main([*given, "--profile", "test"]) == 0
    assert main(given) == 2
    assert "No registry is named" in capsys.readouterr().err
