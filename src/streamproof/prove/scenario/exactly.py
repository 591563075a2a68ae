"""The events of a scenario written out one by one, in place of those that a seed makes: as a value in Python, or as a file of JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streamproof.core.clock import from_micros, to_micros
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.edges.board import as_texts
from streamproof.prove.scenario.generate import TRACE, Edge, Event, Kind, record_of

_TIMESTAMP = "$timestamp"
_KEYS = ("event", "batch", "file", "time", "kind", "values", "record", "edge")
_REQUIRED = 'An object of sources, each a list of events such as {"event": "e-000017", "batch": 0, "values": {...}}.'


@dataclass(frozen=True)
class Exactly:
    """The events of each source in the order they arrive; `file` is where they stand, empty where they were given as a value."""

    of_source: Mapping[str, Sequence[Event]]
    file: str = ""

    @property
    def batches(self) -> int:
        """How many batches they come in, 1 or more."""
        return 1 + max((event.batch for events in self.of_source.values() for event in events), default=0)

    @property
    def events(self) -> int:
        """How many the source with the most has."""
        return max((len(events) for events in self.of_source.values()), default=0)

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(len(events) for events in self.of_source.values())

    def as_value(self) -> dict[str, list[dict[str, Any]]]:
        """The same for JSON: what `exactly_of` reads."""
        return {source: [_entry(event) for event in events] for source, events in self.of_source.items()}


def exactly_of(given: "str | Path | Mapping[str, Sequence[Mapping[str, Any]]]") -> Exactly:
    """The events of a file, or of a value of the same shape.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or something in it is no event.
    """
    if isinstance(given, Mapping):
        return Exactly(_sources(given, "The events given by exactly"))
    path = Path(given)
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ScenarioError(
            f"There is no {path}.", required="--exactly takes a file of events.", remedy="streamproof shrink writes one."
        ) from None
    except (OSError, ValueError) as problem:
        raise ScenarioError(f"{path} cannot be read: {problem}.", required=_REQUIRED) from None
    return Exactly(_sources(tree, str(path)), str(given))


def _sources(tree: Any, where: str) -> dict[str, tuple[Event, ...]]:
    if not isinstance(tree, Mapping) or not tree or not all(isinstance(events, Sequence) for events in tree.values()):
        raise ScenarioError(f"{where} names no sources with their events.", required=_REQUIRED)
    found = {name: _events(name, events, where) for name, events in tree.items()}
    if not any(found.values()):
        raise ScenarioError(f"{where}: there is no event.", required="At least one.")
    return found


def _events(source: str, entries: Sequence[Any], where: str) -> tuple[Event, ...]:
    found: list[Event] = []
    for number, entry in enumerate(entries):
        at = f"{where}: event {number + 1} of {source}"
        try:
            event = _event(entry, number)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise ScenarioError(f"{at} cannot be read: {problem!r}.", required=_REQUIRED) from None
        if unknown := sorted(set(entry) - set(_KEYS)):
            raise ScenarioError(f'{at} has the key "{unknown[0]}".', required=f"It has {', '.join(_KEYS)}.")
        if found and event.batch < found[-1].batch:
            raise ScenarioError(
                f"{at} is of batch {event.batch}, after one of batch {found[-1].batch}.",
                required="Events stand in the order of their batches.",
            )
        found.append(event)
    traces = [event.trace for event in found]
    twice = next((trace for trace in traces if traces.count(trace) > 1), None) if len(set(traces)) < len(traces) else None
    if twice is not None:
        raise ScenarioError(
            f"{where}: two events of {source} are called {twice}.", required='A copy has a name of its own, such as "e-1+1".'
        )
    return tuple(found)


def _entry(event: Event) -> dict[str, Any]:
    entry: dict[str, Any] = {"event": event.trace, "batch": event.batch}
    entry |= {"file": event.partition} if event.partition else {}
    entry |= {"kind": str(event.kind)} if event.kind is not Kind.OK else {}
    entry |= {"time": from_micros(event.time_us).isoformat()} if event.time_us is not None else {}
    entry["values"] = {name: _written(value) for name, value in event.values.items()}
    if not _says_the_same(event):
        entry["record"] = event.record.decode("utf-8", "surrogateescape")
    return entry | ({"edge": asdict(event.edge)} if event.edge is not None else {})


def _event(entry: Mapping[str, Any], number: int) -> Event:
    trace, values = str(entry["event"]), {name: _read(value) for name, value in entry["values"].items()}
    time, record, edge = entry.get("time"), entry.get("record"), entry.get("edge")
    time_us = None if time is None else to_micros(_instant(time))
    line = record_of(trace, as_texts(values)) if record is None else record.encode("utf-8", "surrogateescape")
    made = Event(
        trace, Kind(entry.get("kind", "ok")), values, time_us, line, number, int(entry["batch"]), int(entry.get("file", 0))
    )
    if made.batch < 0 or made.partition < 0:
        raise ValueError("batch and file count from 0")
    return made if edge is None else replace(made, edge=Edge(**{**edge, "queries": tuple(edge["queries"])}))


def _says_the_same(event: Event) -> bool:
    """Whether a record made of the values says what the event's own does; lines that are no JSON are made of the values anyway."""
    if event.kind is Kind.MALFORMED:
        return False
    try:
        said = json.loads(event.record)
    except ValueError:
        return True
    return bool(said == {TRACE: event.trace, **json.loads(json.dumps(event.values, default=_in_iso))})


def _in_iso(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _written(value: Any) -> Any:
    return {_TIMESTAMP: value.isoformat()} if isinstance(value, datetime) else value


def _read(value: Any) -> Any:
    return datetime.fromisoformat(value[_TIMESTAMP]) if isinstance(value, Mapping) and set(value) == {_TIMESTAMP} else value


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
