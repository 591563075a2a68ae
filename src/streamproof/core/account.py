"""The account: where every (record, window) of a query is. The places stand here and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Place:
    """One of the places that a record can be in.

    Parameters
    ----------
    word, meaning
        How people read it, and what it means, as reports say it.
    stays
        Whether the record is in the output, or can still come there; else it has left by another way.
    counted
        Whether a batch counts the records that come there; what is in state is read from the state.
    always
        Whether it is shown of every query; else only where a record is in it, as of an operator that few jobs have.
    """

    name: str
    word: str
    meaning: str
    stays: bool
    counted: bool
    always: bool


def _place(word: str, meaning: str, *, stays: bool = False, counted: bool = True, always: bool = True) -> Any:
    return field(default=0, metadata={"word": word, "meaning": meaning, "stays": stays, "counted": counted, "always": always})


@dataclass(frozen=True)
class Account:
    """Counts of (input record, window) pairs; without windows, of input records. Each is in exactly one place.

    Where the rows of a join go on to a window, a record counts once for each of these rows, and once while it waits in the join.
    """

    emitted: int = _place("emitted", "in a row that can no longer change", stays=True)
    open_state: int = _place("open", "in state, or in a row that may still be corrected", stays=True, counted=False)
    late: int = _place("late", "delivered by the late output")
    rejected: int = _place("rejected", "delivered by the rejected output, with the reason")
    duplicate: int = _place("duplicate", "a copy of an event that was already taken")
    filtered: int = _place("filtered", "left out by a counted filter")
    superseded: int = _place("superseded", "not newer than what is known of its key", always=False)
    unmatched: int = _place("unmatched", "found no partner: no row of the other stream, or of the table", always=False)
    absorbed: int = _place("absorbed", "changed the state of its key, and is in no row", always=False)
    tagged: int = _place("tagged", "in rows of the side outputs that a step names, and in none of the main one", always=False)

    @property
    def total(self) -> int:
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in PLACES}

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> "Account":
        return cls(**{name: counts.get(name, 0) for name in PLACES})


PLACES: Mapping[str, Place] = {place.name: Place(place.name, **place.metadata) for place in fields(Account)}
"""By name, in the order in which reports show them."""

COUNTED = tuple(name for name, place in PLACES.items() if place.counted)
"""The places that a batch counts."""

OF_A_BATCH = ("input", "expanded", *COUNTED)
"""What the manifest of a batch counts: what it has read, what that is in further windows or joined rows, and where those records are."""


def shown(*counts: Mapping[str, int]) -> tuple[str, ...]:
    """The names of the places that people are shown, where these are the counts that are shown together."""
    return tuple(name for name, place in PLACES.items() if place.always or any(one.get(name) for one in counts))
