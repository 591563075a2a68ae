"""The input of the model: the records behind the row-wise steps of the job, and the batches a run really had."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from streamproof.core.clock import to_micros
from streamproof.prove.oracle.instants import Instant
from streamproof.prove.oracle.rows import Row

Tables = tuple[tuple[str, int], ...]
"""What each table holds, by the number of its state in the scenario."""


class RowFate(StrEnum):
    """Where the row-wise steps of the job send a record; it does not depend on the batch, but on what the tables hold that it is looked up in."""

    PASSED = "passed"
    REJECTED = "rejected"
    FILTERED = "filtered"
    UNMATCHED = "unmatched"


@dataclass(frozen=True)
class Arrived:
    """One record behind parsing, requirements, filters and transforms.

    Parameters
    ----------
    reason
        Why it was rejected, or the name of the filter.
    time_us
        Its event time as the job sees it, microseconds UTC; None if it has none.
    values
        Its values of the columns that the operators of its query look at, made plain by `plain`.
    source
        The source that it is of, where its query has several.
    """

    trace: str
    fate: RowFate | str = RowFate.PASSED
    reason: str | None = None
    time_us: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    @cached_property
    def row(self) -> Row:
        """The record as operators see it."""
        return Row((self.trace,), self.time_us, self.values)


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
    tables
        By table that it has looked rows up in, the number of what the table held; in the order of their names.
    """

    batch: int
    watermark_ms: int
    timestamp_ms: int = 0
    files: tuple[str, ...] = ()
    committed: bool = True
    published: bool = False
    run: str = ""
    tables: Tables = ()

    @property
    def effective(self) -> bool:
        return self.committed or self.published


def plain(value: Any) -> Any:
    """A value as keys and comparisons hold it: instants as microseconds UTC (without a zone they are UTC), dates as ISO texts."""
    if isinstance(value, datetime):
        return Instant(to_micros(value if value.tzinfo else value.replace(tzinfo=UTC)))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return value
