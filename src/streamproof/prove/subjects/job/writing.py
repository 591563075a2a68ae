"""The events of a scenario, written to the folders and topics that the sources of a job are bound to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from streamproof.config import JobConfig
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.scenario.edges import Around, late_bounds, newest_of, with_edges
from streamproof.prove.scenario.generate import Event, generate
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.scenario.written_time import shape_of_source
from streamproof.prove.services import Services
from streamproof.prove.sources import proved
from streamproof.prove.sources.tables import HeldTable, held_tables, places_of_tables, write_tables
from streamproof.prove.subjects.job.as_written import event_time_asked, event_times_asked

_ABORTED = 4
"""Offsets that an aborted transaction takes in a topic: a record and a marker in each of two partitions."""


@dataclass(frozen=True)
class Written:
    """The events of a scenario by trace, and by source, and the folders of their files: with trace ids, and as they are shipped; and what tables hold.

    Parameters
    ----------
    files_of
        By source the names of its files and records, those without an event among them, such as records of an aborted transaction.
    """

    events: Mapping[str, Event]
    of_source: Mapping[str, Sequence[Event]]
    data: Mapping[str, str]
    plain_data: Mapping[str, str]
    traces_of_file: Mapping[str, list[str]]
    tables: Mapping[str, HeldTable] = field(default_factory=dict)
    files_of: Mapping[str, frozenset[str]] = field(default_factory=dict)


def records_per_batch(scenario: Scenario) -> int:
    """How many records of a topic make the scenario's number of batches, those of an aborted transaction and its markers among them."""
    return -(-(scenario.events + (_ABORTED if scenario.edges else 0)) // scenario.batches)


def make_events(config: JobConfig, scenario: Scenario) -> dict[str, list[Event]]:
    """The events of every source, as the seed makes them; needs no Spark.

    Raises
    ------
    ScenarioError
        If the scenario asks for something that a kind of source cannot give.
    """
    for name, source in config.source.items():
        proved(name, source).require_fits(scenario)
    held_tables(config, scenario)
    return {name: generate(scenario, name, shape_of_source(source)) for name, source in config.source.items()}


def add_edges(
    made: Mapping[str, list[Event]], config: JobConfig, scenario: Scenario, asked: Mapping[str, Asked]
) -> dict[str, list[Event]]:
    """The same with events at the edges of what the job asks for, unless the scenario wants none."""
    if not scenario.edges:
        return dict(made)
    newest = {name: newest_of(events, event_time_asked(config, name)) for name, events in made.items()}
    queries = [_query(name, calls, config) for name, calls in asked.items()]
    bounded = [(query, late_bounds(query, {name: newest[name] for name in query.sources})) for query in queries]
    found = dict[str, list[Event]]()
    for name, events in made.items():
        of_source = [(query, bounds) for query, bounds in bounded if name in query.sources and query.stateful]
        source, time = config.source[name], event_time_asked(config, name)
        others = {key for query in queries if name in query.sources[1:] for key in query.once}
        around = Around(
            scenario.source[name], shape_of_source(source), source.schema_ddl or "", time, of_source, others, name, dict(found)
        )
        found[name] = with_edges(events, around)
    return found


def _query(name: str, asked: Asked, config: JobConfig) -> Query:
    return query_asked(name, asked, event_time_asked(config, asked.sources[0]), event_times_asked(config, asked.sources))


def data_of(config: JobConfig, folder: Path, services: Services, *, trace: bool) -> dict[str, str]:
    """Where the events of each source lie: its folder, its topic; and where the tables do."""
    sources = {name: proved(name, source).place(folder, services, trace=trace) for name, source in config.source.items()}
    return {**sources, **places_of_tables(config, folder)}


def write_scenario(
    made: Mapping[str, list[Event]], config: JobConfig, scenario: Scenario, folder: Path, services: Services
) -> Written:
    """Writes the events of every source to folders or to topics; needs no Spark."""
    events: dict[str, Event] = {}
    of_source: dict[str, Sequence[Event]] = {}
    data, plain_data = (data_of(config, folder, services, trace=trace) for trace in (True, False))
    traces_of_file: dict[str, list[str]] = {}
    files_of: dict[str, frozenset[str]] = {}
    for name, source in config.source.items():
        written = proved(name, source).write(made[name], scenario, folder, services, several=len(config.source) > 1)
        of_source[name] = written.events
        traces_of_file |= written.traces
        files_of[name] = frozenset(written.traces)
    for all_of_it in of_source.values():
        events |= {event.trace: event for event in all_of_it}
    tables = held_tables(config, scenario)
    write_tables(tables, folder)
    return Written(events, of_source, data, plain_data, traces_of_file, tables, files_of)
