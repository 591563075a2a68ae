"""Faults on what a job has published: a batch is gone, or somebody else has published it.

The job must stop and say so, and change nothing; once the output is as it was, it goes on, exact. Each has fired if the disk was that
of the step, and the batch was there.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.core.phases import Phase, Side, StepName
from streamproof.errors import StoreEmptied, TwoDrivers
from streamproof.prove.artifacts.reading import LEDGER
from streamproof.prove.faults.on_files import Case, FileFault, middle_batch, require_same

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult

_ENOUGH = 3
"""Of so many batches one is between others: the oldest may go, as a retention does, and the newest is computed again."""


def _batch_gone(case: Case) -> "ChildResult":
    there = sorted(case.output.glob("batch=*"))
    if len(there) < _ENOUGH:
        case.fired = False
        return case.start()
    gone = there[-2]
    aside = case.outputs.with_name(f"gone-{gone.name}")
    gone.rename(aside)
    before = case.published()
    case.require_stopped_by(StoreEmptied, case.start())
    require_same("a job has gone on without a batch that it had published", before, case.published())
    aside.rename(gone)
    return case.start()


def _other_driver(case: Case) -> "ChildResult":
    ledger = case.output / f"batch={case.batch:06d}" / LEDGER
    if not ledger.is_file():
        case.fired = False
        return case.start()
    ours = ledger.read_text()
    entry = json.loads(ours)
    ledger.write_text(json.dumps({**entry, "manifest": "0" * len(entry["manifest"])}))
    before = case.published()
    case.require_stopped_by(TwoDrivers, case.start())
    require_same("a job has changed what another driver has published", before, case.published())
    ledger.write_text(ours)
    return case.start()


def _of_an_output(steps: Sequence[StepName]) -> list[StepName]:
    """Where the batches of outputs become visible."""
    published = (step for step in steps if step.phase is Phase.PUBLISH and step.side is Side.AFTER)
    return [step for step in published if not step.kind.endswith((".ledger", ".copy"))]


def _third(steps: Sequence[StepName]) -> StepName | None:
    """After the third publication of the first output that has so many."""
    by_output: dict[str, list[StepName]] = {}
    for step in _of_an_output(steps):
        by_output.setdefault(step.kind, []).append(step)
    return next((found[_ENOUGH - 1] for found in by_output.values() if len(found) >= _ENOUGH), None)


def _first_of_the_middle(steps: Sequence[StepName]) -> StepName | None:
    """After the first publication of the middle batch."""
    middle = middle_batch(steps)
    return next((step for step in _of_an_output(steps) if step.batch == middle), None)


FAULTS = (
    FileFault(
        "batch-gone",
        "the process dies, and an older batch of the output is gone until it is put back,",
        _third,
        _batch_gone,
        of_our_sinks=True,
    ),
    FileFault(
        "other-driver",
        "the process dies, and the batch was published by another driver",
        _first_of_the_middle,
        _other_driver,
        of_our_sinks=True,
    ),
)
