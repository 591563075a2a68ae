"""What went wrong in a run, each with what to do next. The sentences stand where alerts and metrics have theirs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streamproof.core.notes import NoteCode
from streamproof.observe.metric import Metric
from streamproof.observe.metrics.account import LEAPS
from streamproof.observe.metrics.outputs import WAITING
from streamproof.observe.metrics.queries import DIED
from streamproof.observe.metrics.state import DROPPED, HOT, RULES, TABLE_STAYS
from streamproof.runtime.watching import events
from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.watched_events import WatchedEnded

MOST = 8
_LONGEST = 600
"""Of one text: what a store or a library says can be of any length."""


@dataclass(frozen=True)
class Trouble:
    """One thing that went wrong, or is worth a look.

    Parameters
    ----------
    code
        For programs: that of the event, of the note or of the error.
    batch
        The batch that it was in; None where it was in none.
    what, todo
        What it is, and what to do next; `todo` may be empty.
    times
        How often it came in a row.
    around
        What is known of where it came up: "reads: ...", "record: ...".
    """

    at: datetime
    code: str
    what: str
    todo: str = ""
    query: str = ""
    batch: int | None = None
    times: int = 1
    around: tuple[str, ...] = ()

    @property
    def same_as(self) -> tuple[str, str, str]:
        """Two that are the same here are one that came twice."""
        return self.code, self.query, self.what


_SAID_BY_AN_EVENT = {
    str(code) for code in (NoteCode.TABLE_STAYS, NoteCode.RULE_REJECTED, NoteCode.WATERMARK_LEAPT, NoteCode.HOT_KEY)
}


def trouble_of(event: RunEvent, at: datetime) -> Trouble | None:
    """What an event says went wrong; None where nothing did."""
    made = _MADE.get(type(event))
    return None if made is None else made(event, at)


def with_trouble(troubles: Sequence[Trouble], trouble: Trouble) -> tuple[Trouble, ...]:
    """The last ones, the newest first; one that is there already is counted, and comes first again."""
    short = replace(trouble, what=_cut(trouble.what), todo=_cut(trouble.todo), around=tuple(_cut(line) for line in trouble.around))
    same = [one for one in troubles if one.same_as == short.same_as]
    others = [one for one in troubles if one.same_as != short.same_as]
    return (replace(short, times=short.times + sum(one.times for one in same)), *others)[:MOST]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _todo(metric: Metric) -> str:
    return metric.alerts[0].todo if metric.alerts else metric.todo


def _waits(event: events.PublicationWaiting, at: datetime) -> Trouble | None:
    if not event.batches:
        return None
    return Trouble(at, event.kind, f"{event.output} does not take rows: {event.why}", _todo(WAITING), event.query)


def _stays(event: events.TableStays, at: datetime) -> Trouble:
    what = f"The table {event.table} could not be read, and its former version stays: {event.why}"
    return Trouble(at, event.kind, what, _todo(TABLE_STAYS), event.query, event.batch)


def _rejected(event: events.RuleRejected, at: datetime) -> Trouble:
    former = "its former condition goes on" if event.stays else "it does not apply"
    what = f"The rule {event.rule or 'without a name'} of {event.table} cannot be used, and {former}: {event.why}"
    return Trouble(at, event.kind, what, _todo(RULES), event.query, event.batch)


def _leapt(event: events.WatermarkLeapt, at: datetime) -> Trouble:
    what = f"The watermark leapt to {event.after:%Y-%m-%d %H:%M:%S} UTC: what comes with an older event time is late."
    return Trouble(at, event.kind, what, _todo(LEAPS), event.query, event.batch)


def _hot(event: events.HotKey, at: datetime) -> Trouble:
    what = f"One key of {', '.join(event.columns)} has {event.share:.0%} of the rows that come to {event.operator} (its hash: {event.key})."
    return Trouble(at, event.kind, what, _todo(HOT), event.query, event.batch)


def _note(event: events.Note, at: datetime) -> Trouble | None:
    if event.code in _SAID_BY_AN_EVENT:
        return None
    return Trouble(at, event.code, event.text, query=event.query)


def _failed(event: events.RunFailed, at: datetime) -> Trouble:
    failure = event.failure
    if failure is None:
        return Trouble(at, event.code, event.message)
    around = tuple(f"{word}: {said}" for word, said in failure.lines(event.message) if word != "in")
    return Trouble(at, event.code, event.message, failure.next, failure.query, failure.batch, around=around)


def _dropped(event: events.BatchCommitted, at: datetime) -> Trouble | None:
    where = [f"{place} {state.operator}" for place, state in enumerate(event.state) if state.dropped]
    if not where:
        return None
    what = f"Spark has dropped late rows at {' and '.join(where)}; they are in no output."
    return Trouble(at, "late-rows-dropped", what, _todo(DROPPED), event.query, event.batch)


def _died(event: WatchedEnded, at: datetime) -> Trouble | None:
    if event.error is None:
        return None
    return Trouble(at, "query-died", f"The query has died of {event.error}.", _todo(DIED), event.query)


_MADE: Mapping[type[RunEvent], Callable[[Any, datetime], Trouble | None]] = {
    events.PublicationWaiting: _waits,
    events.TableStays: _stays,
    events.RuleRejected: _rejected,
    events.WatermarkLeapt: _leapt,
    events.HotKey: _hot,
    events.Note: _note,
    events.RunFailed: _failed,
    events.BatchCommitted: _dropped,
    WatchedEnded: _died,
}
