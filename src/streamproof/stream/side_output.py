"""A side output of a stream, as a job names it."""

from dataclasses import dataclass

from streamproof.core.sides import Side
from streamproof.stream.node import Node


@dataclass(frozen=True)
class SideOutput:
    """The records that leave a stream by its side: `stream.late`, `stream.rejected`, `stream.duplicates`."""

    side: Side
    node: Node
