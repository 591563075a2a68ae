"""Every event counts once in the emitted rows. One that is lost or doubled is named."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputRow, QueryView, total
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.naming import Difference, difference
from streamproof.prove.checkers.wording import events, others, published, published_again, values, window
from streamproof.prove.oracle.rows import WindowContents, WindowKey
from streamproof.prove.oracle.trace import Vector, event_id


class Code(StrEnum):
    """What is found here."""

    DAMAGED_FILE = "damaged-file"
    LOST = "lost"
    PUBLISHED_AGAIN = "published-again"
    COUNTED_AGAIN = "counted-again"
    COUNTED_WRONGLY = "counted-wrongly"
    DOUBLED = "doubled"
    UNEXPECTED = "unexpected"
    OTHER_EVENTS = "other-events"
    NOT_DUE = "not-due"
    NO_EVENT = "no-event"
    NO_TRACE = "no-trace"


@checker("exactly-once")
def exactly_once(history: History) -> Iterator[Finding]:
    """Compare the emitted rows with the model: windows by hidden count and hash, other rows by their traces."""
    for view in history.queries:
        for problem in view.main.damaged:
            yield Finding(Code.DAMAGED_FILE, None, f"a published file of {view.main.name} cannot be read: {problem}")
        require_decided(view)
        if view.table.one_of_key is None:  # else a row takes the place of another, and newest-facts says which must be there
            yield from _windows(history, view) if view.windowed else _rows(history, view)


def _windows(history: History, view: QueryView) -> Iterator[Finding]:
    due = view.model.emitted
    for key, contents in due.items():
        rows = view.windows.get(key, ())
        off = view.sums.get(key, Vector()).minus(contents.vector)
        if off == Vector():
            continue
        yield from _lost_window(history, view, key, contents) if not rows else _off(history, view, key, contents, rows, off)
    for key, rows in view.windows.items():
        if key not in due:
            yield from _not_due(history, view, key, rows)


def _lost_window(history: History, view: QueryView, key: WindowKey, contents: WindowContents) -> Iterator[Finding]:
    batch = next(outcome.batch for outcome in view.batches if key in outcome.emitted)
    rows = view.main.by_batch.get(batch, ())
    event = event_id(contents.traces[0])
    yield Finding(
        Code.LOST,
        event,
        f"is lost{others(contents.count - 1)}: it is in no row of {view.main.name}",
        batch,
        expected=_expected(view, key, contents),
        found="no row of this window",
        how=f"batch {batch} was to emit the window and {f'published {len(rows):,} rows without it' if rows else 'has no published rows'}; "
        f"the event {history.came_in(view, contents.traces[0])}",
        key=window(view.grouped, key),
    )


def _off(
    history: History, view: QueryView, key: WindowKey, contents: WindowContents, rows: Sequence[OutputRow], off: Vector
) -> Iterator[Finding]:
    batch, grouped = rows[-1].batch, view.grouped
    expected, found = _expected(view, key, contents), "  and  ".join(_found(view, key, row) for row in rows)
    times = len(rows)
    if times > 1 and all(total([row]) == contents.vector for row in rows):
        word = "twice" if times == 2 else f"{times} times"
        how = f"{published(rows)}; the event {history.came_in(view, contents.traces[0])}"
        event = event_id(contents.traces[0])
        code, what = _doubled(rows, Code.COUNTED_AGAIN), f"is counted {word}{others(contents.count - 1)}"
        yield Finding(code, event, what, batch, expected, found, how, window(grouped, key))
        return
    why = difference(off, contents.traces, history.offered.by_hash, history.groups(view, contents.traces))
    if why is None:
        what = (
            f"{abs(off.count)} events too {'many' if off.count > 0 else 'few'} are in a window"
            if off.count
            else "a window holds other events"
        )
        code, what = _doubled(rows, Code.OTHER_EVENTS), f"{what}; which ones, its sum does not tell"
        yield Finding(code, None, what, batch, expected, found, published(rows), window(grouped, key))
        return
    yield from _named(history, view, key, contents, why, batch, (expected, found))


def _named(
    history: History,
    view: QueryView,
    key: WindowKey,
    contents: WindowContents,
    why: Difference,
    batch: int | None,
    sides: tuple[str, str],
) -> Iterator[Finding]:
    members, named = Counter(event_id(trace) for trace in contents.traces), window(view.grouped, key)
    for group, gone in ((why.lost, True), (why.added, False)):
        if not group:
            continue
        event, more = group[0], others(len(group) - 1)
        together = f"; all {len(group)} events {why.words}" if why.words and len(group) > 1 else ""
        how = f"the event {history.came_in(view, _trace(history, view, event))}{together}"
        if gone:
            code, what = Code.LOST, f"is lost{more}"
        elif members[event]:
            times = "twice" if members[event] == 1 else f"{members[event] + 1} times"
            code, what = Code.COUNTED_AGAIN, f"is counted {times}{more}"
        else:
            code, what = Code.COUNTED_WRONGLY, f"is counted{more} though it is {_fate(history, view, event)}"
        yield Finding(code, event, what, batch, *sides, how, named)


def _not_due(history: History, view: QueryView, key: WindowKey, rows: Sequence[OutputRow]) -> Iterator[Finding]:
    grouped, vector, batch = view.grouped, total(rows), rows[0].batch
    waiting = view.model.open.get(key)
    found = "  and  ".join(_found(view, key, row) for row in rows)
    if waiting is not None:
        event = event_id(waiting.traces[0])
        code, what = _doubled(rows, Code.NOT_DUE), f"is in a final row{others(waiting.count - 1)} though its window is still open"
        yield Finding(code, event, what, batch, "the window in state", found, published(rows), window(grouped, key))
        return
    why = difference(vector, (), history.offered.by_hash)
    event_named = why.added[0] if why and why.added else None
    what = (
        f"is counted though it is {_fate(history, view, event_named)}"
        if event_named
        else "a window was emitted that no event is in"
    )
    code = _doubled(rows, Code.COUNTED_WRONGLY if event_named else Code.NO_EVENT)
    yield Finding(code, event_named, what, batch, "no row of this window", found, published(rows), window(grouped, key))


def _rows(history: History, view: QueryView) -> Iterator[Finding]:
    """Rows without windows: traces, or event ids behind a deduplication that does not promise which copy stays."""
    identity = view.identity
    rows: dict[str, list[OutputRow]] = {}
    for row in view.main.rows:
        if row.trace is None:
            what = f"a row of {view.main.name} carries no trace id"
            yield Finding(Code.NO_TRACE, None, what, row.batch, found=values(row.values, list(row.values)))
        else:
            rows.setdefault(identity(row.trace), []).append(row)
    expected = {identity(trace): (trace, outcome.batch) for outcome in view.batches for trace in outcome.kept}
    for name, (trace, batch) in expected.items():
        if name not in rows:
            there = f"batch {batch} published {len(view.main.by_batch.get(batch, ())):,} rows without it"
            yield Finding(
                Code.LOST,
                name,
                f"is lost: it is in no row of {view.main.name}",
                batch,
                "one row",
                "none",
                f"it {history.came_in(view, trace)}; {there}",
            )
    for name, of_event in rows.items():
        if name not in expected:
            what = f"is in {view.main.name} though it is {_fate(history, view, name)}"
            code = _doubled(of_event, Code.UNEXPECTED)
            yield Finding(code, name, what, of_event[0].batch, "no row", f"{len(of_event)}", published(of_event))
        elif len(of_event) > 1:
            word = "twice" if len(of_event) == 2 else f"{len(of_event)} times"
            how = f"{published(of_event)}; the event {history.came_in(view, expected[name][0])}"
            code, what = _doubled(of_event, Code.DOUBLED), f"is in {view.main.name} {word}"
            yield Finding(code, name, what, of_event[-1].batch, "one row", f"{len(of_event)} rows", how)


def _doubled(rows: Sequence[OutputRow], otherwise: Code) -> Code:
    return Code.PUBLISHED_AGAIN if published_again(rows) else otherwise


def _expected(view: QueryView, key: WindowKey, contents: WindowContents) -> str:
    known = (view.bounded.windows or view.handwritten.windows or {}).get(key, {})
    said = values(known, view.grouped.aggregates) or events(contents.vector)
    return f"{window(view.grouped, key)}  {said}"


def _found(view: QueryView, key: WindowKey, row: OutputRow) -> str:
    return f"{window(view.grouped, key)}  {values(row.values, view.grouped.aggregates) or events(total([row]))}"


def _trace(history: History, view: QueryView, event: str) -> str:
    """The copy of an event that the model has kept, or the first one."""
    copies = history.copies(event)
    fates = view.model.fates
    return next((trace for trace in copies if fates.get(trace, ("",))[0] in ("emitted", "open_state")), copies[0])


def _fate(history: History, view: QueryView, event: str) -> str:
    places = {
        "open_state": "in an open window",
        "emitted": "of another window",
        "duplicate": "a duplicate",
        "unknown": "lost by the job",
    }
    found = [view.model.fates.get(trace, ("read by no batch", 0))[0] for trace in history.copies(event_id(event))]
    return " and ".join(dict.fromkeys(places.get(place, place) for place in found))
