"""Every planned batch is completed, and every window is emitted once the watermark of a batch has passed it."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.wording import full_instant, window


class Code(StrEnum):
    """What is found here."""

    NEVER_COMPLETED = "never-completed"
    NOT_EMITTED = "not-emitted"


@checker("liveness")
def liveness(history: History) -> Iterator[Finding]:
    """Look for batches that were planned and never completed, and for windows that were due and did not come."""
    for view in history.queries:
        for outcome in view.model.batches:
            if not outcome.read.committed:
                what = f"batch {outcome.batch} of {view.name} was planned and never completed"
                found = "published, not committed" if outcome.read.published else "planned only"
                yield Finding(Code.NEVER_COMPLETED, None, what, outcome.batch, "committed", found)
        yield from _windows(view)


def _windows(view: QueryView) -> Iterator[Finding]:
    for outcome in view.batches:
        for key, contents in outcome.emitted.items():
            if key not in view.windows:
                watermark = full_instant(outcome.read.watermark_ms * 1_000)
                place = key[0], contents.end_us  # state names a window by its end
                held = any(place in state.groups for node, _, state in view.states if node is view.model.query.output)
                found = "in state" if held else "neither emitted nor in state"
                expected = f"emitted by batch {outcome.batch}, whose watermark is {watermark}"
                what = "a window that was due has not come"
                yield Finding(Code.NOT_EMITTED, None, what, outcome.batch, expected, found, None, window(view.grouped, key))
