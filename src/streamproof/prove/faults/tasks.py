"""Faults on a task of Spark: it fails once, after what it has written, and is tried again.

Everything must be exact: of the two attempts one counts, whatever the other has left behind. It fired if the recording holds
what two attempts of one task have done.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.core.phases import Phase, Side, StepName
from streamproof.prove.faults.on_files import Case, FileFault, after
from streamproof.prove.record.live import Action

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult


def _try_again(case: Case) -> "ChildResult":
    with case.armed() as run:
        result = run.start()
        case.fired = run.fired and run.attempts(case.batch) > 1
    return result


def _rows(steps: Sequence[StepName]) -> StepName | None:
    """Before the first rows of the middle one of the batches that stage any: the task has them, the driver has not moved them."""
    staged = [step for step in steps if step.phase is Phase.STAGE and step.kind != "manifest" and step.side is Side.BEFORE]
    batches = sorted({step.batch for step in staged})
    return next((step for step in staged if step.batch == batches[len(batches) // 2]), None)


FAULTS = (
    FileFault(
        "task-retried",
        "the task that writes them fails and is tried again",
        after(Phase.WORK, "side"),
        _try_again,
        arms=Action.RETRY,
    ),
    FileFault("task-retried", "the task that has written them fails and is tried again", _rows, _try_again, arms=Action.RETRY),
)
