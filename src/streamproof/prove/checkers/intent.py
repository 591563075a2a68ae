"""Every event went where the generator meant it to go (R28).

The generator knows what it made: which records nobody can read, which break a requirement, which are copies, which come too late. That, and
the calls that the user's function made, decide here; what the product or its plan says of an event does not.
"""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

from streamproof.core.account import PLACES
from streamproof.core.rejections import Rejection, code_of
from streamproof.prove.artifacts.history import History, OutputRow, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker
from streamproof.prove.oracle.query import Node
from streamproof.prove.oracle.trace import events_of, together
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.scenario.intents import refused

_KEPT = tuple(name for name, place in PLACES.items() if place.stays)
_ORDINARY = (Kind.OK, Kind.DUPLICATE)
_REJECTED_AS: Mapping[Kind, tuple[Rejection, ...]] = {
    Kind.MALFORMED: (Rejection.RECORD,),
    Kind.MISSING_TIME: (Rejection.NO_TIME,),
    Kind.UNPARSEABLE_TIME: (Rejection.TIME_NOT_READABLE, Rejection.RECORD),
    Kind.FUTURE_TIME: (Rejection.TIME_IN_FUTURE,),
}
"""What an event that no source may let through is rejected as. A parser may be the first to meet a time that is none."""


class Code(StrEnum):
    """What is found here."""

    WRONGLY_REJECTED = "wrongly-rejected"
    NOT_REJECTED = "not-rejected"
    OTHER_REASON = "other-reason"
    WRONGLY_DUPLICATE = "wrongly-duplicate"
    NOT_DEDUPLICATED = "not-deduplicated"
    OTHER_SIDE_OF_EDGE = "other-side-of-the-edge"


Wrong = tuple[Code, str, str, str]
"""What is wrong with the fate of an event: its code, in words, what was expected, what was found."""


@checker("intent")
def intent(history: History) -> Iterator[Finding]:
    """Compare where each event went with what the generator made it as, and with the calls of the user's function."""
    rejected = rejected_rows(history)
    # Queries that share the rejected output have batches, and clocks, of their own (R14).
    future = {trace for view in history.queries for trace in view.future}
    for view in history.queries:
        if view.declared.root is None:
            raise CannotTell(f"Nobody has written down what the job asks for in {view.name}.")
        yield from _rejections(history, view, view.declared.root, rejected, future)
        yield from _copies(history, view, view.declared.root)
        yield from _meant(history, view)


def rejected_rows(history: History) -> Mapping[str, OutputRow]:
    """The rejected rows of all queries by trace: those that reject by the same steps share an output (R14)."""
    sides = [side for view in history.queries for side in view.sides("rejected")]
    return {row.trace: row for side in sides for row in side.rows if row.trace is not None}


def _batch(view: QueryView, trace: str) -> int | None:
    """The batch that has read an event; None if none has."""
    fate = view.model.fates.get(trace)
    return None if fate is None else fate[1]


def _rejections(
    history: History, view: QueryView, asked: Node, rejected: Mapping[str, OutputRow], future: Collection[str]
) -> Iterator[Finding]:
    judges = _has_conditions(asked) or not any(
        _has_conditions(other.declared.root) for other in history.queries if other.declared.root
    )
    for event, reason in _faulty_or_rejected(history, rejected):
        batch = _batch(view, event.trace)
        if batch is None or event.trace in future:  # of the future by the clock of its batch alone
            continue
        wrong = None
        if refused(event, view.time_of(event.trace), time_is_text=True):
            wrong = _of_unreadable(event, reason, asked)
        elif event.kind is Kind.INVALID and judges:
            wrong = _of_invalid(view, event, reason, asked)
        elif event.kind in _ORDINARY and reason is not None and not _admitted(history, reason):
            what = "was made ordinary and was rejected"
            wrong = (Code.WRONGLY_REJECTED, what, "no rejection but by a condition of the job", reason)
        if wrong is not None:
            code, what, expected, found = wrong
            how = history.came_in(view, event.trace)
            yield Finding(code, event.trace, f"{what} by {view.name}", batch, expected, found, how)


def _faulty_or_rejected(history: History, rejected: Mapping[str, OutputRow]) -> Iterator[tuple[Event, str | None]]:
    """The events that were made faulty, and the others that were rejected, with the reason: most events are neither."""
    others = [history.events[trace] for trace in rejected if trace in history.events]
    for event in [*history.offered.faulty, *(event for event in others if event.kind in _ORDINARY)]:
        row = rejected.get(event.trace)
        yield event, None if row is None else str(row.values.get("reason"))


def _has_conditions(asked: Node) -> bool:
    return any(node.twin.leaves_out for node in asked.walk())


def _admitted(history: History, reason: str) -> bool:
    """Whether a condition of some query of the job says so: they share the rejected output."""
    said = {one for view in history.queries if view.declared.root is not None for one in view.declared.root.reasons}
    return code_of(reason, said) is Rejection.CONDITION


def _of_unreadable(event: Event, reason: str | None, asked: Node) -> Wrong | None:
    """What is wrong with the fate of an event that no source may let through."""
    made = event.kind.replace("_", " ")
    if reason is None:
        return Code.NOT_REJECTED, f"was made {made} and was not rejected", "rejected", "it went on"
    codes = _REJECTED_AS[event.kind]
    if code_of(reason, asked.reasons) not in codes:
        what = f"was made {made} and was rejected for something else"
        return Code.OTHER_REASON, what, " or ".join(code.replace("-", " ") for code in codes), reason
    return None


def _of_invalid(view: QueryView, event: Event, reason: str | None, asked: Node) -> Wrong | None:
    """What is wrong with the fate of an event with values that break a requirement, as the scenario says."""
    if reason is None:
        fate = view.model.fates.get(event.trace, ("",))[0]
        if fate == "filtered":
            return None
        required = "; ".join(sorted(set(asked.reasons))) or "no requirement is there to reject it"
        return Code.NOT_REJECTED, "was made invalid and was not rejected", f"rejected by: {required}", "it went on"
    if code_of(reason, asked.reasons) is not Rejection.CONDITION:
        expected = " or ".join(sorted(set(asked.reasons)))
        return Code.OTHER_REASON, "was made invalid and was rejected for something else", expected, reason
    return None


def _copies(history: History, view: QueryView, asked: Node) -> Iterator[Finding]:
    """Of an event and its copies one goes on at most, where the job deduplicates; where it does not, none is a duplicate."""
    fates = view.model.fates
    if not any(node.twin.once for node in asked.walk()):
        if view.model.places["duplicate"].count:
            for trace, (fate, batch) in fates.items():
                if fate == "duplicate":
                    what = f"is a duplicate in {view.name}, which does not deduplicate"
                    yield Finding(Code.WRONGLY_DUPLICATE, trace, what, batch, "it counts", fate)
        return
    if view.model.query.pairs is not None:
        yield from _copies_of_rows(view)
        return
    # By an order it is not decided yet which of those stays that wait together.
    count = ("emitted",) if any(node.twin.order is not None for node in view.model.query.keeping) else _KEPT
    for copies in history.offered.copies.values():
        if len(copies) < 2:
            continue
        kept = [trace for trace in copies if fates.get(trace, ("",))[0] in count]
        for trace in kept[1:]:
            what = f"is a copy of {kept[0]}, and both count in {view.name}, which deduplicates"
            how = history.came_in(view, trace)
            yield Finding(Code.NOT_DEDUPLICATED, trace, what, _batch(view, trace), "a duplicate", fates[trace][0], how)


def _copies_of_rows(view: QueryView) -> Iterator[Finding]:
    """The same of the rows of a join: those are copies of each other that are of the same events. A copy of a record may be in a row of its own."""
    first: dict[str, str] = {}
    for outcome in view.batches:
        went_on = (row for node in view.model.query.keeping if node.twin.once for row in outcome.of(node).rows)
        for name in (together(row.traces) for row in went_on):
            known = first.setdefault(events_of(name), name)
            if known != name:
                what = f"is a copy of {known}, and both count in {view.name}, which deduplicates"
                yield Finding(Code.NOT_DEDUPLICATED, name, what, outcome.batch, "a duplicate", "it went on")


def _meant(history: History, view: QueryView) -> Iterator[Finding]:
    """Events at an edge of the watermark's, each with where it was meant to go.

    Only where the bound is the one that the generator had in mind: after a crash, and behind conditions that reject the newest events, it is
    another. So it is for events that a condition keeps out, or whose time a transform changes.
    """
    late = {row.trace for side in view.sides("late") for row in side.rows}
    for trace in history.offered.edges:
        event, record, batch = history.events[trace], view.arrived.get(trace), _batch(view, trace)
        edge = event.edge
        if edge is None or edge.late is None or view.name not in edge.queries or record is None or batch is None:
            continue
        comparable = record.fate == "passed" and record.time_us == event.time_us
        if comparable and view.model.by_batch[batch].bound_us == edge.bound_us and edge.late != (trace in late):
            meant, found = ("late", "in time") if edge.late else ("in time", "late")
            what = f"was made {edge.words} and is {found} in {view.name}"
            yield Finding(Code.OTHER_SIDE_OF_EDGE, trace, what, batch, meant, found)
