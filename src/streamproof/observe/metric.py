"""What a metric is, and an alert on it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from streamproof.observe.spans import MINUTE, shrunk
from streamproof.runtime.watching.events import RunEvent

PREFIX = "streamproof_"
QUERY = "query"
NOW = float("nan")
"""As a number of a reading: the moment at which the event was heard, in seconds since 1970."""
Reading = tuple[tuple[str, ...], float]
"""The values of a metric's labels, in their order, and the number itself."""
SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Bounds of the buckets that durations are counted in."""


class Kind(StrEnum):
    """What a number is to Prometheus: a value of now, a sum that only grows, durations that are counted by size, or always 1, as its labels say it.

    Of `INFO` a query has one series, the newest; its first label is the query.
    """

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    INFO = "info"


class Severity(StrEnum):
    """Whether somebody is woken, or looks at it in the morning."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True)
class Alert:
    """When a metric is bad.

    Parameters
    ----------
    name
        How it is called where it arrives, in CamelCase.
    when
        The condition in PromQL; each series that it gives is one alert. A number of seconds is written as the time that it is: `$2m` for 120.
    lasting
        How long it must hold, such as "5m".
    says
        One sentence; `{{ $labels.query }}` and `{{ $value }}` are filled in by Prometheus.
    todo
        What to do next, in one or two sentences.
    beside
        Annotations more, by their names.
    """

    name: str
    when: str
    lasting: str
    severity: Severity
    says: str
    todo: str
    beside: Mapping[str, str] = field(default_factory=dict)

    def condition(self, minute: timedelta = MINUTE) -> str:
        """The condition as Prometheus reads it. Tests and proofs make a minute of it shorter, and so all its times."""
        return shrunk(self.when, minute)

    def holds_for(self, minute: timedelta = MINUTE) -> str:
        """How long it must hold, as Prometheus reads it."""
        return shrunk(self.lasting, minute)


@dataclass(frozen=True)
class Metric:
    """A number that a run shows, defined once.

    Parameters
    ----------
    name
        With its unit at the end, as Prometheus has it: `streamproof_batch_seconds`.
    unit
        In words.
    labels
        What a series of it is told apart by, beside the name of the job.
    means
        One sentence.
    bad
        When it is bad.
    todo
        What to do then.
    readings
        By kind of event, what an event says of it.
    while_running
        Whether its series go when their query ends, as that of a consumer's lag.
    plain
        Whether it is told of a plain PySpark job too, by Spark's listener (`sp.watch`).
    shown
        What a dashboard shows of it, in PromQL; the metric itself where empty.
    """

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    means: str
    bad: str
    todo: str
    readings: Mapping[type[RunEvent], Callable[[Any], Iterable[Reading]]] = field(repr=False)
    while_running: bool = False
    plain: bool = False
    shown: str = ""
    alerts: tuple[Alert, ...] = ()

    @property
    def full_name(self) -> str:
        """The name that Prometheus sees."""
        return f"{PREFIX}{self.name}"
