"""Which alerts samples raise: the condition of each is worked out at every scrape, and must hold as long as its rule says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from streamproof.connectors.extras import library
from streamproof.observe.metric import Alert, Metric
from streamproof.observe.metrics import ALERTS
from streamproof.observe.rehearsal.history import Scraped
from streamproof.observe.rehearsal.samples import Labels
from streamproof.observe.spans import MINUTE, seconds_of


@dataclass(frozen=True)
class Raised:
    """An alert that has fired for one series.

    Parameters
    ----------
    since, at
        When its condition began to hold, and when it fired, in seconds since 1970.
    value
        What the condition gave then.
    """

    metric: Metric
    alert: Alert
    labels: Labels
    since: float
    at: float
    value: float


@dataclass
class Looked:
    """What became of the alerts.

    Parameters
    ----------
    raised
        Those that have fired, in the order in which they did.
    longest
        By the name of an alert, for how many seconds its condition held at most.
    """

    raised: list[Raised] = field(default_factory=list)
    longest: dict[str, float] = field(default_factory=dict)


Rules = Sequence[tuple[Metric, Alert]]


def require_library() -> None:
    """MissingExtra unless promql-parser is installed."""
    library("promql_parser", "monitor", "To say which alerts a run raises")


def looked_at(scraped: Scraped, *, minute: timedelta = MINUTE, rules: Rules = ALERTS) -> Looked:
    """What becomes of alerts over samples.

    Parameters
    ----------
    minute
        How long a minute of the rules lasts.

    Raises
    ------
    MissingExtra
        If promql-parser is not installed.
    """
    require_library()
    found = Looked()
    for metric, alert in rules:
        found.raised.extend(_of(metric, alert, scraped, minute, found.longest))
    found.raised.sort(key=lambda one: one.at)
    return found


def _of(metric: Metric, alert: Alert, scraped: Scraped, minute: timedelta, longest: dict[str, float]) -> Iterator[Raised]:
    from streamproof.observe.rehearsal.promql import Moment, parsed

    condition, wait = parsed(alert.condition(minute)), seconds_of(alert.holds_for(minute))
    since: dict[Labels, float] = {}
    fired = set[Labels]()
    for at in scraped.moments:
        holds = Moment(scraped, at).value(condition)
        assert isinstance(holds, dict), alert.when
        for labels in since.keys() - holds.keys():
            del since[labels]
        fired &= holds.keys()
        for labels, value in holds.items():
            held = at - since.setdefault(labels, at)
            longest[alert.name] = max(longest.get(alert.name, 0.0), held)
            if held >= wait and labels not in fired:
                fired.add(labels)
                yield Raised(metric, alert, labels, since[labels], at, value)
