"""How old records are when readers get them: from their event time, or from when a broker took them, to when their batch is published.

Tasks count ages by the clock of the batch (`Ages.java`), which is the same when it runs again; what passes from there to its publication is
the same for all of its records, and is added here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

_HALF_OF_WHAT_IS_CUT = 1 / 128
"""Ages are cut to seven bits (`Ages.java`), which takes up to 1/64 of them: so much of that on average."""


class Since(StrEnum):
    """From when on an age counts."""

    EVENT = "event"
    """The record's event time."""
    APPEND = "append"
    """When the broker took it, by Kafka's timestamp of it."""


@dataclass(frozen=True)
class Aged:
    """How old the records of a source were by the clock of their batch.

    Parameters
    ----------
    records
        How many came.
    ages
        By age in milliseconds, cut to its leading bits, how many had it, of those that were looked at.
    """

    records: int
    ages: Mapping[int, int]


@dataclass(frozen=True)
class Latency:
    """How old the records of a batch were when readers got them.

    Parameters
    ----------
    source
        That of [source.NAME].
    since
        "event": from their event time on; "append": from when the broker took them.
    records
        How many came.
    p50_ms, p95_ms, p99_ms, most_ms
        So old half of them were at most, 95 in 100, 99 in 100, and all; milliseconds.
    """

    source: str
    since: Since
    records: int
    p50_ms: int
    p95_ms: int
    p99_ms: int
    most_ms: int


def latencies(aged: Mapping[tuple[Since, str], Aged], passed_ms: int) -> Iterator[Latency]:
    """The latencies of a batch by source, of those that had records whose age is known.

    Parameters
    ----------
    aged
        By since when, and by source.
    passed_ms
        From the clock of the batch to its publication.
    """
    for (since, source), found in sorted(aged.items()):
        if found.ages:
            parts = [_quantile(found.ages, share) for share in (0.5, 0.95, 0.99, 1.0)]
            yield Latency(source, since, found.records, *(max(0, age + passed_ms) for age in parts))


def _quantile(ages: Mapping[int, int], share: float) -> int:
    """The least age that so many are at most as old as; nearest rank."""
    wanted, counted = share * sum(ages.values()), 0
    for age in sorted(ages):
        counted += ages[age]
        if counted >= wanted:
            return age + round(age * _HALF_OF_WHAT_IS_CUT)
    raise AssertionError("all of them are counted")
