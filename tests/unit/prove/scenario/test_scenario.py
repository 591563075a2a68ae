"""The scenario file: what is wrong with it is said with line, key and the nearest valid name."""

from pathlib import Path

import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.scenario import load_scenario

EXAMPLE = Path(__file__).parents[4] / "examples" / "risk_exposure" / "scenario.toml"


def changed(tmp_path, old, new):
    text = EXAMPLE.read_text()
    assert old in text
    file = tmp_path / "scenario.toml"
    file.write_text(text.replace(old, new, 1))
    return file


def test_the_example_is_read():
    scenario = load_scenario(EXAMPLE.parent)

    assert (scenario.seed, scenario.events, scenario.batches, scenario.files_per_batch) == (7, 50_000, 5, 2)
    assert scenario.source["trades"].time_column == "ts"
    assert scenario.folder == EXAMPLE.parent


def test_seed_events_and_batches_can_be_replaced():
    scenario = load_scenario(EXAMPLE, seed=3, events=500, batches=3)

    assert (scenario.seed, scenario.events, scenario.batches) == (3, 500, 3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("delayed = 0.015", "delayd = 0.015", r'\[source.trades.disorder\] has no key "delayd". Did you mean "delayed"\?'),
        ('kind = "id"', 'kind = "idd"', r'\[source.trades.columns.trade_id\] kind is "idd". Did you mean "id"\?'),
        ('kind = "id", ', "", r'\[source.trades.columns.trade_id\] needs the key "kind"'),
        ("hot = 0.2", "hott = 0.2", r'\[source.trades.columns.client\] has no key "hott". Did you mean "hot"\?'),
        ("count = 40, ", "", r'\[source.trades.columns.client\] needs the key "count"'),
        ("malformed = 0.001", "malformed = 2", r"\[source.trades.faults\] malformed is 2.\nIt must be a share between 0 and 1"),
        ('"event time"', '"event tme"', r'\[expect\] results_by is "event tme". Did you mean "event time"\?'),
        ('"60 minutes"', '"60 minuts"', r'\[source.trades\] span is "60 minuts", which is not a duration'),
        ("files_per_batch = 2", "files_per_batch = 1", r"files_per_batch is 1.\nIt must be greater than or equal to 2"),
        ("{ notional = -1 }", "{ notionl = -1 }", r'invalid_values for "notionl", which is no column'),
        ("invalid_values", "# invalid_values", r"has invalid and no invalid_values"),
        ("min = 10", "min = 9000", r"has min 9000 above max 5000"),
        ("2026-01-05T09:00:00Z", "2026-01-05T09:00:00", r"which has no zone"),
        ("model.py:exposure", "model:exposure", r'\[expect\] model is "model:exposure"'),
        (
            "tolerance = 1e-9",
            'may_be_unexercised = "late"',
            r'\[expect\] may_be_unexercised is "late".\nIt must be a list of names',
        ),
        ("events = 50_000", "events = 7", r"7 events for 10 files"),
        ("events = 50_000", "", r'the scenario needs the key "events"'),
        ("seed = 7", "seed = ", r"not valid TOML"),
        ("seed = 7", 'environment = { TOTALS = "reddis" }', r'\[environment\] TOTALS is "reddis". Did you mean "redis"\?'),
        ("seed = 7", 'environment = { "A B" = "redis" }', r'has "A B".\nIt must be the name of an environment variable'),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, message):
    with pytest.raises(ScenarioError, match=message):
        load_scenario(changed(tmp_path, old, new))


def test_the_line_is_named(tmp_path):
    file = changed(tmp_path, "delayed = 0.015", "delayd = 0.015")
    line = next(number for number, text in enumerate(file.read_text().splitlines(), start=1) if "delayd" in text)

    with pytest.raises(ScenarioError, match=rf"scenario.toml line {line}: "):
        load_scenario(file)


def test_several_problems_are_said_together(tmp_path):
    file = changed(tmp_path, "delayed = 0.015", "delayd = 0.015")
    file.write_text(file.read_text().replace("late_at_most = 0.02", "late_at_most = 20"))

    with pytest.raises(ScenarioError, match=r'(?s)"delayd".*late_at_most is 20'):
        load_scenario(file)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ScenarioError, match=r"There is no .*scenario.toml"):
        load_scenario(tmp_path)
