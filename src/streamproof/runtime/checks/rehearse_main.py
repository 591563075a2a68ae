"""The process that calls a job function without Spark: python -m streamproof.runtime.checks.rehearse_main ANSWER TARGET PROFILE."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.users_code import place_of
from streamproof.errors import StreamproofError
from streamproof.runtime.binding.several_queries import prices
from streamproof.runtime.checks.known_columns import along, behind
from streamproof.runtime.checks.recorded_rows import Reader
from streamproof.runtime.checks.recording_spark import NeedsSpark, install
from streamproof.runtime.checks.rehearsal import Keeping, Rehearsed, Steps
from streamproof.stream.known import Known
from streamproof.stream.operators.operator import Stateful

if TYPE_CHECKING:
    from streamproof.connectors.source import Source
    from streamproof.stream.node import Branch, Node


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
    from streamproof.connectors.sources import sources_of
    from streamproof.runtime.binding.bind import bind

    config = load(target, profile=profile)
    bound, reader = bind(config), Reader()
    for root in bound.outputs.main.values():
        try:
            look_along(root, sources_of(config), reader)
        except StreamproofError as problem:
            reader.wrong(problem)
    steps = tuple(_steps(name, root) for name, root in bound.outputs.main.items())
    if reader.problems:
        return Rehearsed(problem="\n".join(map(str, reader.problems)), steps=steps)
    sides = [name for query in bound.outputs.main for name in bound.outputs.sides_of(query).values()]
    outputs = (*bound.outputs.main, *sides)
    return Rehearsed(outputs, notes=tuple(prices(bound.outputs.main)), unseen=tuple(reader.unseen), steps=steps)


def _steps(query: str, root: "Node") -> Steps:
    """What a query does, for who judges it without calling the job."""
    keeping = tuple(
        Keeping(
            operator.call,
            tuple(operator.grouped_by),
            node.sources,
            (operator.allowed_lateness + operator.waits).total_seconds(),
            operator.for_ever,
        )
        for node in root.walk()
        if isinstance(operator := node.operator, Stateful)
    )
    return Steps(query, root.sources, keeping, tuple(dict.fromkeys(use.table for use in root.uses)))


def look_along(root: "Node", sources: "Mapping[str, Source]", reader: Reader) -> None:
    """Goes along the steps for each source of a query; names that are not there go to the reader.

    Raises
    ------
    JobDefinitionError
        For a step that needs an event time where none is declared, and for a union of other columns, as far as they are known.
    """
    from streamproof.stream.together import require_alike, require_one_event_time

    ends = {branch.source: _ends(branch, sources[branch.source], reader) for branch in root.branches}
    for number in range(max(map(len, root.together)) if root.stateful else 0):
        _behind(
            root, {name: ends[together[min(number, len(together) - 1)]] for together in root.together for name in together}, reader
        )
    for together in root.together:
        if len(together) == 1:
            continue
        if root.stateful:
            times = {name: sources[name].config.event_time for name in together}
            require_one_event_time({name: time.column if time else None for name, time in times.items()})
        if not any(ends[name].further for name in together):
            require_alike({name: dict.fromkeys(ends[name].names, "") for name in together})


def _behind(node: "Node", ends: Mapping[str, Known], reader: Reader) -> Known:
    """The columns behind a node from the first operator with state on; `ends` has those in front of it, by source."""
    if not node.stateful:
        return ends[node.sources[0]]
    return behind(node.operator, [_behind(below, ends, reader) for below in node.inputs], reader)


def _ends(branch: "Branch", source: "Source", reader: Reader) -> Known:
    """The columns of a source before the stateful steps; JobDefinitionError where these need an event time and none is declared."""
    from streamproof.config.columns import columns_of, typed_columns_of
    from streamproof.stream.problems import needs_event_time

    schema = source.config.schema_ddl
    if source.config.event_time is None and branch.keeps is not None:
        raise needs_event_time(branch.keeps.call, branch.source, columns_of(schema) if schema else {})
    if schema is None:
        known = Known((), f"the files of {branch.source} say their columns, no schema does")
    else:
        time = source.config.event_time
        types = {**typed_columns_of(schema), **({} if time is None else {time.column: "timestamp"})}
        known = Known((*columns_of(schema), *source.added_columns), types=types)
    return along(branch.steps, known, reader)


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
