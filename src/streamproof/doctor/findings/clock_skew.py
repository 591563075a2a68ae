"""Skewed clocks: records are ahead of the time at which they were read."""

from collections.abc import Iterator
from datetime import timedelta

from streamproof.core.durations import format_duration
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient

_REMEDY = 'max_future = "5 minutes" in event_time rejects such events; in plain Spark filter them before withWatermark(). Then mend the clocks.'


def _by_checkpoint(patient: Patient) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        ahead = [(batch.watermark_ms - batch.planned_ms, batch.number) for batch in checkpoint.batches if batch.watermark_ms]
        most, number = max(ahead, default=(0, 0))
        if most > 0:
            by = format_duration(timedelta(seconds=max(1, most // 1000)))
            yield Symptom(
                Severity.WARN,
                f"The watermark was {by} ahead of the driver's clock: an event came that far from the future, and its delay more.",
                Place(checkpoint.path),
                _REMEDY,
                f"offsets/{number}: batchWatermarkMs is greater than batchTimestampMs",
            )


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for name, source in patient.bound.source.items():
        if source.event_time is not None and source.event_time.max_future is None:
            yield Symptom(
                Severity.NOTE,
                f"{name} takes events however far they are in the future.",
                patient.key("source", name, "event_time", "max_future"),
                'max_future = "1 day", or what your producers\' clocks are off at most.',
                'max_future = "none"',
            )


CLOCK_SKEW = Mistake(
    Code.CLOCK_SKEW,
    "skewed clocks",
    "One event from next year moves the watermark there, and every event until then is late. A watermark never goes back.",
    (Way((Part.CHECKPOINT,), _by_checkpoint), Way((Part.CONFIGURATION,), _by_configuration)),
)
