"""What is kept of a failing scenario, and the smaller scenario that comes of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamproof.prove.scenario.exactly import Exactly
from streamproof.prove.scenario.generate import Event


@dataclass(frozen=True)
class Kept:
    """A part of a scenario.

    Parameters
    ----------
    events
        The numbers of the events that are kept, counted from 0 over all sources in the order of their batches.
    borders
        The batches that still end where they did: border 0 lies between batch 0 and batch 1. Without it the two are one batch.
    fault
        Whether the fault happens.
    """

    events: frozenset[int]
    borders: frozenset[int]
    fault: bool

    def within(self, other: "Kept") -> bool:
        """Whether nothing is kept that the other one does not have."""
        return self.events <= other.events and self.borders <= other.borders and self.fault <= other.fault


@dataclass(frozen=True)
class Smaller:
    """A scenario that keeps a part of another one.

    Parameters
    ----------
    exactly
        Its events.
    batch_of
        By batch of the whole scenario the batch it has become; where no event of it is kept, the next one that is there.
    """

    exactly: Exactly
    batch_of: Mapping[int, int]

    def batch(self, whole: int) -> int:
        """The batch that a batch of the whole has become; those after the last event are counted on: Spark runs them to close windows."""
        last = max(self.batch_of)
        return self.batch_of[whole] if whole <= last else self.exactly.batches + whole - last - 1


class Whole:
    """A failing scenario."""

    def __init__(self, of_source: Mapping[str, Sequence[Event]]) -> None:
        self._sources = tuple(of_source)
        flat = [(event.batch, place, event.arrival, event) for place, name in enumerate(of_source) for event in of_source[name]]
        flat.sort(key=lambda one: one[:3])
        self._flat: Sequence[tuple[str, Event]] = [(self._sources[place], event) for _, place, _, event in flat]
        self.batches = 1 + max((event.batch for _, event in self._flat), default=0)

    @property
    def events(self) -> int:
        """How many events there are in all."""
        return len(self._flat)

    def all(self, *, fault: bool) -> Kept:
        """All of it; `fault` says whether a fault happens."""
        return Kept(frozenset(range(self.events)), frozenset(range(self.batches - 1)), fault)

    def event_ids(self, kept: Kept) -> list[str]:
        """The ids of the events that are kept, in their order."""
        return [self._flat[number][1].event_id for number in sorted(kept.events)]

    def batch_of(self, number: int) -> int:
        """The batch of an event."""
        return self._flat[number][1].batch

    def of(self, kept: Kept) -> Smaller:
        """The scenario that keeps this part; ValueError where it keeps no event."""
        if not kept.events:
            raise ValueError("a scenario without an event")
        group_of = _groups(self.batches, kept.borders)
        there = sorted({group_of[self.batch_of(number)] for number in kept.events})
        new = {group: place for place, group in enumerate(there)}
        made: dict[str, list[Event]] = {name: [] for name in self._sources}
        for number in sorted(kept.events):
            name, event = self._flat[number]
            moved = replace(event, batch=new[group_of[event.batch]], arrival=len(made[name]))
            made[name].append(moved)
        last = len(there) - 1
        following = {batch: next((new[one] for one in there if one >= group), last) for batch, group in enumerate(group_of)}
        return Smaller(Exactly(made), following)


def _groups(batches: int, borders: Iterable[int]) -> list[int]:
    """By batch the number of the batch it is put together into."""
    kept, found = set(borders), [0]
    for border in range(batches - 1):
        found.append(found[-1] + (border in kept))
    return found
