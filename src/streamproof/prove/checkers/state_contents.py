"""Spark's state holds the open windows with their events, and each key that is remembered, with its expiry and what its rows are compared with."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OperatorState, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker, require_decided, require_read
from streamproof.prove.checkers.naming import difference
from streamproof.prove.checkers.wording import events, full_instant, others, window, window_to
from streamproof.prove.oracle.operators.twin import Grouped, Held, Rank
from streamproof.prove.oracle.ordering import is_held
from streamproof.prove.oracle.rows import WindowContents, WindowKey
from streamproof.prove.oracle.trace import Vector, event_id


class Code(StrEnum):
    """What is found here."""

    HELD_TWICE = "held-twice"
    WITHOUT_TIME = "without-time"
    STILL_IN_STATE = "still-in-state"
    NO_EVENT = "no-event"
    MISSING = "missing"
    COUNTED_AGAIN = "counted-again"
    OTHER_EVENTS = "other-events"
    FORGOTTEN = "forgotten-too-early"
    OTHER_EXPIRY = "other-expiry"
    WRONGLY_REMEMBERED = "wrongly-remembered"
    OTHER_NEWEST = "other-newest"


@checker("state-contents")
def state_contents(history: History) -> Iterator[Finding]:
    """Compare what Spark's state reader finds after recovery with the model's state."""
    for view in history.queries:
        if view.left.state is None and not view.model.query.stateful:
            continue
        require_read(view)
        assert view.left.state is not None
        if view.left.state.untimed:
            what = f"the state of {view.name} holds records in a window without a time"
            yield Finding(Code.WITHOUT_TIME, None, what, None, "none", f"{view.left.state.untimed:,}")
        for repeated in view.left.state.repeated:
            yield Finding(Code.HELD_TWICE, None, f"the state of {view.name} holds the {repeated} twice")
        require_decided(view)
        unknown = {state.holds for state in view.left.state.operators} - {node.twin.holds for node in view.model.query.keeping}
        if unknown:
            raise CannotTell(f"The state of {view.name} has an operator that the job does not ask for: it holds a {min(unknown)}.")
        for node, held, found in view.states:
            if node.twin.waits is not None:
                yield from _windows(history, view, node.twin.waits, (held.groups, found.groups), view.model.given_by(node))
            yield from _remembered(view, held, found)
            yield from _newest(view, held, found)


def _windows(
    history: History,
    view: QueryView,
    grouped: Grouped,
    held: tuple[Mapping[WindowKey, WindowContents], Mapping[WindowKey, Vector]],
    gone: Mapping[WindowKey, WindowContents],
) -> Iterator[Finding]:
    """Windows as they must be held and as they are; `gone` are those that were due."""
    last = view.batches[-1].batch if view.batches else None
    wanted, there = held
    expected = {(by, contents.end_us) for (by, _), contents in wanted.items()}
    for key, contents in wanted.items():
        found = there.get((key[0], contents.end_us))
        if found != contents.vector:
            yield _window(history, view, grouped, (key, contents), found, last)
    due_ends = {(by, contents.end_us) for (by, _), contents in gone.items()}
    for key in sorted(there.keys() - expected, key=repr):
        due = key in due_ends
        what = "a window is still in state though it was due" if due else "a window is in state that no event is in"
        code = Code.STILL_IN_STATE if due else Code.NO_EVENT
        yield Finding(code, None, what, last, "not in state", events(there[key]), None, window_to(grouped, *key))


def _window(
    history: History,
    view: QueryView,
    grouped: Grouped,
    wanted: tuple[WindowKey, WindowContents],
    found: Vector | None,
    last: int | None,
) -> Finding:
    key, contents = wanted
    named = window(grouped, key)
    expected = f"{named}  {events(contents.vector)}"
    if found is None:
        event = event_id(contents.traces[0])
        what = f"is missing in state{others(contents.count - 1)}"
        return Finding(Code.MISSING, event, what, last, expected, "no such window", None, named)
    why = difference(found.minus(contents.vector), contents.traces, history.offered.by_hash, history.groups(view, contents.traces))
    said = f"{named}  {events(found)}"
    if why is not None and why.lost:
        how = f"the event {history.came_in(view, why.lost[0])}"
        what = f"is missing in state{others(len(why.lost) - 1)}"
        return Finding(Code.MISSING, why.lost[0], what, last, expected, said, how, named)
    if why is not None and why.added:
        what = f"is in state once too often{others(len(why.added) - 1)}"
        return Finding(Code.COUNTED_AGAIN, why.added[0], what, last, expected, said, why.words or None, named)
    what = "a window in state holds other events than it must"
    return Finding(Code.OTHER_EVENTS, None, what, last, expected, said, None, named)


def _remembered(view: QueryView, held: Held, state: OperatorState) -> Iterator[Finding]:
    expected, last = held.keys, view.batches[-1].batch if view.batches else None
    for key, expiry in expected.items():
        found = state.keys.get(key)
        name = ", ".join(str(part) for part in key)
        if found is None:
            what = f"the state of {view.name} has forgotten {name} too early"
            wanted = f"remembered until {full_instant(expiry)}"
            yield Finding(Code.FORGOTTEN, None, what, last, wanted, "not in state", None, name)
        elif found != expiry and key not in view.model.ambiguous:
            what = f"the state of {view.name} remembers {name} for another time"
            wanted, there = f"until {full_instant(expiry)}", f"until {full_instant(found)}"
            yield Finding(Code.OTHER_EXPIRY, None, what, last, wanted, there, None, name)
    for key in sorted(state.keys.keys() - expected.keys(), key=repr):
        name = ", ".join(str(part) for part in key)
        what = f"the state of {view.name} remembers {name}, which it should not"
        there = f"until {full_instant(state.keys[key])}"
        yield Finding(Code.WRONGLY_REMEMBERED, None, what, last, "not in state", there, None, name)


def _newest(view: QueryView, held: Held, state: OperatorState) -> Iterator[Finding]:
    """What rows of a key are compared with; a key that is not there at all is found as forgotten."""
    last = view.batches[-1].batch if view.batches else None
    for key, wanted in held.newest.items():
        found = state.newest.get(key)
        right = found is not None and found.time_us == wanted.time_us and is_held(wanted.order, found.order)
        if key in state.keys and not right:
            name = ", ".join(str(part) for part in key)
            what = f"the state of {view.name} compares rows of {name} with another row than the newest"
            there = "no row" if found is None else _ranked(found)
            yield Finding(Code.OTHER_NEWEST, None, what, last, _ranked(wanted), there, None, name)


def _ranked(rank: Rank) -> str:
    return f"{rank.order} of {'no time' if rank.time_us is None else full_instant(rank.time_us)}"
