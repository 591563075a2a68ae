"""Late rows leave by the late output: exactly those at or behind the bound (R10)."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.side_rows import compare
from streamproof.prove.checkers.wording import full_instant


class Code(StrEnum):
    """What is found here, beside what `side_rows` finds."""

    OTHER_WINDOW = "late-for-another-window"


@checker("late-routing")
def late_routing(history: History) -> Iterator[Finding]:
    """Compare the late output with the event-time model, batch by batch.

    The model knows the bound of every batch from the offset log, so a batch boundary that a crash has moved is not a finding; a row
    on the wrong side of the bound is. A main output that is called "late" is held to what its name says.
    """
    for view in history.queries:
        output = view.side("late")
        if output is not None:
            yield from _compare(history, view, output, by_batch=True)
    for made, view in history.home_made("late"):
        yield from _compare(history, view, made.main, by_batch=False)


def _compare(history: History, view: QueryView, output: OutputHistory, *, by_batch: bool) -> Iterator[Finding]:
    expected = {trace: outcome.batch for outcome in view.batches for trace in outcome.late}
    times = Counter(trace for outcome in view.batches for trace in outcome.late)
    yield from compare(history, view, output, expected, "late", lambda trace: _why(view, trace), by_batch=by_batch, times=times)
    if view.model.shape.window is not None and view.model.shape.window.several:
        yield from _for_other_windows(view, output)


def _for_other_windows(view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    """Where windows overlap a late row names the window that it is late for."""
    pairs = ((outcome.batch, *pair) for outcome in view.batches for pair in zip(outcome.late, outcome.late_ends, strict=True))
    wanted = {(trace, end): batch for batch, trace, end in pairs}
    found = {(row.trace, int(row.values["window_end"])): row.batch for row in output.rows if row.trace is not None}
    of_number = Counter(trace for trace, _ in wanted) == Counter(trace for trace, _ in found)
    for trace, end in sorted(found.keys() - wanted.keys()) if of_number else ():
        what = f"was delivered in {output.name} for a window that it is not late for"
        yield Finding(
            Code.OTHER_WINDOW, trace, what, found[trace, end], "no row", f"window to {full_instant(end)}", _why(view, trace)
        )


def _why(view: QueryView, trace: str) -> str:
    """The event time beside the bound of the batch that read the record."""
    record, fate = view.arrived.get(trace), view.model.fates.get(trace)
    if record is None or fate is None:
        return "no batch has read it"
    if record.time_us is None:
        return "it has no event time"
    shape, bound_us = view.model.shape, view.model.by_batch[fate[1]].bound_us
    happened = f"its event time is {full_instant(record.time_us)}"
    if shape.deduplicate is None and shape.window is not None:
        ends = [full_instant(end) for _, end in shape.window.assign(record.time_us)]
        happened = f"its window ends at {ends[0]}" if len(ends) == 1 else f"its windows end from {ends[0]} to {ends[-1]}"
    return f"{happened}, the bound of batch {fate[1]} is {full_instant(bound_us)}"
