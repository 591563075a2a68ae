"""Every event is rejected, filtered or kept as the hand-written model says, which knows nothing of the job (R28)."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.intent import rejected_rows

_LOST = ("unknown", 0)


class Code(StrEnum):
    """What is found here."""

    OTHER_FATE = "other-fate-than-the-model"


@checker("business-rule")
def business_rule(history: History) -> Iterator[Finding]:
    """Compare the fate of each event with what the model says of it by itself; late ones, duplicates and open ones are kept.

    An event that only the clock of its batch takes for a future one is left aside: the model knows no clock.
    """
    rejected = rejected_rows(history)
    for view in history.queries:
        if view.handwritten.fates is None:
            continue
        fates, known = view.model.fates, view.handwritten.fates.keys()
        went = dict.fromkeys(known & rejected.keys() & fates.keys(), "rejected")
        for outcome in view.batches:
            went |= {trace: "rejected" for trace in outcome.left_by("rejected") if trace in known}
            went |= {trace: "filtered" for trace in outcome.left_by("filtered") if trace in known and trace not in went}
        meant = {
            trace: fate
            for trace, fate in view.handwritten.fates.items()
            if fate != "kept" and fates.get(trace, _LOST)[0] != "unknown"
        }
        differ = {trace for trace in went.keys() | meant.keys() if went.get(trace) != meant.get(trace)}
        for trace in sorted(differ - view.future):
            there, row = went.get(trace, "kept"), rejected.get(trace)
            how = history.came_in(view, trace) + (f"; rejected because: {row.values.get('reason')}" if row else "")
            what = f"is {there} by {view.name}, and the hand-written model says otherwise"
            yield Finding(Code.OTHER_FATE, trace, what, fates[trace][1], meant.get(trace, "kept"), there, how)
