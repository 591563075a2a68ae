"""Unions: the rows of two streams, put together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.operators.operator import Operator

if TYPE_CHECKING:
    from streamproof.stream.node import Node


@dataclass(frozen=True)
class Union(Operator):
    """The rows of another stream beside those of this one; both have the same columns.

    The steps behind it are taken by the rows of each source by themselves, up to the first operator that keeps state: so the watermark of a
    source is taken from what of it reaches that operator, as it is in a job with one source.
    """


def require_possible(one: "Node", other: "Node") -> None:
    """JobDefinitionError for two streams that cannot be put together, by what is known when the job function is called."""
    last = one.last or other.last
    if last is not None:
        raise JobDefinitionError(
            f"union() of a stream after {last.call}.",
            required="What is late is decided once, before anything is in state, by the watermarks of all sources.",
            remedy=f"Put the streams together first, and let {last.call} stand after union().",
        )
    twice = sorted(set(one.sources) & set(other.sources))
    if twice:
        raise JobDefinitionError(
            f"union() puts two streams of the source {twice[0]} together.",
            required="A record that is in both would count twice, and the account would not add up.",
            remedy="Make one condition of the two, for filter() or require().",
        )
