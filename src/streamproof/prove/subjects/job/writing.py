"""The events of a scenario, written to the folders and topics that the sources of a job are bound to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from streamproof.config import FilesSource, JobConfig, KafkaSource
from streamproof.config.columns import sized_columns_of
from streamproof.errors import ScenarioError
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.scenario.edges import Around, late_bounds, never_sent, newest_of, with_edges
from streamproof.prove.scenario.event_lines import header_of, in_lines
from streamproof.prove.scenario.generate import Event, generate, without_trace
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.scenario.schedule import write_events
from streamproof.prove.scenario.written_time import shape_of_source
from streamproof.prove.services import Services
from streamproof.prove.subjects.job.as_written import event_time_asked, event_times_asked
from streamproof.prove.subjects.job.binding import proved_as

_ABORTED = 4
"""Offsets that an aborted transaction takes in a topic: a record and a marker in each of two partitions."""


@dataclass(frozen=True)
class Written:
    """The events of a scenario by trace, and by source, and the folders of their files: with trace ids, and as they are shipped."""

    events: Mapping[str, Event]
    of_source: Mapping[str, Sequence[Event]]
    data: Mapping[str, str]
    plain_data: Mapping[str, str]
    traces_of_file: Mapping[str, list[str]]


def records_per_batch(scenario: Scenario) -> int:
    """How many records of a topic make the scenario's number of batches, those of an aborted transaction and its markers among them."""
    return -(-(scenario.events + (_ABORTED if scenario.edges else 0)) // scenario.batches)


def make_events(config: JobConfig, scenario: Scenario) -> dict[str, list[Event]]:
    """The events of every source, as the seed makes them; needs no Spark.

    Raises
    ------
    ScenarioError
        If the events of a topic shall come in fewer batches than there are: so many records of a topic are read in each.
    """
    for name, source in config.source.items():
        if isinstance(source, KafkaSource) and name in scenario.source and scenario.source[name].batches is not None:
            raise ScenarioError(
                f"[source.{name}] of the scenario has batches, and {name} is a topic.",
                required="Only the files of a source can come in fewer batches than there are.",
            )
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
    found = {}
    for name, events in made.items():
        of_source = [(query, bounds) for query, bounds in bounded if name in query.sources and query.stateful]
        source, time = config.source[name], event_time_asked(config, name)
        others = {key for query in queries if name in query.sources[1:] for key in query.once}
        around = Around(scenario.source[name], shape_of_source(source), source.schema_ddl or "", time, of_source, others, name)
        found[name] = with_edges(events, around)
    return found


def _query(name: str, asked: Asked, config: JobConfig) -> Query:
    return query_asked(name, asked, event_time_asked(config, asked.sources[0]), event_times_asked(config, asked.sources))


def data_of(config: JobConfig, folder: Path, services: Services, *, trace: bool) -> dict[str, str]:
    """The folder, or the topic, of each source."""
    topic, below = ("", "events") if trace else ("-plain", "events-plain")
    return {
        name: f"{services.prefix}{name}{topic}" if isinstance(source, KafkaSource) else str(folder / below / name)
        for name, source in config.source.items()
    }


def write_scenario(
    made: Mapping[str, list[Event]], config: JobConfig, scenario: Scenario, folder: Path, services: Services
) -> Written:
    """Writes the events of every source to folders or to topics; needs no Spark."""
    events: dict[str, Event] = {}
    of_source: dict[str, Sequence[Event]] = {}
    data, plain_data = (data_of(config, folder, services, trace=trace) for trace in (True, False))
    traces_of_file: dict[str, list[str]] = {}
    for name, source in config.source.items():
        columns = sized_columns_of(source.schema_ddl) if source.schema_ddl else {}
        if isinstance(source, KafkaSource):
            aborted = never_sent(made[name], scenario.source[name]) if scenario.edges and source.read == "committed" else []
            of_source[name], traces = _to_topics(made[name], source, columns, services, (data[name], plain_data[name]), aborted)
            traces_of_file |= traces
            continue
        source = proved_as(source)
        assert isinstance(source, FilesSource), "every connector is written to"
        of_source[name] = in_lines(made[name], source, list(columns), trace=True)
        prefix = f"{name}-" if len(config.source) > 1 else ""
        traces_of_file |= _to_files(of_source[name], source, columns, data[name], prefix, trace=True)
        plain = in_lines(made[name], source, list(columns), trace=False)
        _to_files(plain, source, columns, plain_data[name], prefix, trace=False)
    for all_of_it in of_source.values():
        events |= {event.trace: event for event in all_of_it}
    return Written(events, of_source, data, plain_data, traces_of_file)


def _to_files(
    events: Sequence[Event], source: FilesSource, columns: Mapping[str, str], folder: str, prefix: str, *, trace: bool
) -> dict[str, list[str]]:
    def header(partition: int) -> bytes | None:
        return header_of(source, list(columns), partition, trace=trace)

    return write_events(events, Path(folder), source.format, schema_columns=columns, header=header, trace=trace, prefix=prefix)


def _to_topics(
    made: list[Event],
    source: KafkaSource,
    columns: Mapping[str, str],
    services: Services,
    names: tuple[str, str],
    aborted: list[Event],
) -> tuple[list[Event], dict[str, list[str]]]:
    """Writes events to two topics, with trace ids and as they are shipped; the events as they were written, and which record holds which.

    `aborted` are written to both in a transaction that is aborted.
    """
    from streamproof.prove.services import topics

    every, cut = [*made, *aborted], len(made)
    traced, plain = every, [replace(event, record=without_trace(event.record)) for event in every]
    if source.registry is not None:
        from streamproof.prove.services.encoded import encoded

        traced = encoded(every, source, columns, services.urls()["registry"], names[0], trace=True)
        plain = encoded(every, source, columns, services.urls()["registry"], names[1], trace=False)
    traces = topics.write_events(traced[:cut], services.urls()["kafka"], names[0], traced[cut:])
    topics.write_events(plain[:cut], services.urls()["kafka"], names[1], plain[cut:])
    return traced[:cut], traces
