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


MOST_SPREAD = 1_000


def require_spread(given: Any) -> int | None:
    """Over how many tasks rows are dealt; None where what is called so is an aggregate, or nothing is.

    Raises
    ------
    JobDefinitionError
        If it is a number, and none from 2 to 1,000.
    """
    if given is None or not isinstance(given, int | float | str):
        return None
    if isinstance(given, int) and not isinstance(given, bool) and 2 <= given <= MOST_SPREAD:
        return given
    raise JobDefinitionError(
        f"aggregate(spread={given!r}) is no number of tasks.",
        required=f"A whole number from 2 to {MOST_SPREAD:,}: over so many tasks rows are dealt before they are aggregated by their key.",
        remedy="Take as many as there are cores, or leave it out.",
    )


def require_unmatched(sides: Sequence[Side]) -> None:
    """JobDefinitionError unless rows of a stream can leave for want of a row in a table."""
    if UNMATCHED not in sides:
        raise JobDefinitionError(
            'A stream without lookup(..., how="inner") has no unmatched rows.',
            remedy="Leave it out. Where lookup() follows, take .unmatched from the stream after that, the one that the job returns.",
        )
