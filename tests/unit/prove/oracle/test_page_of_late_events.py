"""The page "When exactly is my event late?" says what the model says: its example, its picture and its table."""

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from unit.prove.small import ONCE, SECOND, WINDOW, at, model_of

DOCS = Path(__file__).parents[4] / "docs"
PAGE = DOCS / "explanations" / "when-is-my-event-late.md"
WATERMARKS = DOCS / "explanations" / "watermarks-and-windows.md"


@pytest.fixture
def picture(monkeypatch):
    """A module of the pictures, as the script that draws them imports it."""
    monkeypatch.setattr(sys, "path", [str(DOCS / "pictures"), *sys.path])
    return importlib.import_module


def late_by_model(shape, delay, batches):
    model = model_of(
        replace(shape, delay_us=delay * SECOND),
        [[at(f"b{number}-{event}", event) for event in events] for number, events in enumerate(batches)],
    )
    return [int(trace.split("-")[1]) for outcome in model.batches for trace in outcome.left_by("late")]


def late_by_picture(drawn, **how):
    return [event for batch in drawn for event in batch.events if batch.late(event, **how)]


def test_r10_the_picture_has_the_late_events_of_the_model(picture):
    late = picture("late_event")
    delay = late.LAG + late.LATENESS

    assert late_by_picture(late.batches(), deduplicated=False) == late_by_model(WINDOW, delay, late.BATCHES) == [25, 58]
    assert late_by_picture(late.batches(), deduplicated=True) == late_by_model(ONCE, delay, late.BATCHES) == [25, 35, 58, 62]


def test_the_table_of_the_page_has_the_numbers_of_the_picture(picture):
    late = picture("late_event")

    def said(seconds):
        return "none" if seconds is None else late.clock(seconds)

    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text().splitlines()
        if re.match(r"\| \d \|", line)
    ]
    for row, batch in zip(rows, late.batches(), strict=True):
        by_window = [event for event in batch.events if batch.late(event, deduplicated=False)]
        only_by_time = [event for event in batch.events if batch.late(event, deduplicated=True) and event not in by_window]
        assert row[1] == ", ".join(map(late.clock, batch.events))
        assert row[3:5] == [said(batch.watermark), said(batch.bound)]
        assert row[5:7] == [", ".join(map(late.clock, by_window)), ", ".join(map(late.clock, only_by_time))]


def test_r10_the_picture_of_the_watermark_has_the_late_events_of_the_model(picture):
    stairs = picture("explanations")

    assert late_by_picture(stairs.batches()) == late_by_model(WINDOW, stairs.LAG, stairs.BATCHES) == [29]
    assert "assert late == [29]" in WATERMARKS.read_text()
