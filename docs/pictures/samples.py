"""The events of the worked examples, from the same files that `python examples/sample.py` writes: a picture shows what a run reads."""

import runpy
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


def batches(example: str) -> list[list[dict[str, Any]]]:
    """The events of each batch that can be read, with `at` as a datetime, and with the `source` where there are several."""
    found = runpy.run_path(str(EXAMPLES / example / "sample.py"))["BATCHES"]
    return [[*_events(batch)] for batch in found]


def _events(batch: Any) -> Iterator[dict[str, Any]]:
    if isinstance(batch, dict):
        yield from ({**event, "source": name} for name, events in batch.items() for event in _events(events))
    else:
        yield from ({**event, "at": datetime.fromisoformat(event["at"])} for event in batch if not isinstance(event, str))


def watermarks(example: str, delay: timedelta) -> list[datetime]:
    """The watermark that each batch leaves: the newest event seen, less the delay; of several sources the least. Each has an event in the first batch."""
    newest: dict[str, datetime] = {}
    found: list[datetime] = []
    for events in batches(example):
        for event in events:
            source = event.get("source", "")
            newest[source] = max(event["at"], newest.get(source, event["at"]))
        found.append(min(newest.values()) - delay)
    return found


def judged(example: str, delay: timedelta) -> Iterator[tuple[int, dict[str, Any], datetime]]:
    """Each event with its batch and its late bound: batches follow without a pause, so Spark takes the watermark of the last but one."""
    left = watermarks(example, delay)
    for number, events in enumerate(batches(example)):
        bound = left[number - 2] if number >= 2 else left[0] - timedelta(days=1)
        yield from ((number, event, bound) for event in events)
