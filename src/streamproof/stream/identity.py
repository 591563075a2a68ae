"""What the state of a query is made by: a checkpoint names it, and a job that goes on there is held against it (R25).

Spark binds state to operators by their place and to columns by their place and type. Another window, key or aggregate of the same type passes
its checks, and old rows are then read as what they are not.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from streamproof.core.manifest import NONE
from streamproof.stream.node import Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SPARK = "Spark"
"""The part that names the version of Spark. It is held by itself, since a newer version goes on where an older one has stopped."""
LATENESS = ("lag", "allowed lateness")
"""The parts that only decide when rows are late and windows close: old state stays what it is under others."""

MadeBy = Mapping[str, str]
"""The parts of an identity by their names, such as "window": "tumbling 30 seconds", as people read them."""


def state_of(root: Node, reaching: "Sequence[Sequence[DataFrame]]") -> dict[str, str]:
    """The operators of a query that keep state, in order, with their keys, windows, lateness and aggregates.

    What row-wise steps before them do is not part of it: no state has their columns but by the keys and aggregates named here, and a function
    given to `transform` cannot be compared. Parts of the second operator of a kind bear its number.

    Parameters
    ----------
    reaching
        What comes to each of them, by each input, in their order; the types of keys and aggregates are taken from it.
    """
    parts = {"operators": ", ".join(operator.name for operator in root.keeping) or NONE}
    met: Counter[str] = Counter()
    for operator, coming in zip(root.keeping, reaching, strict=True):
        met[operator.name] += 1
        number = met[operator.name]
        made_by = operator.state_of(coming)
        parts |= {part if number == 1 else f"{part} of {operator.name} {number}": said for part, said in made_by.items()}
    return parts


def differences(before: MadeBy, now: MadeBy) -> dict[str, str]:
    """By part, what it is now and what it was before; the order of aggregates only where these are the same."""
    found = {
        part: f"{part}: {now.get(part, NONE)} now, {before.get(part, NONE)} before"
        for part in dict.fromkeys([*now, *before])
        if part != SPARK and now.get(part, NONE) != before.get(part, NONE)
    }
    if any(part.startswith("aggregate ") for part in found):
        found.pop("order of aggregates", None)
    return found
