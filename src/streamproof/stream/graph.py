"""From a recipe to a Spark plan: the order of its operators, the watermark, the late door, and what its state is made by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof.core.clock import LAST_MICROS
from streamproof.core.durations import micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.doors import Doors
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.identity import MadeBy, state_of
from streamproof.stream.names import INSTANT, MADE, ORIGINAL, TRACE, visible
from streamproof.stream.operators import Transform, Union, WindowAggregate
from streamproof.stream.operators.operator import EventTimeColumn
from streamproof.stream.operators.union import require_alike, require_one_event_time, together
from streamproof.stream.operators.window import hidden_in
from streamproof.stream.problems import needs_event_time, require_columns
from streamproof.stream.recipe import Recipe
from streamproof.stream.windows.window import DELAY, delay_of


@dataclass(frozen=True)
class Plan:
    """The streaming plan of a query, and what its state is made by (R25)."""

    rows: DataFrame
    made_by: MadeBy


@dataclass(frozen=True)
class Read:
    """What comes from a source: its rows, already parsed, and its event time, which operators that keep state require."""

    rows: DataFrame
    event_time: EventTimeColumn | None = None


def build(recipe: Recipe, reads: Mapping[str, Read], doors: Doors) -> Plan:
    """The streaming plan of a recipe.

    Parameters
    ----------
    reads
        What comes from its sources, by their names.
    doors
        Where records leave.

    Raises
    ------
    JobDefinitionError
        If a step names a column that is not there, needs an event time where none is declared, or puts streams with other columns together.
    """
    parts = branches(recipe, {name: read.rows for name, read in reads.items()}, doors)
    rows = next(iter(parts.values()))
    if not recipe.stateful:
        united = [part.drop(MADE) for part in parts.values()]
        return Plan(together(united, _shown(rows)) if len(united) > 1 else united[0], state_of(recipe, rows))
    times = {source: _event_time(source, reads[source], part) for source, part in parts.items()}
    require_one_event_time({source: time.column for source, time in times.items()})
    for step in recipe.stateful_steps:
        if any(step is window for window in recipe.windows[1:]):
            continue  # its key is among that of the window before it
        for mention in step.mentioned():
            if mention.exact:
                require_columns(rows, mention.columns, mention.where)
    made, between = _kept(recipe, parts, times, doors)
    return Plan(made, state_of(recipe, rows, *between))  # behind the plan, which says in our words what cannot be planned


def branches(recipe: Recipe, rows: Mapping[str, DataFrame], doors: Doors) -> dict[str, DataFrame]:
    """By source its rows behind the row-wise steps; they have the same columns, where there are several."""
    parts = {recipe.source: rows[recipe.source]}
    for step in recipe.row_wise:
        if isinstance(step, Union):
            parts |= branches(step.other, rows, doors)
            require_alike({source: _types(part) for source, part in parts.items()})
        else:
            parts = {source: step.streaming(part, "", doors) for source, part in parts.items()}
    if len(parts) > 1:
        require_alike({source: _types(part) for source, part in parts.items()}, "What stands behind union() makes it one")
    return parts


def row_wise(recipe: Recipe, rows: DataFrame, doors: Doors) -> DataFrame:
    """The steps before the first stateful one, of a recipe with one source: requirements, filters and transforms."""
    (part,) = branches(recipe, {recipe.source: rows}, doors).values()
    return part


def _event_time(source: str, read: Read, rows: DataFrame) -> EventTimeColumn:
    if read.event_time is None:
        raise needs_event_time(source, _types(read.rows))
    require_columns(rows, [read.event_time.column], "the event time")
    return read.event_time


def _no_time(column: str) -> Column:
    """Why a row has no usable event time behind a transform (string); null where it has one. Spark would drop it, or keep it for ever."""
    usable = F.unix_micros(column).between(F.lit(-LAST_MICROS), F.lit(LAST_MICROS))
    return F.when(~F.coalesce(usable, F.lit(False)), F.lit(f"no event time in {column}"))


def _types(rows: DataFrame) -> dict[str, str]:
    return {name: rows.schema[name].dataType.simpleString() for name in visible(rows.columns)}


def _shown(rows: DataFrame) -> list[str]:
    """The columns that sources have in common: those of the job, and in proofs the trace."""
    return [name for name in rows.columns if name == TRACE or name in visible(rows.columns)]


def _kept(
    recipe: Recipe, parts: Mapping[str, DataFrame], times: Mapping[str, EventTimeColumn], doors: Doors
) -> tuple[DataFrame, list[DataFrame]]:
    """The operators that keep state, behind one late door and one watermark for each source, of which the least counts (R13): what the first
    lets in, no later one drops (R10). Gives what comes out, and what goes from a window into the one behind it.
    """
    first, *_ = chain = recipe.stateful_steps
    (column,) = {time.column for time in times.values()}
    delays, behind = [], []
    for source, part in parts.items():
        event_time = times[source]
        delay = event_time.lag + recipe.allowed_lateness
        clock = event_time.column, f"{micros_of(delay) // 1000} milliseconds"
        if MADE in part.columns and isinstance(part.schema[event_time.column].dataType, TimestampType):
            part = doors.reject(part, _no_time(event_time.column))
        # Spark's watermark takes rows one by one, out of a compiled loop. It stands behind the late door, so that the steps up to there are one
        # loop; but before windows that overlap, which make several rows of each. No late row is the newest: the watermark is the same.
        if first.multiplies:
            part = part.withWatermark(*clock)
        rows = first.divert(first.ready(part, event_time.column, doors), event_time.column, doors).drop(MADE)
        behind.append(rows if first.multiplies else rows.withWatermark(*clock))
        delays.append(micros_of(delay) // 1000)
    rows = behind[0]
    if len(behind) > 1:
        rows = together(behind, [name for name in rows.columns if name != ORIGINAL])
        if delay_of(rows, column):  # a batch has none
            # Spark takes the metadata of the first: what a deduplication remembers must last as long as copies can come from any (R12).
            rows = rows.withMetadata(column, {DELAY: max(delays)})
    between: list[DataFrame] = []
    for step in chain:
        rows = rows if step is first else step.ready(rows, column, doors)
        if isinstance(step, WindowAggregate) and step is not chain[-1]:
            rows, column = step.before_window(rows, column, doors), INSTANT
            between.append(rows)
        else:
            rows = step.streaming(rows, column, doors)
    return _afterwards(recipe.afterwards, rows, revised=recipe.emission.revised), between


def _afterwards(steps: Sequence[Transform], rows: DataFrame, *, revised: bool) -> DataFrame:
    """The transforms behind an aggregation; the hidden aggregates stay, in front."""
    hidden = hidden_in(rows)
    for step in steps:
        rows = step.applied(rows)
        _require_hidden(rows, hidden)
        if revised:
            _require_revision(rows)
    return rows.select(*hidden, *[name for name in rows.columns if name not in hidden]) if steps else rows


def _require_revision(rows: DataFrame) -> None:
    if REVISION not in rows.columns:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the column {REVISION}.",
            required="A window can give several rows: the one with the highest revision is its last word, and nothing else tells them apart.",
            remedy=f'Leave columns out with rows.drop(...), or select "{REVISION}" too.',
        )


def _require_hidden(rows: DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the hidden column {missing[0]}.",
            required="It counts the records of each row for the account, and is taken off before the rows are written.",
            remedy=f'Leave columns out with rows.drop(...), or select "{missing[0]}" too.',
        )
