"""What the user asked for: the calls of the job function, argument by argument, as they were written (R28).

The oracle starts from these, never from what the product made of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any


@dataclass(frozen=True)
class Call:
    """One method that was called on a stream, with its arguments by the names of the parameters."""

    method: str
    given: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Asked:
    """A stream as it was asked for: a source, or a call on one stream or two. Streams that share one have it once.

    Parameters
    ----------
    source
        The name of the source that a leaf is; empty of other streams.
    """

    source: str = ""
    call: Call | None = None
    inputs: "tuple[Asked, ...]" = ()

    def then(self, method: str, *others: "Asked", **given: Any) -> "Asked":
        """What a method was called for on this stream, and on others where it takes several."""
        return Asked("", Call(method, given), (self, *others))

    def walk(self) -> "Iterator[Asked]":
        """Every stream once, the inputs of one before it."""
        seen: set[Asked] = set()
        yield from self._walked(seen)

    def _walked(self, seen: "set[Asked]") -> "Iterator[Asked]":
        for one in self.inputs:
            yield from one._walked(seen)
        if self not in seen:
            seen.add(self)
            yield self

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of all sources, in the order in which Spark numbers them."""
        return tuple(one.source for one in self.walk() if one.source)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, those of its inputs before its own."""
        return tuple(one.call for one in self.walk() if one.call is not None)


@dataclass(frozen=True)
class AskedTime:
    """The event time of a source as its configuration file says it: the column, and durations as they are written there."""

    column: str
    lag: str | timedelta = timedelta()
    max_future: str | timedelta | None = None
    idle_after: str | timedelta | None = None
