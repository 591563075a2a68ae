"""How much a batch reads: bounded by each source, and adapted to how long batches take where the job says how long one should (S14).

A limit is decided between two batches. Spark asks the source with it, and writes down what the batch reads before it begins its work (R2): a
batch that is done again reads the same, whatever the limit is by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from streamproof.connectors.source import Limit

if TYPE_CHECKING:
    from streamproof.connectors.source import Source
    from streamproof.core.manifest import Fingerprint

_GROWS, _SHRINKS = 2.0, 0.25
"""By which a limit changes at most from one batch to the next: one batch that was quick, or slow, is no reason for more."""

_ROOM = 0.9
"""A batch that took less than so much of the wanted time has room for one more file, or record: of small limits a share is none."""


class AskedOf(Protocol):
    """Where Spark asks for the limit of a source (`_jvm.Intake`)."""

    @property
    def name(self) -> str:
        """What the reader of the source is told."""

    @property
    def used(self) -> int | None:
        """The limit of the batch that Spark has asked for; None for one that was planned before this start."""

    @property
    def seconds(self) -> float:
        """How long ago that was."""

    def set(self, most: int) -> None:
        """The limit of the next batch."""


@dataclass
class PacedSource:
    """A source whose limit is adapted.

    Parameters
    ----------
    number
        That which Spark gives it.
    asked
        Where Spark asks for its limit.
    """

    source: "Source"
    number: int
    asked: AskedOf


@dataclass
class Pace:
    """Told each batch once it is published; says how much the next one takes.

    Parameters
    ----------
    configured
        By source what its configuration limits, where nothing adapts it.
    batch_time
        How long a batch should take.
    sources
        Those whose limits are adapted to that.
    """

    configured: Sequence[Limit] = ()
    batch_time: timedelta = timedelta()
    sources: Sequence[PacedSource] = ()

    @property
    def limits(self) -> tuple[Limit, ...]:
        """By what the batch that begins was read."""
        adapted = [(paced, paced.asked.used) for paced in self.sources]
        return (
            *self.configured,
            *(Limit(paced.source.name, used, paced.source.counts) for paced, used in adapted if used is not None),
        )

    @property
    def intakes(self) -> Mapping[str, str]:
        """By source what its reader is told, where its limit is adapted."""
        return {paced.source.name: paced.asked.name for paced in self.sources}

    def saw(self, batch: "Fingerprint") -> None:
        """A batch is published: the next one takes as much more or less as it was quicker or slower than it should be."""
        for paced in self.sources:
            limit, taken = paced.asked.used, paced.source.taken(paced.number, batch)
            if limit is not None and taken:
                paced.asked.set(adapted(limit, taken, paced.asked.seconds / self.batch_time.total_seconds(), paced.source.most))


def adapted(limit: int, taken: int, ratio: float, most: int | None = None) -> int:
    """The limit of the next batch.

    What a batch costs beside its records counts too: where a batch of n records takes a + b n, the limits come to where a + b n is the wanted
    time, as long as a is less than that.

    Parameters
    ----------
    limit, taken
        How much the batch might have taken, and how much it has.
    ratio
        How long it took, as a multiple of the wanted time.
    most
        What no batch takes more than.
    """
    fits = taken / max(ratio, 1e-9)
    if ratio > 1:
        found = max(fits, limit * _SHRINKS)
    elif 2 * taken >= limit:  # a limit is spread over partitions in whole records: what is half of it may be all of it
        found = max(limit, min(max(fits, limit + 1 if ratio < _ROOM else 0), limit * _GROWS))
    else:  # there was no more: that it was quick says nothing of a larger one
        found = limit
    return max(1, int(found) if most is None else min(int(found), most))
