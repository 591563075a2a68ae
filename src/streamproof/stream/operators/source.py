"""The leaf of a query: the rows of a source, as they are read."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamproof.core.sides import REJECTED, Side
from streamproof.stream.operators.operator import Operator


@dataclass(frozen=True)
class Source(Operator):
    """Gives what a source gives; which one that is says the node."""

    @property
    def sides(self) -> Sequence[Side]:
        """What cannot be read leaves before the first step."""
        return (REJECTED,)
