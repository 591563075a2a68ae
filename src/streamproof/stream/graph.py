"""From a recipe to a Spark plan: the order of its operators, the watermark, the late door, and what its state is made by."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamproof.core.durations import micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.doors import Doors
from streamproof.stream.identity import MadeBy, state_of
from streamproof.stream.names import MADE
from streamproof.stream.operators import Transform
from streamproof.stream.operators.operator import EventTimeColumn
from streamproof.stream.operators.window import hidden_in
from streamproof.stream.problems import needs_event_time, require_columns
from streamproof.stream.recipe import Recipe


@dataclass(frozen=True)
class Plan:
    """The streaming plan of a query, and what its state is made by (R25)."""

    rows: DataFrame
    made_by: MadeBy


def build(recipe: Recipe, rows: DataFrame, event_time: EventTimeColumn | None, doors: Doors) -> Plan:
    """The streaming plan of a recipe.

    Parameters
    ----------
    rows
        The source's rows, already parsed.
    event_time
        Required by operators that keep state.
    doors
        Where records leave.

    Raises
    ------
    JobDefinitionError
        If a step names a column that is not there, or needs an event time where none is declared.
    """
    rows = row_wise(recipe, rows, doors)
    if not recipe.stateful:
        return Plan(rows.drop(MADE), state_of(recipe, rows))
    if event_time is None:
        raise needs_event_time(recipe.source)
    require_columns(rows, [event_time.column], "the event time")
    for step in recipe.stateful_steps:
        for mention in step.mentioned():
            if mention.exact:
                require_columns(rows, mention.columns, mention.where)
    made = _kept(recipe, rows, event_time, doors)
    return Plan(made, state_of(recipe, rows))  # behind the plan, which says in our words what cannot be planned


def row_wise(recipe: Recipe, rows: DataFrame, doors: Doors) -> DataFrame:
    """The steps before the first stateful one: requirements, filters and transforms."""
    for step in recipe.row_wise:
        rows = step.streaming(rows, "", doors)
    return rows


def _kept(recipe: Recipe, rows: DataFrame, event_time: EventTimeColumn, doors: Doors) -> DataFrame:
    """The operators that keep state, behind one late door and one watermark: what the first lets in, no later one drops (R10)."""
    first, *others = recipe.stateful_steps
    delay = event_time.lag + recipe.allowed_lateness
    rows = first.divert(first.ready(rows, event_time.column, doors), event_time.column, doors).drop(MADE)
    # Behind the door: no late row is the newest, and Spark compiles the steps up to its watermark into one loop.
    rows = rows.withWatermark(event_time.column, f"{micros_of(delay) // 1000} milliseconds")
    rows = first.streaming(rows, event_time.column, doors)
    for step in others:
        rows = step.streaming(step.ready(rows, event_time.column, doors), event_time.column, doors)
    return _afterwards(recipe.afterwards, rows)


def _afterwards(steps: Sequence[Transform], rows: DataFrame) -> DataFrame:
    """The transforms behind an aggregation; the hidden aggregates stay, in front."""
    hidden = hidden_in(rows)
    for step in steps:
        rows = step.applied(rows)
        _require_hidden(rows, hidden)
    return rows.select(*hidden, *[name for name in rows.columns if name not in hidden]) if steps else rows


def _require_hidden(rows: DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the hidden column {missing[0]}.",
            required="It counts the records of each row for the account, and is taken off before the rows are written.",
            remedy=f'Leave columns out with rows.drop(...), or select "{missing[0]}" too.',
        )
