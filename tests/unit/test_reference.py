"""The reference page names every key of the two files, and says nothing that they refuse."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from streamproof.config import load, models
from streamproof.prove import scenario

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
CONFIGURATION, SCENARIO = PAGE.split("## scenario.toml")
TABLES: list[tuple[str, type[BaseModel], frozenset[str]]] = [
    (CONFIGURATION, models.JobTable, frozenset()),
    (CONFIGURATION, models.SourceConfig, frozenset()),
    (CONFIGURATION, models.EventTime, frozenset()),
    (CONFIGURATION, models.SinkConfig, frozenset()),
    (SCENARIO, scenario.Scenario, frozenset({"file"})),
    *((SCENARIO, table, frozenset()) for table in (scenario.SourceScenario, scenario.Disorder, scenario.Rhythm)),
    *((SCENARIO, table, frozenset()) for table in (scenario.Faults, scenario.Expect)),
    *(
        (SCENARIO, table, frozenset({"kind"}))
        for table in (scenario.IdColumn, scenario.KeyColumn, scenario.NumberColumn, scenario.ChoiceColumn)
    ),
]


@pytest.mark.parametrize(("text", "table", "internal"), TABLES, ids=lambda value: getattr(value, "__name__", ""))
def test_every_key_is_on_the_page(text, table, internal):
    keys = {field.alias or name for name, field in table.model_fields.items()} - internal
    nested = {"source", "expect", "columns", "disorder", "rhythm", "faults"}

    assert not [key for key in keys if f"`{key}`" not in text and not (key in nested and (f"[{key}" in text or f".{key}]" in text))]


def test_the_examples_are_accepted(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE", "/lake")
    configuration, events = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "job.py").write_text("")
    (tmp_path / "streamproof.toml").write_text(configuration)
    (tmp_path / "scenario.toml").write_text(events)

    assert load(tmp_path).sink["exposure"].path == "/lake/exposure"
    assert load(tmp_path, profile="laptop").sink["exposure"].path == "out/exposure"
    assert scenario.load_scenario(tmp_path).events == tomllib.loads(events)["events"]
