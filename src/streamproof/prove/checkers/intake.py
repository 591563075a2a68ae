"""Every generated event was offered to the job exactly once (R22): batches are read from the run's own logs, so nothing else would see
a file that was skipped, or read twice.
"""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker
from streamproof.prove.checkers.wording import others


class Code(StrEnum):
    """What is found here."""

    NOT_WRITTEN = "not-written"
    OFFERED_AGAIN = "offered-again"
    NOT_OFFERED = "not-offered"
    UNKNOWN_FILE = "unknown-file"


@checker("intake")
def intake(history: History) -> Iterator[Finding]:
    """Compare the union of the batches with the generated events."""
    if not history.queries:
        raise CannotTell("There is no query to look at.")
    for trace in history.offered.in_no_file:
        yield Finding(Code.NOT_WRITTEN, trace, "was generated and written to no file")
    for view in history.queries:
        yield from _of_query(history, view)


def _of_query(history: History, view: QueryView) -> Iterator[Finding]:
    readers: dict[str, list[int]] = {}
    for outcome in view.batches:
        for name in outcome.read.files:
            readers.setdefault(name, []).append(outcome.batch)
    planned = {name: outcome.batch for outcome in view.model.batches if not outcome.read.effective for name in outcome.read.files}
    for name, traces in history.offered.traces_of_file.items():
        if view.files is not None and name not in view.files:
            continue
        batches = readers.pop(name, [])
        if len(batches) == 1 or not traces:
            continue
        first, more = traces[0], others(len(traces) - 1)
        if batches:
            how = f"{name} was read by batch {' and by batch '.join(str(batch) for batch in batches)}"
            what = f"was offered to {view.name} {len(batches)} times{more}"
            yield Finding(Code.OFFERED_AGAIN, first, what, batches[-1], "once", f"{len(batches)} times", how)
        else:
            batch = planned.get(name)
            how = f"no batch has read {name}" if batch is None else f"batch {batch} was to read {name}, and was never completed"
            yield Finding(Code.NOT_OFFERED, first, f"was never offered to {view.name}{more}", batch, "once", "never", how)
    for name, batches in readers.items():
        yield Finding(Code.UNKNOWN_FILE, None, f"{view.name} has read {name}, which is no file of its source", batches[0])
