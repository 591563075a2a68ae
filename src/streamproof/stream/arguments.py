"""What the methods of a stream are called with, looked at when the job function calls them."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.core.sides import UNMATCHED, Side
from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates import Declared

Names = str | tuple[str, ...] | list[str]
"""One column by its name, or several."""
On = Names | Mapping[str, str]
"""The columns of a key; by name of the one the name of the other where they are called otherwise."""


def require_condition(where: str, condition: Any) -> None:
    """JobDefinitionError unless a condition is a text or a column."""
    if not isinstance(condition, str) and not hasattr(condition, "isNull"):
        raise JobDefinitionError(
            f"{where} got a {type(condition).__name__}.",
            required='A condition is a SQL expression such as "notional > 0", or a PySpark column of type boolean.',
        )


def require_aggregates(aggregates: Mapping[str, Any]) -> None:
    """JobDefinitionError unless there are aggregates, and each is one."""
    if not aggregates:
        raise JobDefinitionError("aggregate() needs an aggregate.", remedy='For example: aggregate(trades=F.count("*")).')
    for name, column in aggregates.items():
        if not hasattr(column, "alias") and not isinstance(column, Declared):
            raise JobDefinitionError(
                f"aggregate({name}=...) is a {type(column).__name__}.",
                required='An aggregate is a PySpark column, such as F.sum("notional"), an sp.accumulator(...) or one of sp.sketch.',
            )


def require_unmatched(sides: Sequence[Side]) -> None:
    """JobDefinitionError unless rows of a stream can leave for want of a row in a table."""
    if UNMATCHED not in sides:
        raise JobDefinitionError(
            'A stream without lookup(..., how="inner") has no unmatched rows.',
            remedy="Leave it out. Where lookup() follows, take .unmatched from the stream after that, the one that the job returns.",
        )
