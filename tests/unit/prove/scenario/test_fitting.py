"""A scenario that does not fit its job is found without running anything: a source, an event time, a function that is not there."""

import pytest

from streamproof.cli.main import main
from streamproof.config import load
from streamproof.errors import StreamproofError
from streamproof.prove.scenario.fitting import look_at_scenario


@pytest.fixture
def job(tmp_path):
    assert main(["init", str(tmp_path / "my_job")]) == 0
    return tmp_path / "my_job"


def test_a_scenario_that_fits(job):
    assert look_at_scenario(load(job)).endswith("scenario.toml, 1,000 events")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[source.trades", "[source.trade", 'the scenario has no [source.trades]. Did you mean "trade"?'),
        ('ts = { kind = "event_time" }', 'at = { kind = "event_time" }', '[source.trades.columns] has at as kind "event_time".'),
        ('ts = { kind = "event_time" }', "", '[source.trades.columns] has no column as kind "event_time".'),
        (
            '"model.py:exposure"',
            '"modle.py:exposure"',
            "[expect] model names modle.py, and there is no such file beside the scenario.",
        ),
        (
            '"model.py:exposure"',
            '"model.py:exposur"',
            'names "exposur", and model.py has no such function. Did you mean "exposure"?',
        ),
        ('"model.py:fate"', '"model.py:fat"', '[expect] fate names "fat", and model.py has no such function. Did you mean "fate"?'),
    ],
)
def test_what_a_scenario_misses_is_named_with_its_file(job, old, new, said):
    file = job / "scenario.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))

    with pytest.raises(StreamproofError) as raised:
        look_at_scenario(load(job))

    assert said in raised.value.message
    assert "scenario.toml: " in raised.value.message


def test_a_function_that_is_brought_by_other_means_is_no_mistake(job):
    (job / "model.py").write_text("from rules import *\n\nif True:\n    from rules import exposure\n")

    look_at_scenario(load(job))
