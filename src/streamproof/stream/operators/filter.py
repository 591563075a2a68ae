"""Filters: rows that they leave out are counted under a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from streamproof.stream.operators.operator import Mention, Operator
from streamproof.stream.operators.require import Condition, column_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Filter(Operator):
    """Rows for which the condition is not true are counted under a name and dropped."""

    condition: Condition
    name: str

    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        from streamproof.stream.problems import checked_column

        keep = checked_column(rows, self._where, partial(column_of, self.condition))
        return doors.drop(rows, F.coalesce(keep, F.lit(False)), self.name)

    def mentioned(self) -> Sequence[Mention]:
        return (Mention(self._where, [self.condition]),)

    @property
    def _where(self) -> str:
        return f"filter(name={self.name!r})"
