"""The instruments of a run: one for each metric, made of its definition."""

from collections.abc import Callable, Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from streamproof.observe.endpoint import JOB, LEFT_OUT
from streamproof.observe.metric import PREFIX, SECONDS, Kind, Metric
from streamproof.observe.otel import naming
from streamproof.observe.values import Durations, Values
from streamproof.runtime.watching.events import RunEvent

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation

_LEFT_OUT = naming.NAMESPACE + LEFT_OUT.removeprefix(PREFIX).removesuffix("_total")


class Instruments:
    """Gauges and counters are asked for their values when they are sent. OpenTelemetry asks no histogram: those hear the events.

    Parameters
    ----------
    meter
        Makes them.
    job
        The name of the job: each series has it, as for Prometheus.
    values
        Those that are sent; they hear the events first.
    """

    def __init__(self, meter: "Meter", job: str, values: Values) -> None:
        self._job, self._values = job, values
        self._histograms: dict[str, Histogram] = {}
        gauge = meter.create_observable_gauge
        observable = {Kind.GAUGE: gauge, Kind.INFO: gauge, Kind.COUNTER: meter.create_observable_counter}
        for metric in values.metrics:
            called, unit = naming.name(metric), naming.unit(metric)
            if metric.kind in observable:
                observable[metric.kind](called, [self._observer(metric)], unit, metric.means)
            else:
                self._histograms[metric.name] = meter.create_histogram(
                    called, unit, metric.means, explicit_bucket_boundaries_advisory=SECONDS
                )
        meter.create_observable_counter(
            _LEFT_OUT, [self._left_out], "{reading}", "Readings that were passed over, since their metric has too many series."
        )

    def __call__(self, event: RunEvent) -> None:
        for metric in self._values.metrics:
            histogram = self._histograms.get(metric.name)
            reading = metric.readings.get(type(event))
            if histogram is None or reading is None:
                continue
            kept = self._values.now(metric)
            for labels, seconds in reading(event):
                if labels in kept and not isnan(seconds):  # what has too many series is left out here too
                    histogram.record(seconds, self._attributes(metric.labels, labels))

    def _observer(self, metric: Metric) -> "Callable[[CallbackOptions], Iterable[Observation]]":
        from opentelemetry.metrics import Observation

        return lambda _: [
            Observation(value, self._attributes(metric.labels, labels))
            for labels, value in self._values.now(metric).items()
            if not isinstance(value, Durations)
        ]

    def _left_out(self, _: "CallbackOptions") -> "Iterable[Observation]":
        from opentelemetry.metrics import Observation

        return [Observation(readings, self._attributes(("metric",), (name,))) for name, readings in self._values.left_out()]

    def _attributes(self, names: Sequence[str], values: Sequence[str]) -> dict[str, str]:
        return {JOB: self._job, **dict(zip(names, values, strict=True))}
