"""The report of a proof as data: what `report.json` holds (its shape is documented in `streamproof.report.shape`)."""

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof import __version__
from streamproof.config import FilesSink, ServiceSink
from streamproof.connectors import services
from streamproof.connectors.files.sink import guarantee_at
from streamproof.core.phases import Side
from streamproof.core.verdict import Verdict, worst
from streamproof.prove.artifacts.float_order import NotCompared, not_compared
from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers.account import PLACES
from streamproof.prove.context import ProofContext
from streamproof.prove.judging import Outcome
from streamproof.prove.plan.planning import Mode
from streamproof.prove.record.recording import Recording
from streamproof.prove.subjects.job.exercised import Exercise, is_allowed, not_exercised
from streamproof.runtime.session import weaker_state

_POINTS = 3_000
QUICK = (
    "A quick plan crashes the job once at each kind of step, in one batch, partition and operator: the standard plan (without --quick) "
    "crashes it at every step."
)


@dataclass(frozen=True)
class Request:
    """What was asked for: the target as typed, the seed, the plan's name, and what makes a replay differ from the defaults.

    `left_out` says which faults could not be tried here, and what they take; `left_behind` what could not be removed from services.
    """

    target: str
    seed: int
    plan: str
    events: int | None
    profile: str | None
    cut_short: str = ""
    only: str | None = None
    full: bool = False
    quick: bool = False
    batches: int | None = None
    brokers: int = 1
    services: Sequence[str] = ()
    left_out: Sequence[str] = ()
    left_behind: Sequence[str] = ()

    @property
    def command(self) -> str:
        """The command that makes this proof again."""
        return self._command(self.only, *(["--quick"] if self.quick else []))

    def replay(self, scenario: str) -> str:
        """The command that runs exactly this scenario again; the standard plan has all those of the quick one."""
        return self._command(scenario)

    def _command(self, only: str | None, *plan: str) -> str:
        words = ["streamproof", "prove", self.target]
        words += ["--only", only] if only is not None else []
        words += ["--seed", str(self.seed)]
        words += ["--full"] if self.full else plan
        words += ["--events", str(self.events)] if self.events is not None else []
        words += ["--batches", str(self.batches)] if self.batches is not None else []
        words += ["--brokers", str(self.brokers)] if self.brokers != 1 else []
        words += [word for service in self.services for word in ("--service", service)]
        words += ["--profile", self.profile] if self.profile is not None else []
        return shlex.join(words)


def report(
    context: ProofContext, request: Request, recording: Recording, outcomes: Sequence[Outcome], seconds: float
) -> dict[str, Any]:
    """Everything the reports are drawn from."""
    fault_free = next((outcome for outcome in outcomes if outcome.plan.step is None), outcomes[0])
    unexercised = not_exercised(fault_free.history, context.exercises) if fault_free.history else []
    vacuous = [one for one in unexercised if not is_allowed(one, context.scenario.expect.may_be_unexercised)]
    let_be = [one for one in unexercised if one not in vacuous]
    verdict = verdict_of([outcome.verdict for outcome in outcomes], whole=not request.cut_short and not vacuous)
    sound = fault_free.verdict is Verdict.PASS
    scenarios = [outcome.as_dict(request.replay(outcome.plan.id), sound_without_fault=sound) for outcome in outcomes]
    return {
        "verdict": str(verdict),
        "plan": request.plan,
        "job": context.config.name,
        "title": _title(context),
        "seed": request.seed,
        "seconds": round(seconds, 1),
        "events": len(context.written.events),
        "noun": context.noun,
        "spark_batches": len(fault_free.batches),
        "counts": {str(kind): sum(outcome.verdict is kind for outcome in outcomes) for kind in Verdict},
        "enumerated": 2 * len(recording.steps.steps),  # before and after each
        "distinct": len({outcome.plan.image.digest for outcome in outcomes if outcome.plan.image and outcome.plan.is_disk}),
        "fired": sum(outcome.fired for outcome in outcomes),
        "command": request.command,
        "not_exercised": [one.as_dict() for one in vacuous],
        "not_compared": [one.as_dict() for one in _not_compared(context)],
        "notes": _notes(context, request, recording, outcomes, let_be),
        "conservation": {"fault_free": _counts(fault_free), "worst": _counts(_furthest(outcomes, fault_free))},
        "scenarios": scenarios,
        "steps": crash_points(recording, outcomes),
        "environment": {
            "streamproof": __version__,
            "python": platform.python_version(),
            "os": f"{platform.system()} {platform.machine()}",
            **context.engine.versions,
        },
        "recording": {
            "batches": len(fault_free.batches),
            "seconds": round(recording.seconds, 1),
            "steps": len(recording.steps.steps),
        },
        "event_time": _event_time(context, fault_free.history) if fault_free.history else _NO_PICTURE,
        "outputs": _outputs(context, fault_free.history),
    }


def verdict_of(scenarios: Sequence[Verdict], *, whole: bool) -> Verdict:
    """The worst verdict of the scenarios; a proof that was cut short, or did not see all that the job can do, is no pass (R29)."""
    return worst([*scenarios, *([] if whole else [Verdict.UNKNOWN])])


_NO_PICTURE: Mapping[str, Any] = {"points": [], "watermark": [], "windows": [], "batches": []}


def _not_compared(context: ProofContext) -> list[NotCompared]:
    compare = context.scenario.expect.compare
    return [one for output, steps in context.steps.items() for one in not_compared(output, steps, compare)]


def _title(context: ProofContext) -> str:
    noun = next(iter(context.config.source))
    return (
        context.scenario.title
        or f"{len(context.written.events):,} {noun}, seed {context.scenario.seed}, {context.scenario.batches} batches"
    )


def _counts(outcome: Outcome) -> dict[str, int]:
    return {place: outcome.account.get(place, 0) for place in ("input", *PLACES)}


def _furthest(outcomes: Sequence[Outcome], fault_free: Outcome) -> Outcome:
    """The scenario whose account is furthest from balance, else furthest from the fault-free one."""

    def off(outcome: Outcome) -> tuple[int, int]:
        counts, usual = _counts(outcome), _counts(fault_free)
        balance = abs(counts["input"] - sum(counts[place] for place in PLACES))
        return balance, sum(abs(counts[place] - usual[place]) for place in counts)

    return max((outcome for outcome in outcomes if outcome.account), key=off, default=fault_free)


def crash_points(recording: Recording, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The crash points of the disk with the scenario that proves each: the image of what is on it then, or on services a live crash.

    A scenario whose fault did not fire, or that broke off, proves none.
    """
    proved_by: dict[str, str] = {}
    for mode in (Mode.LIVE, Mode.IMAGE):
        for plan in (outcome.plan for outcome in outcomes if outcome.fired):
            if plan.recording == recording.name and plan.mode is mode and plan.image is not None:
                proved_by.update(dict.fromkeys(plan.image.names, plan.id))
    found = []
    for step in recording.steps.steps:
        for side in ("before", "after"):
            name = f"{step}:{side}"
            found.append(
                {"id": name, "phase": str(step.phase), "batch": step.name(Side.AFTER).batch, "scenario": proved_by.get(name)}
            )
    return found


def _notes(
    context: ProofContext, request: Request, recording: Recording, outcomes: Sequence[Outcome], let_be: Sequence[Exercise]
) -> list[str]:
    notes = [*request.left_behind, *(f"Not tried: {left_out}." for left_out in request.left_out)]
    if request.quick:
        notes.append(QUICK)
    if request.cut_short:
        notes.append(f"The plan was cut short: {request.cut_short}. What was not tried is not proved.")
    not_fired = [outcome.plan.id for outcome in outcomes if not outcome.fired]
    if not_fired:
        more = f", and {len(not_fired) - 1} more" if len(not_fired) > 1 else ""
        notes.append(f"A fault that did not fire proves nothing: {not_fired[0]}{more}.")
    if let_be:
        notes.append(f"Never exercised, as the scenario allows, and so not proved: {', '.join(one.name for one in let_be)}.")
    notes += [one.says for one in _not_compared(context)]
    if recording.steps.unknown:
        notes.append(f"Files that no step name knows: {', '.join(recording.steps.unknown[:5])}.")
    weaker = weaker_state(context.config.spark)
    if weaker and any(recipe.stateful for recipe in context.bound.outputs.main.values()):
        notes.append(weaker)
    untraced = [query for query, arrivals in context.arrivals.items() if not arrivals.traced]
    if untraced:
        notes.append(f"The trace id is lost by a transform of {', '.join(untraced)}: its account is unknown.")
    notes.append("Connections that the JVM or C libraries open by themselves are not seen by the proof.")
    return notes


def _event_time(context: ProofContext, history: History) -> dict[str, Any]:
    view = history.queries[0]
    fates = view.model.fates
    traces: list[tuple[str, str, int]] = [
        (trace, *fates[trace]) for outcome in view.batches for trace in outcome.traces if trace in fates
    ]
    arrival_of = {event.trace: event.arrival for event in context.written.events.values()}
    rare = [entry for entry in traces if entry[1] in ("late", "rejected", "duplicate", "filtered")]
    common = [entry for entry in traces if entry[1] in ("emitted", "open_state")]
    late = [entry for entry in rare if entry[1] == "late"][:_POINTS]
    others = _thinned([entry for entry in rare if entry[1] != "late"], max(0, (_POINTS - len(late)) // 4))
    shown = [*late, *others, *_thinned(common, _POINTS - len(late) - len(others))]
    points = []
    for trace, fate, batch in shown:
        time = context.written.events[trace].time_us
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
    size = view.model.shape.window_us
    if size is None:
        return []
    starts = sorted({start for _, start in (*view.model.emitted, *view.model.open)})
    return [{"start_us": start, "end_us": start + size} for start in starts]


def _outputs(context: ProofContext, history: History | None) -> list[dict[str, Any]]:
    outputs = {output.name: output for view in history.queries for output in view.left.outputs.values()} if history else {}
    found = []
    for name in context.bound.places:  # sinks of one output beside each other
        if name in outputs:
            told = {"where": _where(context, name), "guarantee": _guarantee(context, name)}
            rows = len(outputs[name].rows)
            found.append({"name": name, "rows": rows, "format": context.bound.places[name].shown_format, **told})
    return found


def _where(context: ProofContext, output: str) -> str:
    """Where an output goes as the job is configured, not as the proof binds it."""
    bound = context.config.sink.get(output)
    if isinstance(bound, ServiceSink):
        return services.where(bound)
    return bound.path if isinstance(bound, FilesSink) else f"{context.config.checkpoint}-{output}"


def _guarantee(context: ProofContext, output: str) -> str:
    bound = context.config.sink.get(output)
    if isinstance(bound, ServiceSink):
        return services.guarantee(bound)
    connector = context.bound.places[output].connector
    return guarantee_at(_where(context, output)) if connector == "files" else f"declared by {connector}"
