"""A part of what a run keeps says of its events what the whole says, and holds nothing that has not to do with them."""

from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.prove.artifacts.history import History
from streamproof.prove.lineage.kept import Kept
from streamproof.prove.lineage.part import Part
from streamproof.prove.lineage.tracing import FAULT_FREE, Run
from streamproof.prove.oracle.trace import event_id
from unit.prove.lineage.recorded import CRASHED, keep, reported
from unit.prove.lineage.test_every_operator import HISTORIES
from unit.prove.small import FILE, rows_of, with_rows


def spoilt(history: History) -> History:
    """The same where the first row of each output is there twice, and the last one is missing."""
    for name in {name for view in history.queries for name in view.left.outputs}:
        rows = rows_of(history, name)
        history = with_rows(history, name, [*rows[:1], *(replace(row, file=FILE) for row in rows[:1]), *rows[1:-1]])
    return history


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
@pytest.mark.parametrize("scenario", [FAULT_FREE, CRASHED])
def test_p9_a_part_says_of_each_of_its_events_what_the_whole_says(tmp_path: Path, history: History, scenario: str) -> None:
    keep(tmp_path, {FAULT_FREE: history, CRASHED: spoilt(history)})
    report = [reported(FAULT_FREE), reported(CRASHED, 1)]
    whole = Run(Kept(tmp_path), report, scenario)

    for trace in whole.events:
        part = Part(tmp_path, {event_id(trace)})
        (told,) = Run(part, report, scenario).traced([part.events[trace]])
        (known,) = whole.traced([whole.events[trace]])

        assert told == known


def test_a_part_holds_what_has_to_do_with_its_events_alone(tmp_path: Path) -> None:
    kept = keep(tmp_path, {FAULT_FREE: HISTORIES["once"]})

    (whole,), (part,) = kept.queries(FAULT_FREE), Part(tmp_path, {"e-3"}).queries(FAULT_FREE)

    def rows(query):
        return sum(len(step["rows"]) for batch in query.story["batches"] for step in batch["steps"].values())

    assert 0 < rows(part) < rows(whole)
    assert 0 < sum(len(output["rows"]) for output in part.outputs) < sum(len(output["rows"]) for output in whole.outputs)
