"""What the state of a query is made by: a checkpoint names it, and a job that goes on there is held against it (R25).

Spark binds state to operators by their place and to columns by their place and type. Another window, key or aggregate of the same type passes
its checks, and old rows are then read as what they are not.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof.stream.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NONE = "none"
LATENESS = ("lag", "allowed lateness")
"""The parts that only decide when rows are late and windows close: old state stays what it is under others."""

MadeBy = Mapping[str, str]
"""The parts of an identity by their names, such as "window": "tumbling 30 seconds", as people read them."""


def state_of(recipe: Recipe, rows: "DataFrame", *between: "DataFrame") -> dict[str, str]:
    """The operators of a recipe that keep state, in order, with their keys, windows, lateness and aggregates.

    What row-wise steps before them do is not part of it: no state has their columns but by the keys and aggregates named here, and a function
    given to `transform` cannot be compared.

    Parameters
    ----------
    rows
        What reaches the first of them; the types of keys and aggregates are taken from it.
    between
        What goes from one window into the one behind it, whose parts bear its number.
    """
    stateful = recipe.stateful_steps
    parts = {"operators": ", ".join(step.name for step in stateful) or NONE}
    windows = [step for step in stateful if step.name == "window"]
    for step in stateful:
        number = next((number for number, window in enumerate(windows) if window is step), 0)
        made_by = step.made_by((rows, *between)[number])
        parts |= {f"{part} of window {number + 1}" if number else part: said for part, said in made_by.items()}
    return parts


def differences(before: MadeBy, now: MadeBy) -> dict[str, str]:
    """By part, what it is now and what it was before; the order of aggregates only where these are the same."""
    found = {
        part: f"{part}: {now.get(part, NONE)} now, {before.get(part, NONE)} before"
        for part in dict.fromkeys([*now, *before])
        if now.get(part, NONE) != before.get(part, NONE)
    }
    if any(part.startswith("aggregate ") for part in found):
        found.pop("order of aggregates", None)
    return found
