"""What a job returns: main outputs and the side outputs it names."""

from collections.abc import Mapping

from streamproof.core.sides import REJECTED, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.node import Node
from streamproof.stream.side_output import SideOutput
from streamproof.stream.stream import Stream
from streamproof.stream.windowed import WindowedStream


class Outputs:
    """The named outputs of a job: `sp.Outputs(exposure=exposure, late=exposure.late)`.

    Raises
    ------
    JobDefinitionError
        If there is no main output, a value is neither a stream nor a side output, or a side output belongs to none of the
        main outputs.
    """

    def __init__(self, **outputs: Stream | SideOutput) -> None:
        self.main: Mapping[str, Node] = {name: value.node for name, value in outputs.items() if isinstance(value, Stream)}
        self.side: Mapping[str, SideOutput] = {name: value for name, value in outputs.items() if isinstance(value, SideOutput)}
        for name, value in outputs.items():
            if isinstance(value, WindowedStream):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is a window without an aggregate.", remedy="Add .aggregate(total=F.sum(...))."
                )
            if not isinstance(value, Stream | SideOutput):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is a {type(value).__name__}.",
                    required="An output is a Stream or a side output such as stream.late.",
                )
            if not name.isidentifier() or name.startswith("_"):
                raise JobDefinitionError(f"Outputs({name}=...): an output's name is a word that does not begin with an underscore.")
        if not self.main:
            raise JobDefinitionError("The job returns no main output.", required="Outputs(...) takes at least one Stream.")
        for name, side in self.side.items():
            if not any(_belongs(side, root) for root in self.main.values()):
                raise JobDefinitionError(
                    f"Outputs({name}=...) is the {side.side.said} output of a stream that no main output is made from.",
                    remedy="Return the stream as a main output too, or take the side output from one that is returned.",
                )

    def sides_of(self, query: str) -> dict[Side, str]:
        """The side outputs that the query of a main output delivers, with the name of each.

        Late and duplicate rows belong to one query; rejected ones, which are the same for all queries with the same steps, are delivered
        by the first query they belong to (R14).
        """
        root = self.main[query]
        found: dict[Side, str] = {}
        for name, taken in self.side.items():
            owner = next(main for main, candidate in self.main.items() if _belongs(taken, candidate))
            if owner == query and _belongs(taken, root):
                side = taken.side
                if side in found:
                    raise JobDefinitionError(f"The outputs {found[side]} and {name} are both the {side.said} output of {query}.")
                found[side] = name
        return found


def _belongs(side: SideOutput, root: Node) -> bool:
    """Whether the stream that a side output is taken from leads to an output; of rejected ones any stream on the way, of others the last."""
    return side.node is root or (side.side == REJECTED and any(side.node is node for node in root.walk()))
