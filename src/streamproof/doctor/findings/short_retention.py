"""Retention that is shorter than an outage: what was not read yet, or a way back, is gone before anybody comes."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from streamproof.core.durations import format_duration
from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.settings import place_of_setting

SETTING = "spark.sql.streaming.minBatchesToRetain"
FEWEST = 10
"""With fewer batches there is no sound one left when damage is noticed."""


def _by_settings(patient: Patient) -> Iterator[Symptom]:
    said = patient.settings.get(SETTING, "")
    if said.isdigit() and int(said) < FEWEST:
        where = patient.key("spark", SETTING) if patient.config is not None else place_of_setting(patient.programs[0], SETTING)
        yield Symptom(
            Severity.WARN,
            f"The checkpoint keeps {said} batches: a damage that is noticed later leaves no batch to go back to.",
            where,
            "Take it out: Spark keeps 100.",
            f"{SETTING} = {said}",
        )


def _by_holdings(patient: Patient) -> Iterator[Symptom]:
    pause = longest_pause(patient)
    for source, held in patient.holdings.items():
        for one in held:
            if one.keeps is None or one.keeps >= max(patient.outage, pause):
                continue
            seen = one.keeps < pause
            yield Symptom(
                Severity.STOP if seen else Severity.WARN,
                f"The topic {one.name} keeps records for {format_duration(one.keeps)}, "
                + (
                    f"and the job once stood still for {_rounded(pause)}."
                    if seen
                    else f"less than an outage of {format_duration(patient.outage)}."
                ),
                patient.key("source", source),
                f"retention.ms of {one.name} of a week, or an alert long before; --outage says how long the job must be able to stand still.",
                f"the brokers say retention.ms = {int(one.keeps.total_seconds() * 1000)}",
            )


def longest_pause(patient: Patient) -> timedelta:
    """The longest time from one batch to the next, of those that the checkpoints still know."""
    pauses = [
        later.planned_ms - earlier.planned_ms
        for checkpoint in patient.checkpoints
        for earlier, later in pairwise(checkpoint.batches)
    ]
    return timedelta(milliseconds=max(pauses, default=0))


def _rounded(pause: timedelta) -> str:
    return format_duration(timedelta(minutes=round(pause.total_seconds() / 60)))


SHORT_RETENTION = Mistake(
    Code.SHORT_RETENTION,
    "retention shorter than an outage",
    "What the source deletes before the job has read it is lost. A job that stands still over a weekend needs records, and batches, from before it.",
    (
        Way((Part.CONFIGURATION,), _by_settings),
        Way((Part.TEXT,), lambda patient: () if patient.config is not None else _by_settings(patient)),
        Way((Part.CONFIGURATION, Part.SERVICES), _by_holdings),
    ),
)
