"""The report of a proof as data: what `report.json` holds (its shape is documented in `streamproof.report.shape`)."""

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamproof import __version__
from streamproof.core.account import PLACES
from streamproof.core.ends import End
from streamproof.core.notes import Note, NoteCode
from streamproof.core.phases import Phase, Side
from streamproof.core.verdict import Verdict, worst
from streamproof.prove.judging import Outcome
from streamproof.prove.options import Options, Selection
from streamproof.prove.plan.planning import Mode
from streamproof.prove.record.recording import Recording
from streamproof.prove.services import given
from streamproof.prove.subjects.subject import Subject

QUICK = (
    "A quick plan crashes the job once at each kind of step, in one batch, partition and operator: the standard plan (without --quick) "
    "crashes it at every step."
)

BRIEF = "While you edit, the job is crashed once in each phase. Before you send it: prove it without --watch."


@dataclass(frozen=True)
class Request:
    """What was asked for, as a command says it: the options, the seed of the events that were made, and the plan's name; and which services
    the subject stands on.
    """

    options: Options
    seed: int
    plan: str
    services: Sequence[str] = ()

    @property
    def command(self) -> str:
        """The command that makes this proof again."""
        selection = self.options.selection
        return self._command(selection.only, *(["--quick"] if selection.quick else []))

    def replay(self, scenario: str) -> str:
        """The command that runs exactly this scenario again; the standard plan has all those of the quick one."""
        return self._command(scenario)

    def as_dict(self) -> dict[str, Any]:
        """What was asked for, as the report holds it."""
        options, amount = self.options, self.options.amount
        return {
            "target": options.target,
            "profile": options.profile,
            "seed": self.seed,
            "events": amount.events,
            "batches": amount.batches,
            "exactly": amount.exactly.file if amount.exactly is not None else None,
            "full": options.selection.full,
            "allow_hosts": list(options.surroundings.allowed_hosts),
            "services": list(self.services),
        }

    def _command(self, only: str | None, *plan: str) -> str:
        options, amount, around = self.options, self.options.amount, self.options.surroundings
        services = [f"{name}={given.service_at(name, url).shown}" for name, url in around.services.items()]
        words = ["streamproof", "prove", options.target]
        words += ["--only", only] if only is not None else []
        words += options.words
        words += ["--exactly", amount.exactly.file or "FILE"] if amount.exactly is not None else ["--seed", str(self.seed)]
        words += ["--full"] if options.selection.full else plan
        words += ["--events", str(amount.events)] if amount.events is not None else []
        words += ["--batches", str(amount.batches)] if amount.batches is not None else []
        words += ["--brokers", str(around.brokers)] if around.brokers != 1 else []
        words += [word for service in services for word in ("--service", service)]
        words += ["--profile", options.profile] if options.profile is not None else []
        return shlex.join(words)


@dataclass(frozen=True)
class Course:
    """How a proof went.

    Parameters
    ----------
    end, cut_short
        Whether, and in words why, the plan was cut short.
    left_out
        The faults that could not be tried here, and what they take.
    left_behind
        What could not be removed from services.
    not_kept
        What the job was not kept from on this machine.
    """

    end: End = End.DONE
    cut_short: str = ""
    left_out: Sequence[str] = ()
    left_behind: Sequence[str] = ()
    not_kept: str = ""


def report(
    subject: Subject, request: Request, course: Course, recording: Recording, outcomes: Sequence[Outcome], seconds: float
) -> dict[str, Any]:
    """Everything the reports are drawn from."""
    fault_free = next((outcome for outcome in outcomes if outcome.plan.step is None), outcomes[0])
    of_subject = subject.report(fault_free.evidence)
    whole = course.end is End.DONE and not of_subject["not_exercised"]
    verdict = verdict_of([outcome.verdict for outcome in outcomes], whole=whole)
    sound = fault_free.verdict is Verdict.PASS
    notes = _notes(request.options.selection, course, recording, outcomes, of_subject["notes"])
    return {
        "verdict": str(verdict),
        "end": str(course.end),
        "plan": request.plan,
        "spark_batches": len(fault_free.batches),
        "counts": {str(kind): sum(outcome.verdict is kind for outcome in outcomes) for kind in Verdict},
        "seconds": round(seconds, 1),
        "enumerated": 2 * len(recording.steps.steps),  # before and after each
        "distinct": len({outcome.plan.image.digest for outcome in outcomes if outcome.plan.image and outcome.plan.is_disk}),
        "fired": sum(outcome.fired for outcome in outcomes),
        "command": request.command,
        "request": request.as_dict(),
        "conservation": {"fault_free": _counts(fault_free), "worst": _counts(_furthest(outcomes, fault_free))},
        "scenarios": [outcome.as_dict(request.replay(outcome.plan.id), sound_without_fault=sound) for outcome in outcomes],
        "steps": crash_points(recording, outcomes),
        "environment": {
            "streamproof": __version__,
            "python": platform.python_version(),
            "os": f"{platform.system()} {platform.machine()}",
            **subject.engine.versions,
        },
        "recording": {
            "batches": len(fault_free.batches),
            "seconds": round(recording.seconds, 1),
            "steps": len(recording.steps.steps),
        },
        **of_subject,
        "notes": [str(note) for note in notes],
        "note_codes": [str(note.code) for note in notes],
    }


def first_to_read(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Of outcomes that are alike bad the one that a report shows first: that of the earliest batch and phase."""
    phases = list(Phase)

    def rank(outcome: Outcome) -> tuple[int, int]:
        step = outcome.plan.step
        return (-1, -1) if step is None else (step.batch, phases.index(step.phase))

    return min(outcomes, key=rank, default=None)


def verdict_of(scenarios: Sequence[Verdict], *, whole: bool) -> Verdict:
    """The worst verdict of the scenarios. A proof that was cut short, or did not exercise all that the job can do, does not pass (R29)."""
    return worst([*scenarios, *([] if whole else [Verdict.UNKNOWN])])


def _counts(outcome: Outcome) -> dict[str, int]:
    expanded = outcome.account.get("expanded", 0)
    counts = {place: outcome.account.get(place, 0) for place in ("input", *PLACES)}
    return counts | {"expanded": expanded} if expanded else counts


def _furthest(outcomes: Sequence[Outcome], fault_free: Outcome) -> Outcome:
    """The scenario whose account misses its input by most; if all add up, the one that differs most from the fault-free run."""

    def off(outcome: Outcome) -> tuple[int, int]:
        counts, usual = _counts(outcome), _counts(fault_free)
        balance = abs(counts["input"] - sum(counts[place] for place in PLACES))
        return balance, sum(abs(counts[place] - usual.get(place, 0)) for place in counts)

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
    selection: Selection, course: Course, recording: Recording, outcomes: Sequence[Outcome], of_subject: Sequence[Note]
) -> list[Note]:
    notes = [Note(NoteCode.LEFT_BEHIND, said) for said in course.left_behind]
    notes += [Note(NoteCode.FAULTS_LEFT_OUT, f"Not tried: {left_out}.") for left_out in course.left_out]
    if selection.quick:
        notes.append(Note(NoteCode.BRIEF_PLAN, BRIEF) if selection.brief else Note(NoteCode.QUICK_PLAN, QUICK))
    if course.end is not End.DONE:
        said = f"The plan was cut short: {course.cut_short}. What was not tried is not proved."
        notes.append(Note(NoteCode.CUT_SHORT, said))
    not_fired = [outcome.plan.id for outcome in outcomes if not outcome.fired]
    if not_fired:
        more = f", and {len(not_fired) - 1} more" if len(not_fired) > 1 else ""
        notes.append(Note(NoteCode.NOT_FIRED, f"A fault that did not fire proves nothing: {not_fired[0]}{more}."))
    if recording.steps.unknown:
        said = f"Files that no step name knows: {', '.join(recording.steps.unknown[:5])}."
        notes.append(Note(NoteCode.UNKNOWN_FILES, said))
    notes += of_subject
    if course.not_kept:
        notes.append(Note(NoteCode.NOT_SEEN, f"{course.not_kept}."))
    return notes
