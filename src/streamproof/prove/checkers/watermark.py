"""The watermark moves as the model predicts, and never back (R13)."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.wording import full_instant


class Code(StrEnum):
    """What is found here."""

    WENT_BACK = "went-back"
    NOT_PREDICTED = "not-predicted"


@checker("watermark")
def watermark(history: History) -> Iterator[Finding]:
    """Compare the watermark in the offset log of every batch with the one predicted from the event times read before it."""
    for view in history.queries:
        yield from _of_query(view)


def _of_query(view: QueryView) -> Iterator[Finding]:
    newest_ms = 0
    for outcome in view.model.batches:
        logged, predicted = outcome.read.watermark_ms, outcome.predicted_ms
        if logged < newest_ms:
            what = f"the watermark of {view.name} went back in batch {outcome.batch}"
            least = f"at least {full_instant(newest_ms * 1_000)}"
            yield Finding(Code.WENT_BACK, None, what, outcome.batch, least, full_instant(logged * 1_000))
        elif logged != predicted:
            what = f"the watermark of {view.name} in batch {outcome.batch} is not what the events before it lead to"
            wanted, there = full_instant(predicted * 1_000), full_instant(logged * 1_000)
            yield Finding(Code.NOT_PREDICTED, None, what, outcome.batch, wanted, there)
        newest_ms = max(newest_ms, logged)
