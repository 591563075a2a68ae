"""Late rows leave by the late output: exactly those at or behind the bound (R10)."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, QueryView
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
        for output in view.sides("late"):
            yield from _compare(history, view, output, by_batch=True)
    for made, view in history.home_made("late"):
        yield from _compare(history, view, made.main, by_batch=False)


def _compare(history: History, view: QueryView, output: OutputHistory, *, by_batch: bool) -> Iterator[Finding]:
    name = output.side.name
    expected = {trace: outcome.batch for outcome in view.batches for trace in outcome.left_by("late", name)}
    times = Counter(trace for outcome in view.batches for trace in outcome.left_by("late", name))
    yield from compare(history, view, output, expected, "late", lambda trace: _why(view, trace), by_batch=by_batch, times=times)
    query = view.model.query
    if by_batch and any(twin is not None and twin.late_by_window for twin in map(query.decides, query.sources)):
        yield from _for_other_windows(view, output)


def _for_other_windows(view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    """Where windows overlap a late row names the window that it is late for, unless it is late as a whole."""
    late = [row for outcome in view.batches for row in outcome.side("late", output.side.name)]
    pairs = [(trace, int(row.values["window_end"])) for row in late for trace in row.traces]
    wanted, found = Counter(pairs), Counter(_window_of(row) for row in output.rows if row.trace is not None)
    for trace, end in sorted(found - wanted, key=repr):
        what = f"was delivered in {output.name} for a window that it is not late for, or twice for one"
        yield Finding(Code.OTHER_WINDOW, trace, what, None, "one row for each window", _shown(end), _why(view, trace))
    for trace, end in sorted(wanted - found, key=repr):
        what = f"is late for a window and was not delivered in {output.name} for it"
        yield Finding(Code.OTHER_WINDOW, trace, what, None, _shown(end), "no row", _why(view, trace))


def _window_of(row: OutputRow) -> tuple[str, int]:
    """The trace of a late row and the end of its window; 0 where it names none."""
    end = row.values.get("window_end")
    return str(row.trace), end if isinstance(end, int) else 0


def _shown(end_us: int) -> str:
    return f"the window to {full_instant(end_us)}" if end_us else "no window_end"


def _why(view: QueryView, trace: str) -> str:
    """The event time beside the bound of the batch that read the record."""
    record, fate = view.arrived.get(trace), view.model.fates.get(trace)
    if record is None or fate is None:
        return "no batch has read it"
    if record.time_us is None:
        return "it has no event time"
    bound_us = view.model.by_batch[fate[1]].bound_us
    happened = f"its event time is {full_instant(record.time_us)}"
    twin = view.model.query.decides(record.source)
    kind = twin.decides if twin is not None else None
    if kind is not None and kind.late_by_time:
        return f"{happened}, the bound of batch {fate[1]} is {full_instant(bound_us)}"
    if kind is not None:
        ends = [full_instant(end) for _, end in kind.assign(record.time_us)]
        happened = f"its window ends at {ends[0]}" if len(ends) == 1 else f"its windows end from {ends[0]} to {ends[-1]}"
    return f"{happened}, the bound of batch {fate[1]} is {full_instant(bound_us)}"
