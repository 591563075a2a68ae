"""Each rejected row is in the rejected output once, with its reason and its original bytes. No broken record passes."""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.core.file_formats import FILE_FORMATS, TYPED
from streamproof.prove.artifacts.history import History, OutputHistory, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.side_rows import compare
from streamproof.prove.scenario.generate import Event, Kind


class Code(StrEnum):
    """What is found here."""

    NOT_REJECTED = "not-rejected"
    OTHER_REASON = "other-reason"
    NO_REASON = "no-reason"
    BYTES_NOT_KEPT = "bytes-not-kept"


@checker("rejected-routing")
def rejected_routing(history: History) -> Iterator[Finding]:
    """Compare the rejected output with what the row-wise steps reject, and that with how the events were made."""
    for view in history.queries:
        yield from _let_through(history, view)
        for output in view.sides("rejected"):
            yield from _compare(history, view, output, by_batch=True)
            yield from _bytes(history, view, output)
    for made, view in history.home_made("rejected"):
        yield from _compare(history, view, made.main, by_batch=False)


def _compare(history: History, view: QueryView, output: OutputHistory, *, by_batch: bool) -> Iterator[Finding]:
    expected = {trace: outcome.batch for outcome in view.batches for trace in outcome.left_by("rejected", output.side.name)}
    yield from compare(history, view, output, expected, "rejected", lambda trace: _why(history, view, trace), by_batch=by_batch)


def _why(history: History, view: QueryView, trace: str) -> str:
    record, event = view.arrived.get(trace), history.events.get(trace)
    made = f"it was made {event.kind.replace('_', ' ')}" if event else "it is no event of the scenario"
    if trace in view.future:
        return f"{made}; by the clock that its batch was planned by it lies too far in the future"
    return f"{made}; rejected because: {record.reason}" if record is not None and record.reason else made


def _let_through(history: History, view: QueryView) -> Iterator[Finding]:
    """Records that cannot be read, or have no event time to go by, and were not rejected."""
    let_through = history.mistakes(view).let_through
    timed = view.model.query.event_time_column is not None
    for outcome in view.batches if let_through else ():
        for trace in outcome.traces:
            event = let_through.get(trace)
            if event is not None and (timed or event.kind is Kind.MALFORMED):
                what = f"was made {event.kind.replace('_', ' ')} and was not rejected by {view.name}"
                found, how = str(view.arrived[trace].fate), history.came_in(view, trace)
                yield Finding(Code.NOT_REJECTED, trace, what, outcome.batch, "rejected", found, how)


def _bytes(history: History, view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    """Rejected rows must say why, and keep the bytes that came in."""
    for row in output.rows:
        event, record = history.events.get(row.trace or ""), view.arrived.get(row.trace or "")
        if event is None:
            continue
        reason = row.values.get("reason")
        if record is not None and record.reason and reason != record.reason:
            what = "was rejected for another reason"
            yield Finding(Code.OTHER_REASON, event.trace, what, row.batch, record.reason, str(reason))
        elif not reason:
            wanted = record.reason if record else None
            yield Finding(Code.NO_REASON, event.trace, "was rejected without a reason", row.batch, wanted, "none")
        if row.original is None or (row.original != event.record and _is_line(history, event)):
            found = repr(row.original) if row.original is not None else "nothing"
            what = "was rejected and its original bytes are not kept"
            yield Finding(Code.BYTES_NOT_KEPT, event.trace, what, row.batch, repr(event.record), found)


def _is_line(history: History, event: Event) -> bool:
    """Whether the record stands in its file as these bytes; a file that says its types holds it otherwise."""
    file, _ = history.offered.files_of_trace.get(event.trace, ("", 0))
    return not file.endswith(tuple(FILE_FORMATS[name].ending for name in TYPED))
