"""Sends the metrics and spans of a run to a collector, in the background; set up by the environment variables of OpenTelemetry."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from streamproof.connectors.extras import library
from streamproof.core.clock import monotonic_seconds
from streamproof.errors import ConfigurationError
from streamproof.observe.otel.instruments import Instruments
from streamproof.observe.otel.spans import Spans
from streamproof.observe.values import Values
from streamproof.runtime.watching.events import RunEvent

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

SCOPE = "streamproof"
PATIENCE_SECONDS = 5.0
"""So long the end of a run waits for a collector to take what is not sent yet."""
_EXTRA, _WHAT = "otel", "run --otel"
_SENT_TO = "http://localhost:4318"
"""Where a collector listens unless the environment says otherwise."""
_PROTOCOL = "http/protobuf"


class OpenTelemetry:
    """A listener of a run that sends its metrics and its batches, by OTLP over HTTP, for as long as the block lasts.

    `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and the others are those of OpenTelemetry. Nothing waits
    for the collector: where it does not answer, that is said once, and what it has not taken is lost.

    Parameters
    ----------
    job
        The name of the job, and that of the service where the environment has none.
    say
        Is told where the collector does not answer, from another thread.

    Raises
    ------
    ConfigurationError
        If the environment asks for what is not there, such as gRPC.
    MissingExtra
        If OpenTelemetry's SDK is not installed.
    """

    def __init__(self, job: str, say: Callable[[str], None]) -> None:
        for module in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
            library(module, _EXTRA, _WHAT)
        self._silent = _Silent(say)
        resource = _resource(job)
        self._meters = _meters(resource, self._silent) if _wanted("METRICS") else None
        self._tracers = _tracers(resource, self._silent) if _wanted("TRACES") else None
        values = Values()
        self._listeners: list[Callable[[RunEvent], None]] = []
        if self._meters is not None:
            self._listeners += [values, Instruments(self._meters.get_meter(SCOPE), job, values)]
        if self._tracers is not None:
            self._listeners.append(Spans(self._tracers.get_tracer(SCOPE), job))

    def __enter__(self) -> "OpenTelemetry":
        return self

    def __call__(self, event: RunEvent) -> None:
        for listener in self._listeners:
            listener(event)

    def __exit__(self, *_: object) -> None:
        """Sends what is left, and gives the collector a few seconds to take it."""
        ending = [threading.Thread(target=each.shutdown, daemon=True) for each in (self._meters, self._tracers) if each is not None]
        for thread in ending:
            thread.start()
        until = monotonic_seconds() + PATIENCE_SECONDS
        for thread in ending:
            thread.join(max(0.0, until - monotonic_seconds()))
        if any(thread.is_alive() for thread in ending):
            self._silent()


class _Silent:
    """Says once that a collector does not take what it is sent."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._lock, self._said = say, threading.Lock(), False

    def __call__(self) -> None:
        with self._lock:
            said, self._said = self._said, True
        if not said:
            self._say(
                f"The OpenTelemetry collector at {collector()} does not take what this run sends. The job goes on, and sends on. "
                "Look at OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS; the log of the run has its answer."
            )

    def noticing(self, exporter: Any) -> Any:
        """The exporter, of which each failure is noticed."""
        send = exporter.export

        def export(*given: Any, **named: Any) -> Any:
            result = send(*given, **named)
            if result.name == "FAILURE":
                self()
            return result

        exporter.export = export
        return exporter


def collector() -> str:
    """Where it is, without what stands for a user or a token in its address."""
    named = (os.environ.get(f"OTEL_EXPORTER_OTLP_{of}ENDPOINT") for of in ("", "METRICS_", "TRACES_"))
    parts = urlsplit(next(filter(None, named), _SENT_TO))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _wanted(signal: str) -> bool:
    """Whether metrics, or traces, are sent.

    Raises
    ------
    ConfigurationError
        If they are to be sent in a way that is not there.
    """
    for variable, there in ((f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", _PROTOCOL), ("OTEL_EXPORTER_OTLP_PROTOCOL", _PROTOCOL)):
        protocol = os.environ.get(variable)
        if protocol:
            _require(variable, protocol, (there,))
            break
    variable = f"OTEL_{signal}_EXPORTER"
    exporter = os.environ.get(variable) or "otlp"
    _require(variable, exporter, ("otlp", "none"))
    return exporter == "otlp"


def _require(variable: str, found: str, there: tuple[str, ...]) -> None:
    if found not in there:
        raise ConfigurationError(
            f"{variable} is {found}, and a run cannot send that.",
            required=f"It is {' or '.join(there)}: a run sends OTLP over HTTP.",
            remedy=f"Set {variable}={there[0]} and name the collector's port for HTTP (4318 unless it was changed), or unset it.",
        )


def _resource(job: str) -> "Resource":
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource

    named = OTELResourceDetector().detect().attributes.get(SERVICE_NAME)
    return Resource.create({SERVICE_NAME: named or job})


def _meters(resource: "Resource", silent: _Silent) -> "MeterProvider":
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    reader = PeriodicExportingMetricReader(silent.noticing(OTLPMetricExporter()))
    return MeterProvider([reader], resource, shutdown_on_exit=False)


def _tracers(resource: "Resource", silent: _Silent) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    made = TracerProvider(resource=resource, shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(silent.noticing(OTLPSpanExporter())))
    return made
