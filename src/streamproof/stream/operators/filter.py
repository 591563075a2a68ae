"""Filters: rows that they leave out are counted under a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from streamproof.stream.known import Mention
from streamproof.stream.operators.operator import Exercise, RowWise
from streamproof.stream.operators.require import Condition, column_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Filter(RowWise):
    """Rows for which the condition is not true are counted under a name and dropped."""

    condition: Condition
    name: str

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from pyspark.sql import functions as F

        from streamproof.stream.problems import checked_column

        keep = checked_column(rows, self._where, partial(column_of, self.condition))
        return doors.drop(rows, F.coalesce(keep, F.lit(False)), self.name)

    def exercises(self) -> Sequence[Exercise]:
        missing = f"The filter {self.name} of {{query}} left no record out."
        return (Exercise("filtered", missing, "Make values that it leaves out: [source.{source}.columns]", self.name, "filter"),)

    def mentioned(self) -> Sequence[Mention]:
        return (Mention(self._where, [self.condition]),)

    @property
    def _where(self) -> str:
        return f"filter(name={self.name!r})"
