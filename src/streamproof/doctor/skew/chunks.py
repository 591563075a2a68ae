"""The events of a sample in pieces, as arrays: what is measured is never held as a whole."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Micros = NDArray[np.int64]
"""Instants, or durations, in microseconds; instants since 1970, UTC."""
Codes = NDArray[np.int32]

MOST_NAMES = 200_000
"""So many keys are told apart; what comes behind them counts as one more, called `OTHERS`."""
OTHERS = "(all other keys)"
_AT_ONCE = 1 << 17
_TIMES, _ARRIVAL = " times", " arrival"


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


def by_arrival(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """All events in the order of their arrival; those that arrived at once stay as they are.

    All of them are held, 16 bytes each and 4 for each dimension, and as much again of one column at a time.
    """
    columns: dict[str, list[NDArray[Any]]] = {}
    unreadable = 0
    for chunk in chunks:
        unreadable += chunk.unreadable
        assert chunk.arrival is not None
        of_chunk: dict[str, NDArray[Any]] = {_TIMES: chunk.times, _ARRIVAL: chunk.arrival, **chunk.groups}
        for name, column in of_chunk.items():
            columns.setdefault(name, []).append(column)
    whole = {name: np.concatenate(columns.pop(name)) for name in list(columns)}
    if not whole:
        return
    order = np.argsort(whole[_ARRIVAL], kind="stable")
    for name in whole:
        whole[name] = whole[name][order]
    del order
    times, arrival = whole.pop(_TIMES), whole.pop(_ARRIVAL)
    everything = Chunk(times, whole, arrival)
    for start in range(0, max(1, len(times)), _AT_ONCE):
        some = everything.part(slice(start, start + _AT_ONCE))
        yield Chunk(some.times, some.groups, some.arrival, 0 if start else unreadable)
