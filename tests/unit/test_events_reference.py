"""The page on events has every kind with its fields, and no other."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from streamproof.runtime.watching.events import BatchCommitted, RunEvent

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^#|\Z)", PAGE, re.DOTALL | re.MULTILINE))
EVENTS = RunEvent.__subclasses__()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_stands_on_the_page_with_its_fields(event):
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS[event.kind], re.MULTILINE) == [field.name for field in fields(event)]


def test_each_kind_is_there_once_and_there_are_no_others():
    assert sorted(SECTIONS) == sorted(event.kind for event in EVENTS)


def test_the_example_hears(monkeypatch, capsys):
    committed = BatchCommitted("exposure", 3, {"input": 5_000}, {}, {"stage": 1.0, "publish": 0.25})
    monkeypatch.setattr("streamproof.run", lambda target, listener: listener(committed), raising=False)

    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})

    assert capsys.readouterr().out == "exposure 3 5000 0.25\n"


def test_kinds_never_change():
    """Whoever reads `run --events` looks for these."""
    assert {event.kind for event in EVENTS} == {
        "fetching",
        "spark-starting",
        "query-starting",
        "query-started",
        "batch-planned",
        "batch-staged",
        "batch-published",
        "publication-waiting",
        "watermark-leapt",
        "batch-committed",
        "query-finishing",
        "note",
        "query-ended",
        "run-ended",
        "run-failed",
    }
