"""A trigger that is never met: batches take longer than from one to the next."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from statistics import median

from streamproof.checkpoint.folder import COMMITS
from streamproof.checkpoint.inspection import Inspection
from streamproof.core.durations import format_duration, parse_duration
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import flows_of

ENOUGH = 5
"""Of fewer batches nothing is said: the first ones compile code."""
_APART_SECONDS = 1.0


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    trigger = patient.bound.trigger
    if trigger.interval is not None and not trigger.real_time:
        yield from _of(patient, trigger.interval, patient.key("job", "trigger"))


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for flow in flows_of(program):
            said = program.constant(flow.writer.interval) if flow.writer is not None and flow.writer.interval is not None else None
            interval = _interval(said)
            if interval is not None and flow.writer is not None:
                yield from _of(patient, interval, program.place(flow.writer.called("trigger") or flow.writer.node))


def _interval(said: str | None) -> timedelta | None:
    try:
        return parse_duration(said) if said is not None else None
    except ValueError:
        return None


def _of(patient: Patient, interval: timedelta, where: Place) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        took = batch_seconds(checkpoint)
        over = [one for one in took if one > interval.total_seconds()]
        if len(took) >= ENOUGH and len(over) > len(took) / 2:
            usual = format_duration(timedelta(seconds=max(1, round(median(took)))))
            yield Symptom(
                Severity.WARN,
                f"A batch begins every {format_duration(interval)} by the trigger, and takes {usual}: the trigger is never met.",
                where,
                "A longer interval says what is true; or make batches smaller, state smaller, or give the job more cores.",
                f"{checkpoint.path.name}: {len(over)} of {len(took)} batches took longer, by the times of their offset logs and commits",
            )


def batch_seconds(checkpoint: Inspection) -> list[float]:
    """How long batches took, from when each was planned to its commit; those whose times do not go together, as of a copy, are left out."""
    found = []
    for batch, following in pairwise(checkpoint.batches):
        file = checkpoint.path / COMMITS / str(batch.number)
        if following.number != batch.number + 1 or not file.is_file():
            continue
        took = file.stat().st_mtime - batch.planned_ms / 1000
        if 0 < took <= (following.planned_ms - batch.planned_ms) / 1000 + _APART_SECONDS:
            found.append(took)
    return found


MISSED_TRIGGER = Mistake(
    Code.MISSED_TRIGGER,
    "a trigger that is never met",
    "The job has no time to spare: after each pause it falls behind, and does not catch up. Spark says so in its log alone.",
    (
        Way((Part.CHECKPOINT, Part.CONFIGURATION), _by_configuration),
        Way((Part.CHECKPOINT, Part.TEXT), lambda patient: () if patient.config is not None else _by_text(patient)),
    ),
)
