"""Faults on the clock of the machine: it is moved between two attempts of a batch.

The batch has the clock that its offset log says (R13), so the interrupted one decides as it did when it was planned, and the rest goes
by the clock of now.

- *clock-moved*: the batch was planned by a clock that was behind; where the job asks whether an event is in the future, by so much that
  the newest event of the batch was that then, and is not any more.
- *clock-moved-back*: it was planned by a clock that was two hours ahead.

Everything must be exact by the clock of the log. It fired if the log still has that clock after the recovery.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import parse_offsets
from streamproof.core.phases import Phase
from streamproof.prove.faults.on_files import Case, FileFault, after

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult

_HOURS_MS = 2 * 3_600_000


def _move_on(case: Case) -> "ChildResult":
    newest = case.newest_us()
    if newest is not None and case.max_future_us is not None:
        return _planned_at(case, (newest - case.max_future_us) // 1_000 - 1)
    return _planned_at(case, _clock_of(case) - _HOURS_MS)


def _move_back(case: Case) -> "ChildResult":
    return _planned_at(case, _clock_of(case) + _HOURS_MS)


def _planned_at(case: Case, clock_ms: int) -> "ChildResult":
    """Starts from a disk on which the batch was planned by this clock."""
    was, log = _clock_of(case), _log(case)
    log.write_text(log.read_text().replace(f'"batchTimestampMs":{was}', f'"batchTimestampMs":{clock_ms}', 1))
    result = case.start()
    case.fired &= _clock_of(case) == clock_ms != was
    return result


def _clock_of(case: Case) -> int:
    return parse_offsets(_log(case).read_text()).timestamp_ms


def _log(case: Case) -> Path:
    return case.checkpoint / "offsets" / str(case.batch)


_PLANNED = after(Phase.PLAN, "offsets")
FAULTS = (
    FileFault("clock-moved", "the process dies and the wall clock is moved on", _PLANNED, _move_on),
    FileFault("clock-moved-back", "the process dies and the wall clock is moved back", _PLANNED, _move_back),
)
