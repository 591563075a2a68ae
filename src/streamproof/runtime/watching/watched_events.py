"""What is said of a plain PySpark job that is watched by Spark's listener (`sp.watch`); its batches are `BatchCommitted`."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from streamproof.runtime.watching.events import RunEvent


@dataclass(frozen=True)
class WatchedStarted(RunEvent):
    """A query of a plain PySpark job runs: it has just started, or ran already when the watch began.

    Parameters
    ----------
    query
        Its name; without one the first eight characters of its id.
    run, id
        Spark's ids of this start, and of the query whenever it runs on this checkpoint.
    trigger_seconds
        From one trigger to the next; None where the trigger has no interval, or where Spark does not tell it.
    """

    kind: ClassVar[str] = "watched-started"
    query: str
    run: str
    id: str
    trigger_seconds: float | None = None


@dataclass(frozen=True)
class WatchedHeard(RunEvent):
    """Spark has said something of a query that it runs.

    Parameters
    ----------
    batch
        The batch that is committed; None where Spark has looked for input and found none.
    since_before
        Seconds since Spark has said something of this query before; None of the first time.
    watermark
        The one that the batch was planned with; None before the first event time, and without a batch.
    """

    kind: ClassVar[str] = "watched-heard"
    query: str
    batch: int | None = None
    since_before: float | None = None
    watermark: datetime | None = None


@dataclass(frozen=True)
class WatchedEnded(RunEvent):
    """A query of a plain PySpark job has ended: it was stopped or is done, or it has died, and `error` names what it died of.

    `error` is Spark's error class or the class of the exception, and None where the query has not died. The text of the exception is not here: it may
    hold values of rows. `query.exception()` has it, and the driver's log.
    """

    kind: ClassVar[str] = "watched-ended"
    query: str
    run: str
    error: str | None = None
