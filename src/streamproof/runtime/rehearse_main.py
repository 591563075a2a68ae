"""The process that calls a job function without Spark: python -m streamproof.runtime.rehearse_main ANSWER TARGET PROFILE."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.users_code import place_of
from streamproof.errors import StreamproofError
from streamproof.runtime.recording_spark import NeedsSpark, install, names_in
from streamproof.runtime.rehearsal import Rehearsed
from streamproof.runtime.several_queries import prices

if TYPE_CHECKING:
    from streamproof.config import SourceConfig
    from streamproof.stream.operators.operator import Mention
    from streamproof.stream.recipe import Recipe


def main(arguments: list[str]) -> None:
    """Writes what calling the job showed to the answer's file."""
    answer, target, profile = arguments
    try:
        found = called(target, profile or None)
    except BaseException as problem:  # noqa: BLE001 -- SystemExit too: it is the user's file
        found = _said(problem)
    Path(answer).write_text(found.to_json(), encoding="utf-8")


def called(target: str, profile: str | None) -> Rehearsed:
    """Binds the job as `run` does, but for Spark, and looks at the steps that it has recorded.

    Raises
    ------
    StreamproofError
        What `run` would refuse too.
    NeedsSpark
        If the file asks for a session.
    """
    from streamproof.config import load

    install()
    from streamproof.runtime.binding import bind

    config = load(target, profile=profile)
    bound = bind(config)
    for recipe in bound.outputs.main.values():
        require_possible_of_sources(recipe, config.source)
    sides = [name for query in bound.outputs.main for name in bound.outputs.sides_of(query).values()]
    return Rehearsed((*bound.outputs.main, *sides), notes=tuple(prices(bound.outputs.main)))


def require_possible_of_sources(recipe: "Recipe", sources: "Mapping[str, SourceConfig]") -> None:
    """As `require_possible`, for each source of a recipe; and that those of a union have the same columns, as far as they are known."""
    from streamproof.config.columns import columns_of
    from streamproof.stream.operators import Transform
    from streamproof.stream.operators.union import require_alike, require_one_event_time

    steps = recipe.steps[len(recipe.before_state) :]
    for branch in recipe.branches:
        require_possible(replace(branch, steps=(*branch.steps, *steps)), sources[branch.source])
    if len(recipe.sources) == 1:
        return
    if recipe.stateful:
        times = {name: sources[name].event_time for name in recipe.sources}
        require_one_event_time({name: time.column if time else None for name, time in times.items()})
    if any(isinstance(step, Transform) for branch in recipe.branches for step in branch.steps):
        return
    if all(sources[name].schema_ddl is not None for name in recipe.sources):
        known = {name: [*columns_of(sources[name].schema_ddl or ""), *_carried(sources[name])] for name in recipe.sources}
        require_alike({name: dict.fromkeys(columns, "") for name, columns in known.items()})


def require_possible(recipe: "Recipe", source: "SourceConfig") -> None:
    """JobDefinitionError for a step that needs an event time, or a column, that is not there.

    Columns are looked at as far as they are known: those of a declared schema, up to the first transform, which may make others. Names
    within a SQL text are left to Spark.
    """
    from streamproof.config.columns import columns_of
    from streamproof.stream.problems import column_error, needs_event_time

    if recipe.stateful and source.event_time is None:
        raise needs_event_time(recipe.source, columns_of(source.schema_ddl) if source.schema_ddl else {})
    if source.schema_ddl is None:
        return
    columns = [*columns_of(source.schema_ddl), *_carried(source)]
    for where, name, exact in _mentioned(recipe):
        if name not in columns and (exact or name.lower() not in map(str.lower, columns)):
            raise column_error(where, name, columns)


def _mentioned(recipe: "Recipe") -> Iterator[tuple[str, str, bool]]:
    """Each column that a step names: in which step, the name, and whether upper and lower case must agree."""
    from streamproof.stream.operators import Transform, WindowAggregate

    for step in recipe.steps:
        if isinstance(step, Transform):
            return
        for mention in step.mentioned():
            yield from ((mention.where, name, mention.exact) for name in _names_of(mention))
        if isinstance(step, WindowAggregate):
            return  # behind it there are other columns


def _names_of(mention: "Mention") -> Iterable[str]:
    """The plain names: one with a dot or a backtick may be a field, and "*" is no column."""
    if mention.exact:
        return mention.columns
    names = {name for column in mention.columns for name in names_in(column)}
    return sorted(name for name in names if name.isidentifier())


def _carried(source: "SourceConfig") -> tuple[str, ...]:
    """Columns that a source adds to those of its schema."""
    from streamproof.config import KafkaSource
    from streamproof.connectors import carried
    from streamproof.connectors.kafka.source import PREFIX

    if not isinstance(source, KafkaSource):
        return ()
    return (*(f"{PREFIX}{name}" for name in source.include), *map(carried.column_of, source.carry))


def _said(problem: BaseException) -> Rehearsed:
    asks = _needs_spark(problem)
    if asks is not None:
        place = place_of(problem)
        return Rehearsed(not_called=f"{f'{place} asks' if place else 'the file asks'} for {asks}")
    if isinstance(problem, StreamproofError):
        return Rehearsed(problem=str(problem))
    if isinstance(problem, SystemExit):
        return Rehearsed(problem=f"{place_of(problem) or 'The job'}: the file ends the process (SystemExit).")
    return Rehearsed(not_called=f"{type(problem).__name__}: {problem}")


def _needs_spark(problem: BaseException | None) -> str | None:
    """What of Spark was asked for, by the exception or one that it comes from; None where nothing was."""
    while problem is not None:
        if isinstance(problem, NeedsSpark):
            return str(problem)
        problem = problem.__cause__ or problem.__context__
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
