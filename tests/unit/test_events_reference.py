"""The page on events has every kind with its fields, and no other."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from streamproof.connectors.lag import Lag
from streamproof.connectors.source import Limit
from streamproof.core.phases import Phase
from streamproof.runtime.watching import backup_events, death_events, planned_events, watched_events
from streamproof.runtime.watching.events import BatchCommitted, RunEvent
from streamproof.runtime.watching.figures import OperatorState, Times

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^#|\Z)", PAGE, re.DOTALL | re.MULTILINE))
assert backup_events.BackedUp.kind  # files of their own
assert planned_events.QueryPlanned.kind
assert death_events.QueryDied.kind
assert watched_events.WatchedStarted.kind
EVENTS = RunEvent.__subclasses__()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_stands_on_the_page_with_its_fields(event):
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[event.kind], re.MULTILINE) == [field.name for field in fields(event)]


@pytest.mark.parametrize(
    ("kind", "field", "names"),
    [
        ("batch-planned", "limits", [field.name for field in fields(Limit)]),
        ("hot-key", "partitions", [field.name for field in fields(Times)]),
        ("batch-committed", "lag", [field.name for field in fields(Lag)]),
        ("batch-committed", "state", [field.name for field in fields(OperatorState)]),
        ("batch-committed", "phases_ms", [str(phase) for phase in Phase if phase not in (Phase.START, Phase.MAINTENANCE)]),
    ],
)
def test_what_a_field_consists_of_stands_beside_it(kind, field, names):
    (said,) = re.findall(rf"^\| `{field}` \| (.*) \|$", SECTIONS[kind], re.MULTILINE)

    assert re.findall(r"`(\w+)`", said) == names


def test_each_kind_is_there_once_and_there_are_no_others():
    assert sorted(SECTIONS) == sorted(event.kind for event in EVENTS)


def test_the_example_hears(monkeypatch, capsys):
    committed = BatchCommitted("exposure", 3, {"input": 5_000}, {}, None, {"stage": 1_000, "publish": 250})
    monkeypatch.setattr("streamproof.run", lambda target, listener: listener(committed), raising=False)

    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})

    assert capsys.readouterr().out == "exposure 3 5000 250\n"


def test_kinds_never_change():
    """Whoever reads `run --events` looks for these."""
    assert {event.kind for event in EVENTS} == {
        "fetching",
        "spark-starting",
        "query-starting",
        "query-planned",
        "query-started",
        "batch-planned",
        "table-read",
        "table-stays",
        "rule-rejected",
        "batch-staged",
        "batch-published",
        "publication-waiting",
        "watermark-leapt",
        "hot-key",
        "batch-committed",
        "backed-up",
        "backup-failed",
        "watched-started",
        "watched-heard",
        "watched-ended",
        "query-finishing",
        "note",
        "query-died",
        "query-stopped",
        "query-ended",
        "run-ended",
        "run-failed",
    }
