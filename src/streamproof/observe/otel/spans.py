"""The batches of a run as spans: one for each batch, with one for each of its phases below it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamproof.core.clock import now_utc, to_micros
from streamproof.core.phases import Phase
from streamproof.runtime.watching import events

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer
    from opentelemetry.util.types import AttributeValue

BATCH = "batch"
RUN = "run"
"""Of a run that has failed and had no batch under way."""
_PHASES = (Phase.PLAN, Phase.WORK, Phase.STAGE, Phase.PUBLISH, Phase.COMMIT)
_NANOS_IN_MS = 1_000_000


@dataclass
class _UnderWay:
    """A batch that was planned and is not committed yet."""

    batch: int
    planned: int
    replayed: bool = False
    published: list[tuple[int, events.BatchPublished]] = field(default_factory=list)


class Spans:
    """Hears the events of a run, and makes the spans of each batch when it is over.

    A batch is one trace. It begins with its plan; the moment when that was heard, and the durations that its last event has, say where each
    phase lies. They are laid one after another, in their order.

    Parameters
    ----------
    tracer
        Makes the spans.
    job
        The name of the job.
    """

    def __init__(self, tracer: "Tracer", job: str) -> None:
        self._tracer, self._job = tracer, job
        self._under_way: dict[str, _UnderWay] = {}
        self._since = _now()

    def __call__(self, event: events.RunEvent) -> None:
        match event:
            case events.BatchPlanned():
                self._under_way[event.query] = _UnderWay(event.batch, _now())
            case events.BatchStaged() if (known := self._known(event.query, event.batch)) is not None:
                known.replayed = event.replayed
            case events.BatchPublished() if (known := self._known(event.query, event.batch)) is not None:
                known.published.append((_now(), event))
            case events.BatchCommitted():
                self._committed(event)
            case events.RunFailed():
                self._failed(event)

    def _known(self, query: str, batch: int) -> _UnderWay | None:
        """What is known of a batch; None of one that was planned before, and of those of a real-time job, which nobody hears of while they run."""
        known = self._under_way.get(query)
        return known if known is not None and known.batch == batch else None

    def _committed(self, event: events.BatchCommitted) -> None:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        known = self._known(event.query, event.batch)
        self._under_way.pop(event.query, None)
        lasting = {phase: event.phases_ms.get(phase, 0) * _NANOS_IN_MS for phase in _PHASES}
        whole = max(sum(lasting.values()), (event.total_ms or 0) * _NANOS_IN_MS)
        begun = _now() - whole if known is None else known.planned - lasting[Phase.PLAN]
        span = self._tracer.start_span(
            BATCH,
            Context(),
            start_time=begun,
            attributes={
                **self._attributes(event.query, event.batch),
                "rows": sum(event.rows.values()),
                "input": event.counts.get("input", 0),
                "replayed": known is not None and known.replayed,
            },
        )
        at = begun
        for phase, nanos in lasting.items():
            if phase in event.phases_ms:
                below = self._attributes(event.query, event.batch)
                self._tracer.start_span(phase, set_span_in_context(span), start_time=at, attributes=below).end(at + nanos)
            at += nanos
        for moment, published in known.published if known is not None else ():
            span.add_event("published", {"output": published.output, "rows": published.rows}, moment)
        span.end(begun + whole)

    def _failed(self, event: events.RunFailed) -> None:
        """Ends what was under way with an error: by its name and code. What it says may quote a value of a row, and stays in the log."""
        from opentelemetry.context import Context
        from opentelemetry.trace import Status, StatusCode

        ended = _now()
        unfinished = [(BATCH, known.planned, self._attributes(query, known.batch)) for query, known in self._under_way.items()]
        self._under_way.clear()
        for name, begun, attributes in unfinished or [(RUN, self._since, {"job": self._job})]:
            wrong = {"error.type": event.error, "code": event.code}
            span = self._tracer.start_span(name, Context(), start_time=begun, attributes={**attributes, **wrong})
            span.set_status(Status(StatusCode.ERROR, f"{event.error} ({event.code})"))
            span.end(ended)

    def _attributes(self, query: str, batch: int) -> "Mapping[str, AttributeValue]":
        return {"job": self._job, "query": query, "batch": batch}


def _now() -> int:
    return to_micros(now_utc()) * 1_000
