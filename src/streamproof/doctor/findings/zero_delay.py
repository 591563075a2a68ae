"""Zero delay: an event that comes after a later one is late at once."""

import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.syntax import argument, method_of

_ZERO = re.compile(r"\s*(?:interval\s+)?(?:0+(?:\.0+)?\s*[a-z]+\s*)+", re.IGNORECASE)


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for name, source in patient.bound.source.items():
        time = source.event_time
        strict = [
            f"{keeping.call} of {query.query}"
            for query in patient.steps
            for keeping in query.keeping
            if name in keeping.sources and not keeping.lateness_seconds
        ]
        if time is not None and not time.lag and strict:
            yield Symptom(
                Severity.WARN,
                f"The lag of {name} is zero: each event that comes after a later one is late for {' and '.join(strict)}.",
                patient.key("source", name, "event_time", "lag"),
                f'Measure it, streamproof lag SAMPLE, and write it: lag = "2 minutes" in [source.{name}] event_time. Or give the window allowed_lateness.',
                "lag is 0 seconds" if "lag" in time.model_fields_set else "event_time has no key lag, which means 0 seconds",
            )


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for call in program.calls:
            delay = argument(call, 1, "delayThreshold") if method_of(call) == "withWatermark" else None
            said = program.constant(delay)
            if said is not None and _ZERO.fullmatch(said):
                yield Symptom(
                    Severity.WARN,
                    "The watermark has no delay: each row that comes after a later one is dropped as late, without a word.",
                    program.place(call),
                    "Measure how late rows come, streamproof lag SAMPLE, and write that delay.",
                    f'withWatermark(..., "{said}")',
                )


ZERO_DELAY = Mistake(
    Code.ZERO_DELAY,
    "zero delay",
    "Events of one second rarely come in their order. The watermark follows the newest one, and all before it are late: results come fast and are too small.",
    (Way((Part.CONFIGURATION, Part.STEPS), _by_configuration), Way((Part.TEXT,), _by_text)),
)
