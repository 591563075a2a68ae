"""Everything a proof prepares before its first scenario: events on disk, the engine, the oracle's view of the events."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from streamproof.config import JobConfig, KafkaSource
from streamproof.config.columns import columns_of
from streamproof.errors import ScenarioError
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.artifacts.reading import read_history, readings
from streamproof.prove.oracle.asked import Asked, shape_asked
from streamproof.prove.oracle.expectation import Expectation, WindowKey
from streamproof.prove.oracle.model import Model
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.process.engine import Engine
from streamproof.prove.scenario.edges import Around, never_sent, with_edges
from streamproof.prove.scenario.generate import Event, generate, without_trace
from streamproof.prove.scenario.intents import refused
from streamproof.prove.scenario.offered import Mistakes, Offered, mistakes
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.scenario.schedule import write_events
from streamproof.prove.scenario.written_time import shape_of_source
from streamproof.prove.services import Services
from streamproof.prove.services.own_sinks import harvest_own
from streamproof.prove.services.places import closed, harvested, opened
from streamproof.prove.services.stores import in_environment
from streamproof.prove.subjects.job.arrivals import Arrivals
from streamproof.prove.subjects.job.as_written import event_time_asked
from streamproof.prove.subjects.job.binding import OUT, TYPES, Setting, query_layouts
from streamproof.prove.subjects.job.calls import calls_of
from streamproof.prove.subjects.job.exercised import Exercise, exercises, require_known
from streamproof.prove.subjects.job.handwritten import handwritten_fates, handwritten_rows
from streamproof.prove.subjects.job.plain_rows import plain_rows, with_records
from streamproof.runtime.bound import BoundJob

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


@dataclass
class ProofContext:
    """A job and a scenario, made ready: what every scenario of the proof shares."""

    config: JobConfig
    scenario: Scenario
    folder: Path
    engine: Engine
    bound: BoundJob
    asked: Mapping[str, Asked]
    written: Written
    outside: Services
    _handwritten: dict[tuple[str, ...], dict[WindowKey, dict[str, Any]] | None] = field(default_factory=dict)

    @cached_property
    def arrivals(self) -> Mapping[str, Arrivals]:
        """By query, where the row-wise calls of the user's send each event."""
        return {query: self._arrivals(query, asked) for query, asked in self.asked.items()}

    def _arrivals(self, query: str, asked: Asked) -> Arrivals:
        name, time = asked.source, event_time_asked(self.config, asked.source)
        source, made = self.bound.config.source[name], self.written.of_source[name]
        types = columns_of(source.schema_ddl) if source.schema_ddl else {}
        text = time is None and types.get(self.scenario.source[name].time_column or "") == "string"
        outside = [event for event in made if refused(event, time, time_is_text=text)]
        traces = {event.trace for event in outside}
        readable = [event for event in made if event.trace not in traces]
        file = self.folder / "offered" / f"{query}.json"
        rows = plain_rows(self.engine.spark.newSession(), readable, source, time.column if time else None, file)
        if isinstance(source, KafkaSource):
            rows = with_records(rows, source, self.written.traces_of_file)
        return Arrivals(asked, shape_asked(query, asked, time), rows, outside)

    @cached_property
    def offered(self) -> Offered:
        """What the job is offered."""
        return Offered(self.written.events, self.written.traces_of_file)

    @cached_property
    def mistakes(self) -> Mapping[str, Mistakes]:
        """By query, what its row-wise steps do wrong."""
        return {query: mistakes(self.written.events, found.arrived) for query, found in self.arrivals.items()}

    @cached_property
    def exercises(self) -> list[Exercise]:
        """What the job can do with records, each of which a proof must have seen."""
        return _exercises(self.config, self.bound)

    @property
    def steps(self) -> Mapping[str, Steps]:
        """By output, how far values of two right runs may be apart; side outputs hold rows as they came."""
        return {query: found.steps for query, found in self.arrivals.items()}

    @cached_property
    def models(self) -> Mapping[str, Model]:
        """The plain model of each query."""
        return {query: Model(found.shape, found.arrived, self.written.traces_of_file) for query, found in self.arrivals.items()}

    def setting(self, name: str, *, recording: str | None = None, trace: bool = True, by_line: str = "") -> Setting:
        """Where a scenario of this name lies; `by_line` names a service that is reached through the proxy."""
        folder = self.folder / "disks" / name
        base = str(folder) if recording is None else f"sp-record://{recording}{folder}"
        data = self.written.data if trace else self.written.plain_data
        limits = self.scenario.files_per_batch, records_per_batch(self.scenario)
        return Setting(base, folder, data, *limits, self.outside.urls(by_line), self.outside.stores(name, by_line))

    def open_places(self, name: str) -> None:
        """Makes the places of a scenario in services."""
        opened(self.setting(name).services(self.config))
        self.outside.open_stores(name)

    def close_places(self, name: str) -> None:
        """Removes them."""
        closed(self.setting(name).services(self.config))
        self.outside.close_stores(name)

    def harvest(self, folder: Path) -> None:
        """Brings what a scenario has left in services to its folder."""
        setting = self.setting(folder.name)
        services = setting.services(self.config)
        harvest_own(setting, self.config, self.engine.spark)
        if services:
            types = folder / TYPES
            harvested(services, folder / OUT, json.loads(types.read_text()) if types.exists() else {})

    def history(self, folder: Path, *, power_failure: bool = False) -> History:
        """What a scenario left in its folder, beside what the oracle says."""
        self.harvest(folder)
        views = []
        for layout in query_layouts(self.bound, folder):
            left = read_history(layout)
            model = self.models[layout.query].expect(left.batches)
            views += [self._view(layout.query, reading, model) for reading in readings(left)]
        return History(views, self.offered, self.scenario.expect, power_failure, self.outside.tries(folder.name))

    def _view(self, query: str, left: Any, model: Expectation) -> QueryView:
        arrivals = self.arrivals[query]
        equivalence = handwritten = None
        if arrivals.shape.window_us is not None and arrivals.traced:
            equivalence = arrivals.batch_result(model)
            if query == next(iter(self.models)):
                handwritten = self._by_hand(model)
        rows = arrivals.rows if arrivals.traced else None
        asked, time = arrivals.asked, event_time_asked(self.config, arrivals.asked.source)
        return QueryView(
            left,
            model,
            arrivals.arrived,
            equivalence,
            handwritten,
            rows,
            self.mistakes[query],
            arrivals.steps,
            self._intended(query),
            asked,
            time,
        )

    def _intended(self, query: str) -> Mapping[str, str] | None:
        """Of the first output what the hand-written model says of each event."""
        return self._fates if query == next(iter(self.models)) else None

    @cached_property
    def _fates(self) -> Mapping[str, str] | None:
        source = next(iter(self.asked.values())).source
        return handwritten_fates(self.scenario, self.written.of_source[source], event_time_asked(self.config, source))

    def _by_hand(self, model: Expectation) -> dict[WindowKey, dict[str, Any]] | None:
        if model.survivors not in self._handwritten:
            arrived = self.arrivals[model.shape.query].arrived
            self._handwritten[model.survivors] = handwritten_rows(
                self.scenario, model.shape, model.survivors, self.written.events, arrived
            )
        return self._handwritten[model.survivors]

    @property
    def noun(self) -> str:
        """What one event is called: "trade" where the source is called trades."""
        name = next(iter(self.config.source))
        return name[:-1] if name.endswith("s") and not name.endswith("ss") else "event"

    def called(self, trace: str) -> str:
        """What people call an event: by its id column where the scenario has one, "trade t-003817", else by its trace id."""
        event, copy = self.written.events.get(trace), trace.partition("+")[2]
        columns = [
            name for source in self.scenario.source.values() for name, column in source.columns.items() if column.kind == "id"
        ]
        found = next((event.values[name] for name in columns if name in event.values), None) if event else None
        if found is None:
            return f"{self.noun} {trace}"
        return f"{self.noun} {found}" + (f" (copy {copy})" if copy else "")

    def close(self) -> None:
        for left in ("disks", "events", "events-plain", "offered", "children", "recording-*"):
            for folder in self.folder.glob(left):
                shutil.rmtree(folder, ignore_errors=True)


def records_per_batch(scenario: Scenario) -> int:
    """How many records of a topic make the scenario's number of batches, those of an aborted transaction and its markers among them."""
    return -(-(scenario.events + (_ABORTED if scenario.edges else 0)) // scenario.batches)


def make_events(config: JobConfig, scenario: Scenario) -> dict[str, list[Event]]:
    """The events of every source, as the seed makes them; needs no Spark."""
    return {name: generate(scenario, name, shape_of_source(source)) for name, source in config.source.items()}


def add_edges(
    made: Mapping[str, list[Event]], config: JobConfig, scenario: Scenario, asked: Mapping[str, Asked]
) -> dict[str, list[Event]]:
    """The same with events at the edges of what the job asks for, unless the scenario wants none."""
    if not scenario.edges:
        return dict(made)
    found = {}
    for name, events in made.items():
        source, time = config.source[name], event_time_asked(config, name)
        shapes = [shape_asked(query, calls, time) for query, calls in asked.items() if calls.source == name]
        stateful = next((shape for shape in shapes if shape.stateful), None)
        around = Around(scenario.source[name], shape_of_source(source), source.schema_ddl or "", time, stateful)
        found[name] = with_edges(events, around)
    return found


def _data(config: JobConfig, folder: Path, outside: Services, *, trace: bool) -> dict[str, str]:
    """The folder, or the topic, of each source."""
    topic, below = ("", "events") if trace else ("-plain", "events-plain")
    return {
        name: f"{outside.prefix}{name}{topic}" if isinstance(source, KafkaSource) else str(folder / below / name)
        for name, source in config.source.items()
    }


def write_scenario(
    made: Mapping[str, list[Event]], config: JobConfig, scenario: Scenario, folder: Path, outside: Services
) -> Written:
    """Writes the events of every source to folders or to topics; needs no Spark."""
    events: dict[str, Event] = {}
    of_source: dict[str, Sequence[Event]] = {}
    data, plain_data = (_data(config, folder, outside, trace=trace) for trace in (True, False))
    traces_of_file: dict[str, list[str]] = {}
    for name, source in config.source.items():
        columns = columns_of(source.schema_ddl) if source.schema_ddl else {}
        if isinstance(source, KafkaSource):
            aborted = never_sent(made[name], scenario.source[name]) if scenario.edges and source.read == "committed" else []
            of_source[name], traces = _to_topics(made[name], source, columns, outside, (data[name], plain_data[name]), aborted)
            traces_of_file |= traces
            continue
        of_source[name] = made[name]
        assert source.format in ("json", "parquet"), "files have no other format"
        traces_of_file |= write_events(made[name], Path(data[name]), source.format, schema_columns=columns)
        write_events(made[name], Path(plain_data[name]), source.format, schema_columns=columns, trace=False)
    for all_of_it in of_source.values():
        events |= {event.trace: event for event in all_of_it}
    return Written(events, of_source, data, plain_data, traces_of_file)


def _to_topics(
    made: list[Event],
    source: KafkaSource,
    columns: Mapping[str, str],
    outside: Services,
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

        traced = encoded(every, source, columns, outside.urls()["registry"], names[0], trace=True)
        plain = encoded(every, source, columns, outside.urls()["registry"], names[1], trace=False)
    traces = topics.write_events(traced[:cut], outside.urls()["kafka"], names[0], traced[cut:])
    topics.write_events(plain[:cut], outside.urls()["kafka"], names[1], plain[cut:])
    return traced[:cut], traces


def prepare(
    config: JobConfig, scenario: Scenario, folder: Path, engine: Engine, made: Mapping[str, list[Event]], outside: Services
) -> ProofContext:
    """Asks the job what it wants, writes the events, and binds the job to them.

    Raises
    ------
    StreamproofError
        If the job cannot be bound, or the scenario's model fits none of its outputs.
    """
    disk = folder / "disks" / f"{outside.prefix}oracle"
    outside.open_stores(disk.name)
    stores = outside.stores(disk.name)
    data = _data(config, folder, outside, trace=True)
    bound = Setting(str(disk), disk, data, scenario.files_per_batch, urls=outside.urls(), environment=stores).bind(config)
    with in_environment(stores):
        asked = calls_of(config)
    written = write_scenario(add_edges(made, config, scenario, asked), config, scenario, folder, outside)
    query, first = next(iter(asked.items()))
    _require_window_for_model(scenario, shape_asked(query, first, event_time_asked(config, first.source)))
    require_known(scenario.expect.may_be_unexercised, _exercises(config, bound))
    return ProofContext(config, scenario, folder, engine, bound, asked, written, outside)


def _exercises(config: JobConfig, bound: BoundJob) -> list[Exercise]:
    return exercises(bound.outputs, {name: source.event_time for name, source in config.source.items()})


def _require_window_for_model(scenario: Scenario, first: QueryShape) -> None:
    """ScenarioError if a hand-written model is named that nothing would be compared with."""
    if scenario.expect.model is not None and first.window_us is None:
        raise ScenarioError(
            f"[expect] model names {scenario.expect.model}, and the output {first.query} has no window.",
            required="A hand-written model gives the rows of windows; other rows are compared with the job's own batch query.",
            remedy="Take the line out, or return the output with the window first.",
        )
