"""Events of a run as a run emits them, with clocks that a test moves: for the tests of the live page, and for its picture in the docs."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from streamproof.connectors.lag import Lag
from streamproof.core.account import OF_A_BATCH, Account
from streamproof.observe.moment import Moment
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchPublished,
    BatchStaged,
    QueryEnded,
    QueryStarted,
    QueryStarting,
    RunEvent,
    SparkStarting,
)
from streamproof.runtime.watching.figures import OperatorState
from streamproof.runtime.watching.latency import Latency, Since
from streamproof.runtime.watching.result import QueryAccount

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass
class Clock:
    """Both clocks of a run; `pass_` lets time pass, `jump` moves the one on the wall alone."""

    wall: datetime = NINE
    steady: float = 1_000.0

    def __call__(self) -> Moment:
        return Moment(self.wall, self.steady)

    def pass_(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += timedelta(seconds=seconds)

    def jump(self, by: timedelta) -> None:
        self.wall += by


def counts(read: int = 1_000, *, expanded: int = 0, **places: int) -> dict[str, int]:
    return {**dict.fromkeys(OF_A_BATCH, 0), "input": read, "expanded": expanded, **places}


def started(query: str = "sums", *, batch: int = 0, before: dict[str, int] | None = None) -> list[RunEvent]:
    outputs = {query: f"out/{query}", "late": "out/late", "rejected": "out/rejected"}
    return [QueryStarting(query), QueryStarted(query, "a1b2", f"checkpoint/{query}", outputs, batch, before or counts(0))]


def planned(batch: int, query: str = "sums") -> BatchPlanned:
    return BatchPlanned(query, batch, watermark(batch), files=1)


def watermark(batch: int) -> datetime | None:
    return NINE + timedelta(seconds=30 * batch - 70) if batch else None


def lags(batch: int, partitions: int = 2) -> list[Lag]:
    return [
        Lag("trades", "trades", number, 1_000 * batch, 1_000 * batch + left, left)
        for number in range(partitions)
        for left in [max(0, 900 - 90 * batch) + 137 * (number % 3)]
    ]


def committed(batch: int, query: str = "sums", *, partitions: int = 2, slow: int = 0) -> BatchCommitted:
    return BatchCommitted(
        query,
        batch,
        counts(1_000, emitted=880, late=20, rejected=4, duplicate=16),
        {query: 40, "late": 20},
        watermark(batch),
        {"plan": 90, "work": 900 + 60 * (batch % 4), "stage": 130, "publish": 170 + slow, "commit": 60},
        1_350 + 60 * (batch % 4) + slow,
        500.0,
        700.0,
        lags(batch, partitions),
        [
            OperatorState("stateStoreSave", 1_020 + 15 * batch, 300, 280, 4_000_000, 212_000 + 3_000 * batch),
            OperatorState("dedupeWithinWatermark", None, 1_000, 900, 9_000_000, 1_100_000 + 20_000 * batch),
        ],
        newest_event=NINE + timedelta(seconds=30 * batch),
        latency=[Latency("trades", Since.EVENT, 1_000, 4_200, 9_800, 15_300, 21_000)],
    )


def batch(number: int, query: str = "sums", *, partitions: int = 2, slow: int = 0) -> list[RunEvent]:
    """The events of one batch."""
    done = committed(number, query, partitions=partitions, slow=slow)
    return [
        planned(number, query),
        BatchStaged(query, number, done.counts, done.rows, replayed=False, seconds=1.0),
        BatchPublished(query, number, query, 40, 0.1),
        BatchPublished(query, number, "late", 20, 0.1),
        done,
    ]


def ended(query: str = "sums", *, off: int = 0) -> QueryEnded:
    account = Account(emitted=880, open_state=80 - off, late=20, rejected=4, duplicate=16)
    return QueryEnded(query, 1, 0, 1_000, {query: 40}, QueryAccount(query, 1_000, account), 3, None)


@dataclass
class Story:
    """Events and the time between them, told to whoever listens."""

    clock: Clock = field(default_factory=Clock)
    listeners: list = field(default_factory=list)

    def tell(self, *events: RunEvent, seconds: float = 0.2) -> None:
        for event in events:
            self.clock.pass_(seconds)
            for listener in self.listeners:
                listener(event)

    def run(self, batches: int = 11, *, partitions: int = 2, query: str = "sums") -> None:
        """A run up to the middle of a batch."""
        self.tell(SparkStarting("small"), *started(query))
        for number in range(batches):
            self.clock.pass_(28)
            self.tell(*batch(number, query, partitions=partitions, slow=900 * (number == 6)))
        self.tell(planned(batches, query))
