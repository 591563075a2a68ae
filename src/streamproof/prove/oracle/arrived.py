"""The input of the model: the records behind the row-wise steps of the job, and the batches a run really had."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from streamproof.core.clock import to_micros


class RowFate(StrEnum):
    """Where the row-wise steps of the job send a record; it does not depend on the batch."""

    PASSED = "passed"
    REJECTED = "rejected"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Arrived:
    """One record behind parsing, requirements, filters and transforms.

    Parameters
    ----------
    reason
        Why it was rejected, or the name of the filter.
    time_us
        Its event time as the job sees it, microseconds UTC; None if it has none.
    by, dedup
        Its values of the window's key and of the deduplication's key, made plain by `plain`.
    source
        The source that it is of, where its query has several.
    order
        Its value of the column that a deduplication goes by.
    gap_us
        The gap that it brings to its session, microseconds, where events bring one.
    """

    trace: str
    fate: RowFate | str = RowFate.PASSED
    reason: str | None = None
    time_us: int | None = None
    by: tuple[Any, ...] = ()
    dedup: tuple[Any, ...] | None = None
    source: str = ""
    order: Any = None
    gap_us: int | None = None


@dataclass(frozen=True, slots=True)
class BatchRead:
    """One batch of a query, from its logs.

    Parameters
    ----------
    watermark_ms, timestamp_ms
        From the offset log: the watermark of this batch, and its own clock.
    files
        The base names of the files it read; empty in a no-data batch.
    committed
        Whether the commit log has it.
    published
        Whether any of its rows are published; a batch that is neither committed nor published has no effects.
    run
        The start that has staged it; empty where nothing tells.
    """

    batch: int
    watermark_ms: int
    timestamp_ms: int = 0
    files: tuple[str, ...] = ()
    committed: bool = True
    published: bool = False
    run: str = ""

    @property
    def effective(self) -> bool:
        return self.committed or self.published


def plain(value: Any) -> Any:
    """A value as keys and comparisons hold it: instants as microseconds UTC (without a zone they are UTC), dates as ISO texts."""
    if isinstance(value, datetime):
        return to_micros(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return tuple(plain(part) for part in value)
    return value
