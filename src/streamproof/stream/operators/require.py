"""Requirements: rows that do not fulfil them leave by the rejected output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.stream.known import Mention
from streamproof.stream.operators.operator import RowWise

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.doors import Doors

Condition = Any
"""A SQL expression as text, or a PySpark Column."""


@dataclass(frozen=True)
class Require(RowWise):
    """Rows for which a condition is not true leave by the rejected output, with the condition as the reason."""

    rejects: ClassVar[bool] = True

    conditions: Mapping[str, Condition]

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        from streamproof.stream.problems import checked_column

        return doors.reject(rows, checked_column(rows, "require()", partial(_failed, self.conditions)))

    def mentioned(self) -> Sequence[Mention]:
        return (Mention("require()", list(self.conditions.values())),)


def column_of(condition: Condition) -> "Column":
    """A condition as a column."""
    from pyspark.sql import functions as F

    return F.expr(condition) if isinstance(condition, str) else condition


def _failed(conditions: Mapping[str, Condition]) -> "Column":
    """The first condition that a row does not fulfil, in words; null where it fulfils all."""
    from pyspark.sql import functions as F

    reason = F.lit(None).cast("string")
    for name, condition in reversed(list(conditions.items())):
        text = condition if isinstance(condition, str) else name
        holds = column_of(condition)
        reason = F.when(holds.isNull(), F.lit(f"{text} (is null)")).when(~holds, F.lit(text)).otherwise(reason)
    return reason
