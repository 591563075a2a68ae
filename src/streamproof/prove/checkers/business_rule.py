"""Every event goes where the hand-written model sends it, which knows nothing of the job: rejected, filtered, or kept (R28)."""

from collections.abc import Iterator

from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.intent import rejected_rows
from streamproof.prove.history import History

_WHERE = {"rejected": "rejected", "filtered": "filtered"}


@checker("business-rule")
def business_rule(history: History) -> Iterator[Finding]:
    """Compare the fate of each event with what the model says of it by itself; late ones, duplicates and open ones are kept."""
    rejected = rejected_rows(history)
    for view in history.queries:
        fates = view.model.fates
        for outcome in view.batches if view.intended else ():
            for trace in outcome.traces:
                meant = (view.intended or {}).get(trace)
                fate = fates.get(trace, ("unknown",))[0]
                went = "rejected" if trace in rejected else _WHERE.get(fate, "kept")
                if meant is not None and meant != went and fate != "unknown":
                    row = rejected.get(trace)
                    how = history.came_in(view, trace) + (f"; rejected because: {row.values.get('reason')}" if row else "")
                    what = f"is {went} by {view.name}, and the hand-written model says otherwise"
                    yield Finding(trace, what, outcome.batch, meant, went, how)
