"""Faults on the clock of the machine: it is moved between two attempts of a batch.

The batch has the clock that its offset log says (R13), so the interrupted one decides as it did when it was planned, and the rest goes
by the clock of now. The disk is that of a batch which was planned by a clock that was behind: where the job asks whether an event is in
the future, by so much that the newest event of the batch was that then and is not any more. It fired if the log still says so
behind the recovery.
"""

from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import parse_offsets
from streamproof.core.phases import Phase
from streamproof.prove.faults.on_files import Case, FileFault, after

if TYPE_CHECKING:
    from streamproof.prove.child import ChildResult

_HOURS_MS = 2 * 3_600_000


def _move_clock(case: Case) -> "ChildResult":
    log = case.checkpoint / "offsets" / str(case.batch)
    text = log.read_text()
    was = parse_offsets(text).timestamp_ms
    newest = case.newest_us()
    moved = was - _HOURS_MS
    if newest is not None and case.max_future_us is not None:
        moved = (newest - case.max_future_us) // 1_000 - 1
    log.write_text(text.replace(f'"batchTimestampMs":{was}', f'"batchTimestampMs":{moved}', 1))
    result = case.start()
    case.fired &= parse_offsets(log.read_text()).timestamp_ms == moved != was
    return result


FAULTS = (
    FileFault(
        "clock-moved",
        "the process dies and the wall clock is moved on",
        after(Phase.PLAN, "offsets"),
        _move_clock,
    ),
)
