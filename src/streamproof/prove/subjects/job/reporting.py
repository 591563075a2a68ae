"""What a report says of a job of ours: title, what was not exercised or compared, the event-time picture, its outputs and guarantees."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from streamproof.config import JobConfig
from streamproof.connectors import services
from streamproof.connectors.files.sink import guarantee_at
from streamproof.core.account import PLACES
from streamproof.core.notes import Note, NoteCode
from streamproof.prove.artifacts.float_order import NotCompared, not_compared
from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.subjects.job.alerts import AlertsSeen
from streamproof.prove.subjects.job.arrivals import Arrivals
from streamproof.prove.subjects.job.exercised import Exercise, is_allowed, not_exercised
from streamproof.prove.subjects.job.writing import Written
from streamproof.runtime.binding.bound import BoundJob
from streamproof.runtime.spark.session import weaker_state

_POINTS = 3_000
NO_PICTURE: Mapping[str, Any] = {"points": [], "watermark": [], "windows": [], "batches": []}


class Reported(Protocol):
    """What is asked of a job of ours for its report."""

    config: JobConfig
    scenario: Scenario
    bound: BoundJob
    written: Written

    @property
    def noun(self) -> str: ...

    @property
    def arrivals(self) -> Mapping[str, Arrivals]: ...

    @property
    def exercises(self) -> list[Exercise]: ...

    @property
    def alerts_seen(self) -> AlertsSeen: ...


def report_of(subject: Reported, history: History | None) -> dict[str, Any]:
    """The subject's part of the report; `history` is that of the fault-free run, None where it could not be read."""
    unexercised = not_exercised(history, subject.exercises) if history else []
    vacuous = [one for one in unexercised if not is_allowed(one, subject.scenario.expect.may_be_unexercised)]
    let_be = [one for one in unexercised if one not in vacuous]
    return {
        "job": subject.config.name,
        "title": _title(subject),
        "seed": subject.scenario.seed,
        "events": len(subject.written.events),
        "noun": subject.noun,
        "not_exercised": [one.as_dict() for one in vacuous],
        "not_compared": [one.as_dict() for one in _not_compared(subject)],
        "judged_by": [],
        "not_checked": [],
        "notes": list(_notes(subject, [one.name for one in let_be])),
        "event_time": _event_time(subject, history) if history else NO_PICTURE,
        "outputs": _outputs(subject, history),
    }


def _notes(subject: Reported, let_be: list[str]) -> Iterator[Note]:
    yield from subject.alerts_seen.note()
    if let_be:
        said = f"Never exercised, as the scenario allows, and so not proved: {', '.join(let_be)}."
        yield Note(NoteCode.NOT_EXERCISED, said)
    if subject.config.trigger.real_time:
        said = "The job was proved in micro-batches. No batch of the real-time trigger was run, and none was crashed."
        yield Note(NoteCode.NOT_IN_REAL_TIME, said)
    yield from (Note(NoteCode.FLOAT_ORDER, one.says) for one in _not_compared(subject))
    weaker = weaker_state(subject.config.spark)
    if weaker and any(root.stateful for root in subject.bound.outputs.main.values()):
        yield Note(NoteCode.WEAKER_STATE, weaker)
    untraced = [query for query, arrivals in subject.arrivals.items() if not arrivals.traced]
    if untraced:
        said = f"The trace id is lost by a transform of {', '.join(untraced)}: its account is unknown."
        yield Note(NoteCode.TRACE_LOST, said)


def _not_compared(subject: Reported) -> list[NotCompared]:
    compare = subject.scenario.expect.compare
    found: list[NotCompared] = []
    for output, arrivals in subject.arrivals.items():
        steps = {column: step for column, step in arrivals.steps.items() if column not in arrivals.stated}
        found += not_compared(output, steps, compare)
    return found


def events_called(config: JobConfig) -> str:
    """What the events of a job are called together: "trades" as its source is, "events" where it has several."""
    return next(iter(config.source)) if len(config.source) == 1 else "events"


def _title(subject: Reported) -> str:
    return (
        subject.scenario.title
        or f"{len(subject.written.events):,} {events_called(subject.config)}, seed {subject.scenario.seed}, {subject.scenario.batches} batches"
    )


def _event_time(subject: Reported, history: History) -> dict[str, Any]:
    view = history.queries[0]
    fates = view.model.fates
    traces: list[tuple[str, str, int]] = [
        (trace, *fates[trace]) for outcome in view.batches for trace in outcome.traces if trace in fates
    ]
    arrival_of = {event.trace: event.arrival for event in subject.written.events.values()}
    rare = [entry for entry in traces if entry[1] in PLACES and not PLACES[entry[1]].stays]
    common = [entry for entry in traces if entry[1] in PLACES and PLACES[entry[1]].stays]
    late = [entry for entry in rare if entry[1] == "late"][:_POINTS]
    others = _thinned([entry for entry in rare if entry[1] != "late"], max(0, (_POINTS - len(late)) // 4))
    shown = [*late, *others, *_thinned(common, _POINTS - len(late) - len(others))]
    points = []
    for trace, fate, batch in shown:
        time = subject.written.events[trace].time_us
        if time is not None and _believable(time):
            points.append({"arrival": arrival_of[trace], "time_us": time, "fate": fate, "event": trace, "batch": batch})
    points.sort(key=lambda point: point["arrival"])
    return {"points": points, **_staircase(view, arrival_of), "windows": _windows(view)}


def _believable(time_us: int) -> bool:
    """Whether an event time belongs on the picture: one of the year 2999 would leave nothing else to see."""
    return time_us < 32_000_000_000 * 1_000_000


def _thinned(entries: list[Any], wanted: int) -> list[Any]:
    if len(entries) <= wanted:
        return entries
    return [entries[number * len(entries) // wanted] for number in range(wanted)] if wanted else []


def _staircase(view: QueryView, arrival_of: Mapping[str, int]) -> dict[str, Any]:
    watermark, batches, seen = [], [], 0
    for outcome in view.batches:
        first = min((arrival_of[trace] for trace in outcome.traces), default=seen)
        watermark.append({"arrival": first, "time_us": outcome.read.watermark_ms * 1_000, "batch": outcome.batch})
        batches.append({"batch": outcome.batch, "first_arrival": first})
        seen = max((arrival_of[trace] for trace in outcome.traces), default=seen)
    return {"watermark": watermark, "batches": batches}


def _windows(view: QueryView) -> list[dict[str, int]]:
    held = {**view.model.emitted, **view.model.open}
    bounds = sorted({(start, contents.end_us) for (_, start), contents in held.items()})
    return [{"start_us": start, "end_us": end} for start, end in bounds]


def _outputs(subject: Reported, history: History | None) -> list[dict[str, Any]]:
    outputs = {output.name: output for view in history.queries for output in view.left.outputs.values()} if history else {}
    found = []
    for name in subject.bound.places:  # sinks of one output beside each other
        if name in outputs:
            told = {"where": _where(subject, name), "guarantee": _guarantee(subject, name)}
            rows = len(outputs[name].rows)
            found.append({"name": name, "rows": rows, "format": subject.bound.places[name].shown_format, **told})
    return found


def _where(subject: Reported, output: str) -> str:
    """Where an output goes as the job is configured, not as the proof binds it."""
    bound = subject.config.sink.get(output)
    if bound is not None and bound.service is not None:
        return services.where(bound.service)
    return bound.folder.path if bound is not None and bound.folder is not None else f"{subject.config.checkpoint}-{output}"


def _guarantee(subject: Reported, output: str) -> str:
    bound = subject.config.sink.get(output)
    if bound is not None and bound.service is not None:
        return services.guarantee(bound.service)
    place = subject.bound.places[output]
    return guarantee_at(_where(subject, output)) if place.is_folder else f"declared by {place.connector}"
