"""Faults on what a job reads: a file that is planned is gone when the batch runs.

The job must stop and name the file, and publish nothing of the batch; once the file is back it goes on, exact. The file is
taken away before the job starts, so the fault has fired if the disk was that of the step.
"""

from typing import TYPE_CHECKING

from streamproof.core.phases import Phase
from streamproof.errors import DataError
from streamproof.prove.faults.on_files import Case, FileFault, after, require_same

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult


def _vanish(case: Case) -> "ChildResult":
    before, file = case.published(), case.inputs()[0]
    aside = case.outputs.parent / file.name
    file.rename(aside)
    try:
        stopped = case.start()
    finally:
        aside.rename(file)
    case.require_stopped_by(DataError, stopped)
    require_same("something of a batch was published whose input is gone", before, case.published())
    return case.start()


FAULTS = (
    FileFault(
        "input-vanished",
        "the process dies and an input file of the batch is gone until it is put back,",
        after(Phase.PLAN, "offsets"),
        _vanish,
        alone=True,
    ),
)
