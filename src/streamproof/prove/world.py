"""Everything a proof prepares before its first scenario: events on disk, the engine, the oracle's view of the events."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from streamproof.config import JobConfig, KafkaSource
from streamproof.config.columns import columns_of
from streamproof.errors import ScenarioError
from streamproof.prove.arrivals import Arrivals, shape_of
from streamproof.prove.engine import Engine
from streamproof.prove.generate import Event, generate, without_trace
from streamproof.prove.handwritten import handwritten_rows
from streamproof.prove.history import History, QueryView
from streamproof.prove.left_behind import read_history
from streamproof.prove.offered import Mistakes, Offered, mistakes
from streamproof.prove.oracle.expectation import Expectation, WindowKey
from streamproof.prove.oracle.model import Model
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.outside import Outside
from streamproof.prove.outside.own_sinks import harvest_own
from streamproof.prove.outside.places import closed, harvested, opened
from streamproof.prove.scenario import Scenario
from streamproof.prove.schedule import write_events
from streamproof.prove.setting import OUT, TYPES, Setting, query_layouts
from streamproof.prove.written_time import SourceShape
from streamproof.runtime.binding import BoundJob


@dataclass(frozen=True)
class Written:
    """The events of a scenario by trace, and the folders of their files by source: with trace ids, and as they are shipped."""

    events: Mapping[str, Event]
    data: Mapping[str, str]
    plain_data: Mapping[str, str]
    traces_of_file: Mapping[str, list[str]]


@dataclass
class World:
    """A job and a scenario, made ready: what every scenario of the proof shares."""

    config: JobConfig
    scenario: Scenario
    folder: Path
    engine: Engine
    bound: BoundJob
    written: Written
    outside: Outside
    _handwritten: dict[tuple[str, ...], dict[WindowKey, dict[str, Any]] | None] = field(default_factory=dict)

    @cached_property
    def arrivals(self) -> Mapping[str, Arrivals]:
        """By query, where its row-wise steps send each event, from one batch query."""
        return {query: Arrivals(self.bound, query, self.engine.spark.newSession()) for query in self.bound.outputs.main}

    @cached_property
    def offered(self) -> Offered:
        """What the job is offered."""
        return Offered(self.written.events, self.written.traces_of_file)

    @cached_property
    def mistakes(self) -> Mapping[str, Mistakes]:
        """By query, what its row-wise steps do wrong."""
        return {query: mistakes(self.written.events, found.arrived) for query, found in self.arrivals.items()}

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
            views.append(self._view(layout.query, left, model))
        return History(views, self.offered, self.scenario.expect, power_failure, self.outside.tries(folder.name))

    def _view(self, query: str, left: Any, model: Expectation) -> QueryView:
        arrivals = self.arrivals[query]
        equivalence = handwritten = None
        if arrivals.shape.window_us is not None and arrivals.traced:
            equivalence = arrivals.batch_result(model.survivors)
            if query == next(iter(self.models)):
                handwritten = self._by_hand(model)
        rows = arrivals.rows if arrivals.traced else None
        return QueryView(left, model, arrivals.arrived, equivalence, handwritten, rows, self.mistakes[query])

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
        for left in ("disks", "events", "events-plain", "children", "recording-*"):
            for folder in self.folder.glob(left):
                shutil.rmtree(folder, ignore_errors=True)


def records_per_batch(scenario: Scenario) -> int:
    """How many records of a topic make the scenario's number of batches."""
    return -(-scenario.events // scenario.batches)


def write_scenario(config: JobConfig, scenario: Scenario, folder: Path, outside: Outside) -> Written:
    """Generates the events of every source and writes them, to folders or to topics; needs no Spark."""
    events: dict[str, Event] = {}
    data: dict[str, str] = {}
    plain_data: dict[str, str] = {}
    traces_of_file: dict[str, list[str]] = {}
    for name, source in config.source.items():
        time = source.event_time
        columns = columns_of(source.schema_ddl) if source.schema_ddl else {}
        is_date = time is not None and columns.get(time.column) == "date" and source.format in ("json", "json_schema")
        shape = SourceShape(
            format=source.format,
            time_column=time.column if time else None,
            time_unit=time.unit if time else None,
            time_format="yyyy-MM-dd" if is_date else time.format if time else None,
            zone=time.zone if time else "UTC",
        )
        made = generate(scenario, name, shape)
        if isinstance(source, KafkaSource):
            data[name], plain_data[name] = f"{outside.prefix}{name}", f"{outside.prefix}{name}-plain"
            written, traces = _to_topics(made, source, columns, outside, (data[name], plain_data[name]))
            events |= {event.trace: event for event in written}
            traces_of_file |= traces
            continue
        events |= {event.trace: event for event in made}
        assert source.format in ("json", "parquet"), "files have no other format"
        data[name], plain_data[name] = str(folder / "events" / name), str(folder / "events-plain" / name)
        traces_of_file |= write_events(made, Path(data[name]), source.format, schema_columns=columns)
        write_events(made, Path(plain_data[name]), source.format, schema_columns=columns, trace=False)
    return Written(events, data, plain_data, traces_of_file)


def _to_topics(
    made: list[Event], source: KafkaSource, columns: Mapping[str, str], outside: Outside, names: tuple[str, str]
) -> tuple[list[Event], dict[str, list[str]]]:
    """Writes events to two topics, with trace ids and as they are shipped; the events as they were written, and which record holds which."""
    from streamproof.prove.outside import topics

    traced, plain = made, [replace(event, record=without_trace(event.record)) for event in made]
    if source.registry is not None:
        from streamproof.prove.outside.encoded import encoded

        traced = encoded(made, source, columns, outside.urls()["registry"], names[0], trace=True)
        plain = encoded(made, source, columns, outside.urls()["registry"], names[1], trace=False)
    traces = topics.write_events(traced, outside.urls()["kafka"], names[0])
    topics.write_events(plain, outside.urls()["kafka"], names[1])
    return traced, traces


def prepare(config: JobConfig, scenario: Scenario, folder: Path, engine: Engine, written: Written, outside: Outside) -> World:
    """Binds the job to the events.

    Raises
    ------
    StreamproofError
        If the job cannot be bound, or the scenario's model fits none of its outputs.
    """
    disk = folder / "disks" / f"{outside.prefix}oracle"
    outside.open_stores(disk.name)
    stores = outside.stores(disk.name)
    bound = Setting(str(disk), disk, written.data, scenario.files_per_batch, urls=outside.urls(), environment=stores).bind(config)
    _require_window_for_model(scenario, shape_of(bound, next(iter(bound.outputs.main))))
    return World(config, scenario, folder, engine, bound, written, outside)


def _require_window_for_model(scenario: Scenario, first: QueryShape) -> None:
    """ScenarioError if a hand-written model is named that nothing would be compared with."""
    if scenario.expect.model is not None and first.window_us is None:
        raise ScenarioError(
            f"[expect] model names {scenario.expect.model}, and the output {first.query} has no window.",
            required="A hand-written model gives the rows of windows; other rows are compared with the job's own batch query.",
            remedy="Take the line out, or return the output with the window first.",
        )
