"""The user's hand-written model of the business rule, from the scenario's folder: the rows of windows, and the fate of each event."""

import runpy
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from streamproof.core.clock import from_micros
from streamproof.core.users_code import raised_in, remedy_for
from streamproof.errors import ScenarioError
from streamproof.prove.oracle.arrived import Arrived, plain
from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.operators.twin import Grouped
from streamproof.prove.oracle.query import Query
from streamproof.prove.oracle.rows import WindowContents, WindowKey
from streamproof.prove.scenario.generate import Event
from streamproof.prove.scenario.intents import refused
from streamproof.prove.scenario.scenario import Scenario

FATES = ("kept", "rejected", "filtered")
"""What may become of an event by itself; one that is kept can still come too late, or be a duplicate."""


def handwritten_rows(
    scenario: Scenario,
    query: Query,
    emitted: Mapping[WindowKey, WindowContents],
    events: Mapping[str, Event],
    arrived: Mapping[str, Arrived],
) -> dict[WindowKey, dict[str, Any]] | None:
    """The rows that the hand-written model gives for the events in emitted windows; None if the scenario names no model.

    The model gets a list of dicts, one per event, with the columns as generated and the event time as an aware datetime in UTC. Where
    windows overlap or merge it is asked window by window, with the events of each: it cannot know for which of its windows an event came
    too late, or which session had ended before it came.

    Raises
    ------
    ScenarioError
        If the file or the function is not there or raises, a row lacks a key column or window_start, or has a column that is not in the output.
    """
    if scenario.expect.model is None:
        return None
    path, function = _function(scenario, "model", scenario.expect.model)
    grouped = query.grouped
    assert grouped is not None, "a hand-written model gives rows of windows"

    def of(traces: Iterable[str]) -> list[dict[str, Any]]:
        given = [_as_seen(events[trace], arrived[trace], query) for trace in dict.fromkeys(traces)]
        rows: list[dict[str, Any]] = _asked(path, lambda: list(function(given)))
        return rows

    if grouped.window.several or grouped.window.merges or len(query.groupings) > 1:
        apart = {key: of(contents.traces) for key, contents in emitted.items()}
        rows = [row for key, found in apart.items() for row in found if _key(row, grouped, scenario) == key]
    else:
        rows = of(trace for contents in emitted.values() for trace in contents.traces)
    known = {*grouped.by, *grouped.aggregates, "window_start", "window_end"}
    unknown = sorted({column for row in rows for column in row} - known)
    if unknown:
        raise ScenarioError(
            f'{scenario.expect.model} gives a column "{unknown[0]}", which the output {query.name} does not have.',
            required=f"It would be compared with nothing; the columns are {', '.join(sorted(known))}.",
        )
    return {_key(row, grouped, scenario): dict(row) for row in rows}


def _key(row: Mapping[str, Any], grouped: Grouped, scenario: Scenario) -> WindowKey:
    """The window that a row of the model is of; ScenarioError where it does not say."""
    try:
        return tuple(plain(row[column]) for column in grouped.by), int(plain(row["window_start"]))
    except (KeyError, TypeError, ValueError) as problem:
        raise ScenarioError(
            f"{scenario.expect.model} gave a row that cannot be placed: {problem!r}.",
            required=f"A row has {', '.join((*grouped.by, 'window_start'))} and the aggregates.",
        ) from None


def _asked(path: Path, ask: Callable[[], Any]) -> Any:
    """What the model's file gives; ScenarioError with its line where it raises."""
    try:
        return ask()
    except Exception as problem:  # it is the user's code: anything can happen in it
        raise ScenarioError(
            raised_in(path, problem),
            required="It is the hand-written model of the scenario: nothing that the job did. Without it nothing is judged.",
            remedy=remedy_for(problem),
        ) from problem


def handwritten_fates(scenario: Scenario, events: Iterable[Event], time: AskedTime | None) -> dict[str, str] | None:
    """What the hand-written model says of each event by itself, by trace: "kept", "rejected" or "filtered"; None without such a model.

    It is asked about every event that can be read, one at a time, as a dict with the columns as generated and the event time as an aware
    datetime in UTC.

    Raises
    ------
    ScenarioError
        If the file or the function is not there, or it answers something else.
    """
    if scenario.expect.fate is None:
        return None
    path, function = _function(scenario, "fate", scenario.expect.fate)
    found: dict[str, str] = {}
    for event in events:
        if refused(event, time, time_is_text=True):
            continue
        given = _timed(event.values, time.column if time else None, event.time_us)
        fate = _asked(path, partial(function, given))
        if fate not in FATES:
            raise ScenarioError(
                f"{scenario.expect.fate} gave {fate!r} for the event {event.trace}.",
                required='It gives "kept", "rejected" or "filtered".',
            )
        found[event.trace] = fate
    return found


def _function(scenario: Scenario, key: str, named: str) -> tuple[Path, Callable[[Any], Any]]:
    """The function that a key of [expect] names, with its file."""
    file, _, name = named.rpartition(":")
    path = scenario.folder / file
    if not path.is_file():
        raise ScenarioError(f"[expect] {key} names {file}, and there is no such file beside the scenario.")
    function = _asked(path, lambda: runpy.run_path(str(path))).get(name)
    if not callable(function):
        raise ScenarioError(f'[expect] {key} names "{name}", and {file} has no such function.')
    return path, function


def _as_seen(event: Event, record: Arrived, query: Query) -> dict[str, Any]:
    return _timed(event.values, query.event_time_column, record.time_us)


def _timed(values: Mapping[str, Any], column: str | None, time_us: int | None) -> dict[str, Any]:
    return {**values, column: from_micros(time_us)} if column is not None and time_us is not None else dict(values)
