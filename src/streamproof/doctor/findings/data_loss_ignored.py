"""Data loss that is ignored: what the source no longer has is skipped without a word."""

from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import readers_of
from streamproof.doctor.text.options import options_of
from streamproof.doctor.text.settings import place_of_setting, settings_of

_OPTIONS = {"failOnDataLoss": "false", "ignoreMissingFiles": "true", "ignoreCorruptFiles": "true"}
_SETTINGS = {"spark.sql.files.ignoreMissingFiles": "true", "spark.sql.files.ignoreCorruptFiles": "true"}
_WHAT = "What the source has lost is skipped without a word, and the job goes on."
_REMEDY = "Take it out: the job then stops, and a person decides. Set it for one start where you know what is gone."


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for _, calls in readers_of(program):
            options = options_of(program, calls)
            for name, harmful in _OPTIONS.items():
                given = options.get(name.lower())
                if given is not None and (program.constant(given) or "").lower() == harmful:
                    yield Symptom(Severity.WARN, _WHAT, program.place(given), _REMEDY, f"{name} = {harmful}")
        for name, value in settings_of(program).items():
            if _SETTINGS.get(name) == value.lower():
                yield Symptom(Severity.WARN, _WHAT, place_of_setting(program, name), _REMEDY, f"{name} = {value}")


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for name, value in patient.bound.spark.items():
        if _SETTINGS.get(name) == value.lower():
            yield Symptom(Severity.WARN, _WHAT, patient.key("spark", name), _REMEDY, f"{name} = {value}")


DATA_LOSS_IGNORED = Mistake(
    Code.DATA_LOSS_IGNORED,
    "data loss is ignored",
    "After an outage that was longer than the topic's retention, or with a file that somebody removed, events are missing and nothing says so.",
    (Way((Part.TEXT,), _by_text), Way((Part.CONFIGURATION,), _by_configuration)),
)
