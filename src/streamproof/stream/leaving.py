"""What leaves a stream beside its main path: its side outputs, as properties."""

from streamproof.core.sides import DUPLICATE, LATE, LATE_OF, REJECTED, UNMATCHED, UNMATCHED_OF, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.arguments import require_unmatched
from streamproof.stream.node import Node
from streamproof.stream.operators import Deduplicate
from streamproof.stream.operators.join import Join
from streamproof.stream.operators.keyed import side_of
from streamproof.stream.operators.operator import Stateful
from streamproof.stream.operators.ordered import OrderedDeduplicate
from streamproof.stream.side_output import SideOutput


class SideOutputs:
    """The side outputs of a stream. One that nothing in the stream gives rows to is refused."""

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def rejected(self) -> SideOutput:
        """The rows that could not be parsed, had no usable event time or gap, or failed a requirement, with `reason` and `original`."""
        return SideOutput(REJECTED, self.node)

    @property
    def unmatched(self) -> SideOutput:
        """The rows that `lookup` found no row for in the table, with all their columns and `reason`."""
        require_unmatched(self.node.sides)
        return SideOutput(UNMATCHED, self.node)

    @property
    def late(self) -> SideOutput:
        """The rows that came at or behind the late bound (R10), with all their columns and `reason`."""
        if self._has(Join):
            raise JobDefinitionError(
                "A join has no .late: its late rows are of two streams, which have other columns.",
                remedy="Take .late_left and .late_right.",
            )
        if not self.node.stateful:
            raise JobDefinitionError(
                "A stream without deduplicate(), latest() or window() has no late rows: nothing is dropped by time.",
                remedy="Leave it out. Where one of them follows, take .late from the stream after that, the one that the job returns.",
            )
        return SideOutput(LATE, self.node)

    @property
    def duplicates(self) -> SideOutput:
        """The rows that `deduplicate` drops, with all their columns and `reason`.

        Where the job does not return it they are only counted. It costs every row that is deduplicated all its columns in the exchange
        before, also those that the job does not use, and a copy in memory until the row is known to stay; each dropped one is written.
        """
        if self._has(OrderedDeduplicate):
            raise JobDefinitionError(
                "deduplicate(order_by=...) has no duplicates as rows.",
                required="Its state holds the row of each key that stays so far, and a number of the others, not these.",
                remedy="Leave order_by out for an output of duplicates; the account counts them here.",
            )
        if not self._has(Deduplicate):
            raise JobDefinitionError(
                "A stream without deduplicate() has no duplicates: no row is dropped for its key.",
                remedy="Leave it out. Where deduplicate() follows, take .duplicates from the stream after that, the one that the job returns.",
            )
        return SideOutput(DUPLICATE, self.node)

    @property
    def late_left(self) -> SideOutput:
        """Of a join the rows of the left stream that came at or behind the late bound, with all their columns and `reason`."""
        return self._side_of_join("late_left", LATE_OF[0])

    @property
    def late_right(self) -> SideOutput:
        """Of a join the rows of the right stream that came at or behind the late bound, with all their columns and `reason`."""
        return self._side_of_join("late_right", LATE_OF[1])

    @property
    def unmatched_left(self) -> SideOutput:
        """Of a join the rows of the left stream without a partner, with all their columns and `reason`; if nobody returns it, they are counted."""
        return self._side_of_join("unmatched_left", UNMATCHED_OF[0])

    @property
    def unmatched_right(self) -> SideOutput:
        """Of a join the rows of the right stream without a partner, with all their columns and `reason`; if nobody returns it, they are counted."""
        return self._side_of_join("unmatched_right", UNMATCHED_OF[1])

    def tagged(self, name: str) -> SideOutput:
        """The rows that steps of `keyed` give to the side output of a name, `sp.emit(..., to=NAME)`."""
        return SideOutput(side_of(self.node, "tag", name), self.node)

    def overflow(self, field: str) -> SideOutput:
        """What a list or a map of `keyed` has lost since it was full: `value`, of a map also `key`."""
        return SideOutput(side_of(self.node, "overflow", field), self.node)

    def _side_of_join(self, named: str, side: Side) -> SideOutput:
        if not self._has(Join):
            raise JobDefinitionError(
                f"Only a join has .{named}.",
                remedy=f"Take .{named} from the stream that join() gives, or from a transform() of it.",
            )
        if side not in self.node.sides:
            raise JobDefinitionError(
                f".{named} of a join whose how makes these rows part of the output.",
                remedy=f'Leave .{named} out: they have nulls for the other side. Or take how="inner".',
            )
        return SideOutput(side, self.node)

    def _has(self, kind: type[Stateful]) -> bool:
        return any(isinstance(operator, kind) for operator in self.node.keeping)
