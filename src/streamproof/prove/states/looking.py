"""Looks into a failing scenario: it is run once more, and its state is read as the crash has left it and after the recovery."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamproof.checkpoint.kinds import kind_of
from streamproof.prove.execution import Executor
from streamproof.prove.plan.planning import ScenarioPlan
from streamproof.prove.record.recording import Recording
from streamproof.prove.states.beside import Side, beside
from streamproof.prove.states.reading import look, sides_of

_FOLDER = "looked-into"
_CRASH, _AFTER = "crash", "after"
_UNREAD = "Spark cannot read it"


def state_of(executor: Executor, plan: ScenarioPlan, recordings: Mapping[str, Recording]) -> dict[str, Any]:
    """The state of a scenario at its crash and after the recovery, as the report has it: `scenario`, `recovered` (whether the job came back),
    `masked`, and `operators`, each with its query, its number, what it is (`word`), and both sides (`beside.beside`).

    The left side is the state after the newest batch that was committed at the crash, the right one that after the next batch. Where this was
    planned at the crash, it has the events that it has without a fault, and so must its state. Checkpoints are copied where they can be read at
    leisure: nothing of the scenario itself is touched.
    """
    subject = executor.subject
    folder = subject.folder / _FOLDER
    try:
        recovered = executor.look_into(
            plan,
            recordings,
            _copied(subject.layout.checkpoints, folder / _CRASH),
            _copied(subject.layout.checkpoints, folder / _AFTER),
        )
        operators = []
        for query in subject.layout.checkpoints:
            spark, left = subject.engine.spark, look(folder / _CRASH / query)
            following = left.committed + 1
            crash, after = sides_of(spark, left), sides_of(spark, look(folder / _AFTER / query), following)
            sound: dict[tuple[int, str], Side] = {}
            if left.planned:
                path = recordings[plan.recording].binding.folder / subject.layout.checkpoints[query]
                sound = sides_of(spark, look(path), following)
            for number, name in sorted({*crash, *after}):
                left_side, right_side = crash.get((number, name), Side()), after.get((number, name), Side())
                if subject.masked:
                    left_side, right_side = _without_values(left_side), _without_values(right_side)
                both = beside(left_side, right_side, sound.get((number, name)), masked=subject.masked)
                words = {"query": query, "operator": number, "word": kind_of(name).word, "row": kind_of(name).row}
                operators.append({**words, **both})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"scenario": plan.id, "recovered": recovered, "masked": subject.masked, "operators": operators}


def _without_values(side: Side) -> Side:
    """The same where no text of Spark's can bring a value."""
    return Side(side.batch, side.columns, side.keys, side.rows, side.count, _UNREAD if side.unread else "")


def _copied(checkpoints: Mapping[str, str], target: Path) -> Callable[[Path], None]:
    """Copies the checkpoints of a scenario, each below its query; a fault that is tried twice leaves the second ones."""

    def copy(folder: Path) -> None:
        for query, path in checkpoints.items():
            shutil.rmtree(target / query, ignore_errors=True)
            if (folder / path).is_dir():
                shutil.copytree(folder / path, target / query)

    return copy


__all__ = ["state_of"]
