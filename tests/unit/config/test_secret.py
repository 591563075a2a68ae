"""What comes from the environment is used, and never shown."""

import copy
import json
import pickle

import pytest

from streamproof.config import redact
from streamproof.config.secret import SecretText, substitute
from streamproof.errors import ConfigurationError

SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def _secret(monkeypatch):
    monkeypatch.setenv("STREAMPROOF_TEST_SECRET", SECRET)
    monkeypatch.delenv("STREAMPROOF_TEST_UNSET", raising=False)
    monkeypatch.setattr("streamproof.config.secret._known", {})


def test_the_value_is_used(loaded):
    config = loaded(('"data/trades"', '"${env:STREAMPROOF_TEST_SECRET}/in"'))

    assert config.source["trades"].path == f"{SECRET}/in"
    assert config.resolve(config.source["trades"].path).endswith(f"/{SECRET}/in")


def test_no_representation_shows_it(loaded):
    config = loaded(
        ('"data/trades"', '"${env:STREAMPROOF_TEST_SECRET}/in"'),
        ("partitions = 2", 'partitions = "${env:STREAMPROOF_TEST_SECRET}"'),
    )

    for shown in (repr(config), str(config), repr(config.source), f"{config.source['trades']!r}", repr(copy.deepcopy(config))):
        assert SECRET not in shown
        assert "${env:STREAMPROOF_TEST_SECRET}" in shown
    restored = pickle.loads(pickle.dumps(config))
    assert restored.source["trades"].path == f"{SECRET}/in"
    assert SECRET not in repr(restored)


@pytest.mark.parametrize(
    "old",
    [
        '"files"',
        '"json"',
        '"milliseconds"',
        '"10 seconds", max',
        '"ts"',
        '"trade_id string, client string, notional decimal(10,2), ts long"',
        '"job.py:risk_exposure"',
        '"10 seconds"\n',
    ],
)
def test_no_error_shows_it(loaded, old):
    with pytest.raises(ConfigurationError) as raised:
        loaded((old, old.replace(old.split('"')[1], "${env:STREAMPROOF_TEST_SECRET}")))

    assert SECRET not in str(raised.value) + repr(raised.value) + repr(raised.value.__context__)
    assert "line" in raised.value.message


def test_a_missing_variable_names_file_line_key_and_variable(loaded):
    with pytest.raises(ConfigurationError) as raised:
        loaded(('"data/trades"', '"${env:STREAMPROOF_TEST_UNSET}"'))

    assert raised.value.message == (
        "my_job/streamproof.toml line 7: [source.trades] path needs the environment variable STREAMPROOF_TEST_UNSET, which is not set."
    )
    assert "export STREAMPROOF_TEST_UNSET=" in raised.value.remedy


def test_a_reference_of_another_form_is_refused_not_taken_literally(loaded):
    with pytest.raises(ConfigurationError, match=r"path holds \$\{HOME\}, which names no variable") as raised:
        loaded(('"data/trades"', '"${HOME}/trades"'))

    assert raised.value.remedy == "Write ${env:HOME}."


def test_any_text_can_be_cleared_of_it(loaded):
    loaded(('"data/trades"', '"${env:STREAMPROOF_TEST_SECRET}/in"'))

    assert redact(f"no such file: /x/{SECRET}/in") == "no such file: /x/${env:STREAMPROOF_TEST_SECRET}/in"
    assert redact("nothing secret") == "nothing secret"


def test_a_secret_text_is_its_value_and_not_its_representation():
    text = SecretText("value", "${env:X}")

    assert (text, f"{text}", repr(text)) == ("value", "value", "'${env:X}'")


def test_no_part_of_a_secret_schema_is_shown(loaded, monkeypatch):
    schema = '"trade_id string, client string, notional decimal(10,2), ts long"'
    for value in ("a hunter2type", "hunter2column string"):
        monkeypatch.setenv("STREAMPROOF_TEST_SECRET", value)
        with pytest.raises(ConfigurationError) as raised:
            loaded((schema, '"${env:STREAMPROOF_TEST_SECRET}"'))
        assert "hunter2" not in str(raised.value)
        assert "${env:STREAMPROOF_TEST_SECRET}" in str(raised.value)


def test_the_name_of_a_secret_entry_is_not_shown(loaded, monkeypatch):
    monkeypatch.setenv("STREAMPROOF_TEST_SECRET", "job.py:risk_exposure")

    config = loaded(
        ('"job.py:risk_exposure"', '"${env:STREAMPROOF_TEST_SECRET}"'),
        ('checkpoint = "checkpoints/risk_exposure"\n', 'checkpoint = "c"\n'),
    )

    assert config.name == "risk_exposure"
    assert "risk_exposure" not in repr(config)


def test_a_value_is_redacted_where_json_has_escaped_it():
    value = 'p\u00e4"ss\\word'
    substitute("${env:ODD}", {"ODD": value})

    assert redact(json.dumps({"where": value})) == '{"where": "${env:ODD}"}'
    assert redact(json.dumps({"where": value}, ensure_ascii=False)) == '{"where": "${env:ODD}"}'
