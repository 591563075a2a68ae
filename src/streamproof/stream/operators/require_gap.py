"""The gap that each event of a session brings: rows without one leave by the rejected output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from streamproof.stream.known import Mention
from streamproof.stream.operators.operator import Operator, RowWise
from streamproof.stream.windows.gap import Gap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class RequireGap(RowWise):
    """What a session whose gap is that of a column requires, before anything is in state: Spark would drop such rows, and say nothing."""

    rejects: ClassVar[bool] = True

    gap: Gap

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from streamproof.stream.problems import require_columns

        require_columns(rows, [self.gap.column], self.gap.call)
        return doors.reject(rows, self.gap.refused(rows))

    def is_same(self, other: Operator) -> bool:
        return self == other  # what windows require is made anew each time

    def mentioned(self) -> Sequence[Mention]:
        return (Mention(self.gap.call, (self.gap.column,), exact=True),)
