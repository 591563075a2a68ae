"""What the state of a query is made by: a checkpoint names it, and a job that goes on there is held against it (R25).

Spark binds state to operators by their place and to columns by their place and type. Another window, key or aggregate of the same type passes
its checks, and old rows are then read as what they are not.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof.core.durations import format_duration
from streamproof.stream.recipe import Deduplicate, Recipe, WindowAggregate

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NONE = "none"
LATENESS = ("lag", "allowed lateness")
"""The parts that only decide when rows are late and windows close: old state stays what it is under others."""

_LAMBDA_NAME = re.compile(r"\b[xyz]_\d+\b")
"""How PySpark names the arguments of a lambda function: by a counter of the JVM."""

MadeBy = Mapping[str, str]
"""The parts of an identity by their names, such as "window": "tumbling 30 seconds", as people read them."""


def state_of(recipe: Recipe, rows: "DataFrame") -> dict[str, str]:
    """The operators of a recipe that keep state, in order, with their keys, windows, lateness and aggregates.

    What row-wise steps before them do is not part of it: no state has their columns but by the keys and aggregates named here, and a function
    given to `transform` cannot be compared.

    Parameters
    ----------
    rows
        What reaches the first of them; the types of keys and aggregates are taken from it.
    """
    stateful = [step for step in recipe.steps if isinstance(step, Deduplicate | WindowAggregate)]
    names = ["deduplicate" if isinstance(step, Deduplicate) else "window" for step in stateful]
    parts = {"operators": ", ".join(names) or NONE}
    if recipe.deduplicate is not None:
        parts["deduplication key"] = _typed(rows, recipe.deduplicate.key)
    aggregate = recipe.aggregate
    if aggregate is not None:
        parts["window"] = str(aggregate.window)
        parts["window key"] = _typed(rows, aggregate.by)
        parts["allowed lateness"] = format_duration(aggregate.allowed_lateness)
        made = rows.groupBy(*aggregate.by).agg(*[column.alias(name) for name, column in aggregate.aggregates.items()])
        types = {field.name: field.dataType.simpleString() for field in made.schema.fields}
        parts["order of aggregates"] = ", ".join(aggregate.aggregates)
        parts |= {f"aggregate {name}": f"{expression(column)} {types[name]}" for name, column in aggregate.aggregates.items()}
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


def expression(column: "Column") -> str:
    """A column's expression as PySpark writes it, "sum(v)", the same in each process."""
    text = str(column).removeprefix("Column<'").removesuffix("'>")
    if "lambda" not in text:
        return text
    numbers: dict[str, str] = {}
    return _LAMBDA_NAME.sub(lambda found: numbers.setdefault(found[0], f"{found[0][0]}_{len(numbers)}"), text)


def _typed(rows: "DataFrame", names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {rows.schema[name].dataType.simpleString()}" for name in names) or NONE
