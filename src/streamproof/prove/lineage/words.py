"""The story of an event or of a row in a few lines, each a label and a text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from streamproof.core.clock import from_micros
from streamproof.prove.lineage.kept import KeptEvent
from streamproof.prove.lineage.moments import Kind, Moment, Way
from streamproof.prove.lineage.rows import Origin
from streamproof.prove.lineage.tracing import Elsewhere, Setting, Traced
from streamproof.prove.oracle.trace import record_of

Line = tuple[str, str]
_FEW = 5
_COLUMNS = 6
_LONGEST = 40
_LARGE = 1e15
_DAY_US = 86_400_000_000


def headline(traced: Traced) -> str:
    """ "trade t-003817 (e-003817)"."""
    event = traced.event
    return event.called if event.trace in event.called else f"{event.called} ({event.trace})"


def scenario_lines(setting: Setting) -> Iterator[Line]:
    """What happened in the scenario that is looked at."""
    if not setting.crash:
        yield "scenario", "a run without a fault"
        return
    yield "scenario", setting.scenario
    yield "crash", setting.crash


def event_lines(traced: Traced, setting: Setting, events: Mapping[str, KeptEvent]) -> Iterator[Line]:
    """The way of an event, in the order in which things happen."""
    several = len(traced.ways) > 1
    if not traced.ways:
        yield "not read", f"no query of this run reads {traced.event.source or 'its source'}"
    for way in traced.ways:
        if several:
            yield "query", way.query
        for moment in way.moments:
            yield _LABELS[moment.kind], _TEXTS[moment.kind](moment, _Names(events))
        yield from _attempts(way, setting)
    if not traced.known:
        yield (
            "not known",
            "what the job does with it: it is no job of Streamproof's, so no model says which events make a row",
        )
    yield from _elsewhere(traced.elsewhere)


def row_lines(origin: Origin, setting: Setting, events: Mapping[str, KeptEvent]) -> Iterator[Line]:
    """Where a row came from."""
    names = _Names(events)
    yield "row", values_in_words(origin.values)
    place = f"{origin.output}, {origin.row['in']}"
    yield "published", place + (f", given by batch {origin.by}" if origin.by is not None else "")
    if origin.traces:
        yield "made of", f"{_counted(len(origin.traces), 'event')}: {_events(origin, names)}"
    elif origin.by is None:
        yield "made of", "not known: the row carries no trace, and no model says which events make it"
    if origin.by is None and origin.traces:
        yield "WRONG", "the model has no such row"
    if origin.doubled:
        yield "WRONG", f"this row is in {origin.output} {origin.times} times; the model has {origin.wanted}"
    if origin.agrees is False:
        found, expected = origin.row["values"].get("_records"), len(origin.traces)
        yield "WRONG", f"the row was made of {found} records, the model has {expected} in it; their count or their hash sum differ"
    elif origin.agrees:
        yield "agrees", "count and hash sum of its records, which the row carries, are those of these events"
    yield from _attempts_of(origin.query, [batch for batch in (origin.by, origin.row["batch"]) if batch is not None], setting)


class _Names:
    """What people call events, in short."""

    def __init__(self, events: Mapping[str, KeptEvent]) -> None:
        self._events = events

    def __call__(self, trace: str) -> str:
        record = record_of(trace)
        event = self._events.get(record)
        if event is None:
            return trace
        copy = f"+{record.partition('+')[2]}" if "+" in record else ""
        return f"{event.ids[0]}{copy}" if event.ids else record

    def few(self, traces: Sequence[str]) -> str:
        shown = ", ".join(self(trace) for trace in traces[:_FEW])
        return shown if len(traces) <= _FEW else f"{shown} and {len(traces) - _FEW:,} more"


def _events(origin: Origin, names: _Names) -> str:
    by_batch: dict[int | None, list[str]] = {}
    for trace in origin.traces:
        by_batch.setdefault(origin.batches.get(trace), []).append(trace)
    parts = [
        f"{names.few(traces)} (read by batch {batch})" if batch is not None else f"{names.few(traces)} (read by no batch)"
        for batch, traces in by_batch.items()
    ]
    return "; ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def instant(us: int | None) -> str:
    """An instant, UTC: "09:00:58.112"; "none" where there is none."""
    if us is None:
        return "none"
    try:
        moment = from_micros(us)
    except (ValueError, OverflowError, OSError):
        return "a time that no calendar has"
    text = moment.strftime("%H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03d}" if moment.microsecond else text


def _day(us: int) -> str:
    try:
        return from_micros(us).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "a time that no calendar has"


def _window(window: Sequence[Any]) -> str:
    """ "c17 09:00:30-09:01:00"."""
    *key, start_us, end_us = window if len(window) == 3 else ((), *window)
    shown = _day if end_us - start_us >= _DAY_US else instant
    named = ", ".join(str(part) for part in (key[0] if key else ()))
    return f"{named} {shown(start_us)}-{shown(end_us)}".strip()


def values_in_words(values: Mapping[str, Any]) -> str:
    """The first values of a row: "client c17 · trades 3 · 2 more columns"."""
    texts = []
    for name, value in list(values.items())[:_COLUMNS]:
        text = _number(value) if isinstance(value, float) else str(value)
        texts.append(f"{name} {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}")
    more = f" · {_counted(len(values) - _COLUMNS, 'more column')}" if len(values) > _COLUMNS else ""
    return " · ".join(texts) + more


def _number(value: float) -> str:
    """With two decimals where these say all of it, as of money; else with as many digits as tell it from every other number."""
    text = f"{value:,.2f}"
    return text if abs(value) < _LARGE and float(text.replace(",", "")) == value else f"{value:,}"


def _others(count: int) -> str:
    return "alone" if count == 0 else "with 1 other" if count == 1 else f"with {count:,} others"


# -- a text for each kind of moment


def _arrived(moment: Moment, _: _Names) -> str:
    source = f" of {moment.about['source']}" if moment.about.get("source") else ""
    time = f" · event time {instant(moment.about['time_us'])}" if "time_us" in moment.about else ""
    return f"row {moment.about['row']} of {moment.about['file']}{source}, read by batch {moment.batch}{time}"


def _not_read(moment: Moment, _: _Names) -> str:
    if not moment.about["file"]:
        return "it was written to no file"
    return f"row {moment.about['row']} of {moment.about['file']}, which no batch has read"


def _no_effect(moment: Moment, _: _Names) -> str:
    return f"batch {moment.batch} was neither published nor committed, so nothing came of it"


def _passed(moment: Moment, _: _Names) -> str:
    return ", ".join(moment.about["operators"])


def _left(moment: Moment, names: _Names) -> str:
    about = moment.about
    side = str(about["side"]).replace(":", " ")
    text = f"{side} at {moment.operator} in batch {moment.batch}"
    if about.get("reason"):
        text += f": {about['reason']}"
    if about.get("kept"):
        text += f": {names(about['kept'])} goes on in its place"
    text += _too_late(moment)
    if about.get("traces"):
        text += f", in a row with {names.few(about['traces'])}"
    return text


def _too_late(moment: Moment) -> str:
    """Why a record is late: by which bound, and by how much."""
    window, bound_us, time_us = (moment.about.get(name) for name in ("window", "bound_us", "time_us"))
    if bound_us is None:
        return ""
    if window is not None:
        return f": window {_window(window)} had closed, since batch {moment.batch} takes no window that ends by {instant(bound_us)}"
    by = f"{(bound_us - time_us) / 1_000_000:,.1f} s too late, since " if time_us is not None and time_us < bound_us else ""
    return f": {by}batch {moment.batch} takes no event up to {instant(bound_us)}"


def _kept(moment: Moment, names: _Names) -> str:
    text = f"by {moment.operator} in batch {moment.batch}"
    dropped = [f"its copy {names(trace)} was dropped in batch {batch}" for trace, batch in moment.about.get("dropped", ())]
    return "; ".join([text, *dropped])


def _made(moment: Moment, names: _Names) -> str:
    others = moment.about["others"]
    beside = f" with {names.few(others)}" if others else " of it"
    return f"a row{beside}, by {moment.operator} in batch {moment.batch}"


def _grouped(moment: Moment, _: _Names) -> str:
    number = f", row {moment.about['number']} of this window" if moment.about.get("number") else ""
    others = _others(moment.about["others"])
    return f"{_window(moment.about['window'])} of {moment.operator} {others}, given by batch {moment.batch}{number}"


def _open(moment: Moment, _: _Names) -> str:
    still = "stays open for corrections" if moment.about["given"] else "is open, and has given no row yet"
    return f"{_window(moment.about['window'])} of {moment.operator} {still}, {_others(moment.about['others'])}"


def _waits(moment: Moment, _: _Names) -> str:
    return f"it waits in {moment.operator}, and no row has it yet"


def _remembered(moment: Moment, _: _Names) -> str:
    return f"{moment.operator} still holds it"


def _published(moment: Moment, _: _Names) -> str:
    return f"{moment.about['output']}, {moment.about['in']}: {values_in_words(moment.about['values'])}"


def _replaced(moment: Moment, _: _Names) -> str:
    return f"in {moment.about['output']} another row of its key stands in its place, or none any more"


def _not_an_output(moment: Moment, _: _Names) -> str:
    return f"the job makes no output of {str(moment.about['side']).replace(':', ' ')}: such records are counted in the account"


def _missing(moment: Moment, _: _Names) -> str:
    window = f" of {_window(moment.about['window'])}" if moment.about.get("window") else ""
    found = moment.about.get("times")
    return f"its row{window} in {moment.about['output']} is missing" + (
        f": {found} of {moment.about['expected']} were found" if found else ""
    )


def _doubled(moment: Moment, _: _Names) -> str:
    batches = sorted({str(batch) for batch in moment.about["batches"] if batch is not None})
    where = f", by batch {' and '.join(batches)}" if batches else ""
    return f"its row is in {moment.about['output']} {moment.about['times']} times{where}; the model has {moment.about['expected']}"


def _other_contents(moment: Moment, _: _Names) -> str:
    found, expected = moment.about["records"], moment.about["expected"]
    if found == expected:
        return f"that row was made of {found} records, as in the model, and not of the same ones"
    return f"that row was made of {found} records, the model has {expected} in it"


def _unexplained(moment: Moment, _: _Names) -> str:
    return f"{_published(moment, _)} is a row that the model does not have"


def _may_be_in(moment: Moment, _: _Names) -> str:
    more = f" (one of {moment.about['of']})" if moment.about["of"] > 1 else ""
    return f"{_published(moment, _)}{more}"


_WRONG = "WRONG"
_LABELS: Mapping[Kind, str] = {
    Kind.ARRIVED: "arrived",
    Kind.NOT_READ: _WRONG,
    Kind.NO_EFFECT: "then",
    Kind.PASSED: "passed",
    Kind.LEFT: "left by",
    Kind.KEPT: "kept",
    Kind.MADE: "made",
    Kind.GROUPED: "in window",
    Kind.OPEN: "in state",
    Kind.WAITS: "in state",
    Kind.REMEMBERED: "in state",
    Kind.PUBLISHED: "published",
    Kind.REPLACED: "replaced",
    Kind.NOT_AN_OUTPUT: "counted",
    Kind.MISSING: _WRONG,
    Kind.DOUBLED: _WRONG,
    Kind.OTHER_CONTENTS: _WRONG,
    Kind.UNEXPLAINED: _WRONG,
    Kind.MAY_BE_IN: "same id in",
}
_TEXTS: Mapping[Kind, Callable[[Moment, _Names], str]] = {
    Kind.ARRIVED: _arrived,
    Kind.NOT_READ: _not_read,
    Kind.NO_EFFECT: _no_effect,
    Kind.PASSED: _passed,
    Kind.LEFT: _left,
    Kind.KEPT: _kept,
    Kind.MADE: _made,
    Kind.GROUPED: _grouped,
    Kind.OPEN: _open,
    Kind.WAITS: _waits,
    Kind.REMEMBERED: _remembered,
    Kind.PUBLISHED: _published,
    Kind.REPLACED: _replaced,
    Kind.NOT_AN_OUTPUT: _not_an_output,
    Kind.MISSING: _missing,
    Kind.DOUBLED: _doubled,
    Kind.OTHER_CONTENTS: _other_contents,
    Kind.UNEXPLAINED: _unexplained,
    Kind.MAY_BE_IN: _may_be_in,
}


def _attempts(way: Way, setting: Setting) -> Iterator[Line]:
    yield from _attempts_of(way.query, way.batches, setting)


def _attempts_of(query: str, batches: Sequence[int], setting: Setting) -> Iterator[Line]:
    """Of the batches that have to do with it, those that ran twice: whose rows are published."""
    for batch in sorted(set(batches) & setting.twice):
        start = setting.starts.get(query, {}).get(batch)
        by = ""
        if start is not None:
            first = start == min(setting.starts[query].values())
            by = (
                "; what is published of it was staged by the first attempt"
                if first
                else "; what is published of it was staged after the recovery"
            )
        yield "attempts", f"batch {batch} ran twice: the crash ended the first attempt, and the recovery ran it again{by}"


def _elsewhere(elsewhere: Elsewhere) -> Iterator[Line]:
    if not elsewhere.others:
        return
    others = _counted(elsewhere.others, "other scenario")
    if elsewhere.wrong:
        names = elsewhere.wrong
        yield _WRONG, f"in {len(names):,} of {others}, such as {names[0]}: ask again with --scenario {names[0]}"
    right = [name for name in elsewhere.differing if name not in elsewhere.wrong]
    if right:
        yield (
            "elsewhere",
            f"in {len(right):,} of {others} it ends in another place, as it must there: their batches are others. Such as {right[0]}",
        )
    if not elsewhere.differing and not elsewhere.wrong:
        yield "elsewhere", f"it ends alike in {'the' if elsewhere.others == 1 else 'all'} {others}"


__all__ = ["event_lines", "headline", "instant", "row_lines", "scenario_lines", "values_in_words"]
