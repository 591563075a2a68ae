"""Finds the events behind a difference of count and hash: which one is lost or doubled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamproof.prove.oracle.trace import Vector, event_id, hash_of

_MOST_PAIRED = 5_000
"""Pairs are looked for in windows up to this size; beyond it a coincidence of 40-bit hashes is no longer remote."""


@dataclass(frozen=True)
class Difference:
    """Events that are missing, and events that are there once more than they should; `words` say what they have in common."""

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    words: str = ""


def difference(
    off: Vector, members: Sequence[str], by_hash: Mapping[int, str], groups: Iterable[tuple[str, tuple[str, ...]]] = ()
) -> Difference | None:
    """The events behind a difference (found minus expected); None if it cannot be told.

    Parameters
    ----------
    members
        The traces that should be there.
    by_hash
        Every event id of the scenario by its hash.
    groups
        Sets of traces that may be lost or doubled together, with words for them.
    """
    count, hashes = off.count, off.hash
    if count == 0 and hashes == 0:
        return Difference()
    single = _single(count, hashes, members, by_hash)
    if single is not None:
        return single
    for words, traces in groups:
        vector, events = Vector.of(traces), tuple(event_id(trace) for trace in traces)
        if vector == off:
            return Difference(added=events, words=words)
        if vector == Vector(-count, -hashes):
            return Difference(lost=events, words=words)
    return _pair(count, hashes, members, by_hash) if len(members) <= _MOST_PAIRED else None


def _single(count: int, hashes: int, members: Sequence[str], by_hash: Mapping[int, str]) -> Difference | None:
    if count == 1 and hashes in by_hash:
        return Difference(added=(by_hash[hashes],))
    if count == -1:
        lost = next((event_id(trace) for trace in members if hash_of(trace) == -hashes), None)
        return Difference(lost=(lost,)) if lost else None
    return None


def _pair(count: int, hashes: int, members: Sequence[str], by_hash: Mapping[int, str]) -> Difference | None:
    own = {hash_of(trace): event_id(trace) for trace in members}
    for hashed, event in own.items():
        if count == 0 and (other := by_hash.get(hashes + hashed)) and other != event:
            return Difference(lost=(event,), added=(other,))
        if count == 2 and (other := by_hash.get(hashes - hashed)):
            return Difference(added=(event, other))
        if count == -2 and (other := own.get(-hashes - hashed)) and other != event:
            return Difference(lost=(event, other))
    return None
