"""The events of a sample in pieces, as arrays: what is measured is never held as a whole."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Micros = NDArray[np.int64]
"""Instants, or durations, in microseconds; instants since 1970, UTC."""
Codes = NDArray[np.int32]

MOST_NAMES = 200_000
"""So many keys are told apart; what comes behind them counts as one more, called `OTHERS`."""
OTHERS = "(all other keys)"


@dataclass(frozen=True)
class Chunk:
    """Some events, in the order of the sample.

    Parameters
    ----------
    times
        The event time of each, in microseconds since 1970.
    groups
        By dimension ("key", "partition", "file") the number of the group of each event, as its `Names` has given it.
    arrival
        What the order of arrival goes by; None where it is the order of the sample.
    unreadable
        How many records beside them have no event time that can be read.
    """

    times: Micros
    groups: Mapping[str, Codes] = field(default_factory=dict)
    arrival: Micros | None = None
    unreadable: int = 0

    def __len__(self) -> int:
        return len(self.times)

    def part(self, which: slice | NDArray[np.intp]) -> "Chunk":
        """Some of the events."""
        arrival = None if self.arrival is None else self.arrival[which]
        return Chunk(self.times[which], {name: codes[which] for name, codes in self.groups.items()}, arrival)


class Names:
    """The groups of one dimension: each gets a number when it is first seen."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        self.lumped = False

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, name: str) -> int:
        found = self._numbers.get(name)
        if found is not None:
            return found
        if len(self._numbers) >= self._most:
            self.lumped = True
            name = OTHERS
        return self._numbers.setdefault(name, len(self._numbers))

    def numbers(self, names: Iterable[str]) -> Codes:
        """The number of each of the names."""
        return np.fromiter(map(self.number, names), dtype=np.int32)

    def all(self) -> list[str]:
        """The names by their numbers."""
        return list(self._numbers)


def joined(chunks: "list[Chunk]") -> Chunk:
    """Chunks as one."""
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    return Chunk(
        np.concatenate([chunk.times for chunk in chunks]),
        {name: np.concatenate([chunk.groups[name] for chunk in chunks]) for name in first.groups},
        None if first.arrival is None else np.concatenate([chunk.arrival for chunk in chunks if chunk.arrival is not None]),
        sum(chunk.unreadable for chunk in chunks),
    )


def by_arrival(chunks: Iterable[Chunk]) -> Chunk:
    """All events in the order of their arrival; those that arrived at once stay as they are. It holds all of them: 12 to 30 bytes an event."""
    found = joined(list(chunks) or [Chunk(np.empty(0, dtype=np.int64), arrival=np.empty(0, dtype=np.int64))])
    assert found.arrival is not None
    ordered = found.part(np.argsort(found.arrival, kind="stable"))
    return Chunk(ordered.times, ordered.groups, ordered.arrival, found.unreadable)
