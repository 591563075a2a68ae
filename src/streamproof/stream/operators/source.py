"""The leaf of a query: the rows of a source, as they are read."""

from dataclasses import dataclass

from streamproof.stream.operators.operator import Operator


@dataclass(frozen=True)
class Source(Operator):
    """Gives what a source gives; which one that is says the node."""
