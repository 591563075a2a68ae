"""The reference page has every key of the two files and no other, and its examples are accepted."""

import re
from pathlib import Path

import pytest

from streamproof.config import RegistryConfig, beside, load, lookups, models, sinks, sources
from streamproof.prove.scenario import alerts, scenario

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
CONFIGURATION, SCENARIO = PAGE.split("## scenario.toml")
TABLES = [
    (CONFIGURATION, "### [job]", models.JobTable),
    (CONFIGURATION, "### [source.NAME]", sources.FilesSource),
    (CONFIGURATION, '`connector = "kafka"`, a source', sources.KafkaSource),
    (CONFIGURATION, '`connector = "rate"`, a source', sources.RateSource),
    (CONFIGURATION, "`event_time` is a table", sources.EventTime),
    (CONFIGURATION, "`csv` is a table", sources.CsvDialect),
    (CONFIGURATION, "### [registry]", RegistryConfig),
    (CONFIGURATION, "### [openlineage]", beside.OpenLineageConfig),
    (CONFIGURATION, "### [sink.NAME]", sinks.FilesSink),
    (CONFIGURATION, '`connector = "postgres"`', sinks.PostgresSink),
    (CONFIGURATION, '`connector = "kafka"`, a sink', sinks.KafkaSink),
    (CONFIGURATION, '`connector = "redis"`', sinks.RedisSink),
    (CONFIGURATION, '`connector = "http"`', sinks.HttpSink),
    (CONFIGURATION, "### [table.NAME]", lookups.FilesTable),
    (CONFIGURATION, '`connector = "postgres"`: a table or a view', lookups.PostgresTable),
    (CONFIGURATION, '`connector = "changes"`', lookups.ChangesTable),
    (CONFIGURATION, '`connector = "kafka"`: a table', lookups.KafkaTable),
    (CONFIGURATION, '`connector = "delta"`', lookups.DeltaTable),
    (SCENARIO, "### At the top", scenario.Scenario),
    (SCENARIO, "### [source.NAME]", scenario.SourceScenario),
    (SCENARIO, "`[source.NAME.disorder]`", scenario.Disorder),
    (SCENARIO, "`[source.NAME.rhythm]`", scenario.Rhythm),
    (SCENARIO, "`[source.NAME.faults]`", scenario.Faults),
    (SCENARIO, "### [table.NAME]", scenario.TableScenario),
    (SCENARIO, "### [expect]", scenario.Expect),
    (SCENARIO, "### [alerts]", alerts.Alerts),
]
WITH_TABLES_OF_THEIR_OWN = {"source", "expect", "alerts", "columns", "disorder", "rhythm", "faults"}
KINDS = {
    kind: table
    for table in (scenario.IdColumn, scenario.KeyColumn, scenario.NumberColumn, scenario.ChoiceColumn)
    for kind in [table.model_fields["kind"].annotation.__args__[0]]
} | {"event_time": scenario.EventTimeColumn}


def rows_below(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its own two lines."""
    below = text.split(heading, 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def keys_in(cell: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", cell)


@pytest.mark.parametrize(("text", "heading", "table"), TABLES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_table_has_the_keys_of_its_model(text, heading, table):
    keys = {field.alias or name for name, field in table.model_fields.items() if not field.exclude}

    assert {key for row in rows_below(text, heading) for key in keys_in(row[0])} == keys - WITH_TABLES_OF_THEIR_OWN - (
        {"table"} if table is scenario.Scenario else set()
    )


def test_a_kind_of_column_has_the_keys_of_its_model():
    rows = rows_below(SCENARIO, "`[source.NAME.columns]`")

    assert {keys_in(row[0])[0]: set(keys_in(row[1])) for row in rows} == {
        kind: set(table.model_fields) - {"kind"} for kind, table in KINDS.items()
    }


def test_the_examples_are_accepted(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE", "/lake")
    configuration, events, raised = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "job.py").write_text("")
    (tmp_path / "streamproof.toml").write_text(configuration)
    (tmp_path / "scenario.toml").write_text(events + raised)

    assert load(tmp_path).sink["exposure"].path == "/lake/exposure"
    assert load(tmp_path, profile="laptop").sink["exposure"].path == "out/exposure"
    made = scenario.load_scenario(tmp_path)
    assert made.events == 50_000
    assert made.alerts.asked_under("postgres-outage") == ("StreamproofOutputWaits",)
    assert f'schema = "{", ".join(made.source["trades"].columns)}' == re.sub(
        r" (?:string|double|long)\b", "", re.search(r'schema = "[^"]*', configuration)[0]
    )
