"""A job of ours as a subject: bound by configuration, read back by its ledgers, judged by the plain model and the batch query."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamproof.config import JobConfig
from streamproof.config.columns import columns_of
from streamproof.prove.artifacts.comparing import rows_published
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.artifacts.history import AsTable, Bounded, Declared, Handwritten, History, QueryView
from streamproof.prove.artifacts.reading import read_history, readings
from streamproof.prove.checkers import CheckResult, run_checkers
from streamproof.prove.faults.injection_on_files import FileFaultInjector
from streamproof.prove.faults.injection_on_services import ServiceFaultInjector
from streamproof.prove.faults.planned import Injector
from streamproof.prove.lineage.kept import KeptEvent, ToKeep
from streamproof.prove.lineage.stories import events_kept, queries_kept
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.expectation import Expectation
from streamproof.prove.oracle.facts import OneOfKey
from streamproof.prove.oracle.model import Model
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.oracle.rows import RowKey, WindowKey
from streamproof.prove.plan import on_files, on_services
from streamproof.prove.plan.planning import ScenarioPlan, beyond, standard
from streamproof.prove.plan.planning import quick as one_of_each
from streamproof.prove.process.children import Children
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.runners import RUNNER
from streamproof.prove.record.binding import OUT, TYPES, ScenarioBinding
from streamproof.prove.record.paths import Layout
from streamproof.prove.record.recording import Recording
from streamproof.prove.scenario.generate import Event
from streamproof.prove.scenario.intents import refused
from streamproof.prove.scenario.offered import Mistakes, Offered, mistakes
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.services import Services
from streamproof.prove.services.places import closed, harvested, opened
from streamproof.prove.sources import proved
from streamproof.prove.subjects.job.accumulator_laws import accumulator_laws
from streamproof.prove.subjects.job.accumulator_laws import checked as accumulators_checked
from streamproof.prove.subjects.job.alerts import AlertsSeen, seconds_between_samples
from streamproof.prove.subjects.job.arrivals import Arrivals
from streamproof.prove.subjects.job.as_written import event_time_asked, event_times_asked
from streamproof.prove.subjects.job.being_scraped import SCRAPED
from streamproof.prove.subjects.job.binding import layout_of, query_layouts, services_at
from streamproof.prove.subjects.job.exercised import Exercise, exercises
from streamproof.prove.subjects.job.fault_sites import OnFiles, OnServices
from streamproof.prove.subjects.job.future_limit import future_limit
from streamproof.prove.subjects.job.handwritten import handwritten_fates, handwritten_rows
from streamproof.prove.subjects.job.last_rows import facts_in, keeps_last, one_of_key
from streamproof.prove.subjects.job.own_sinks import harvest_own
from streamproof.prove.subjects.job.plain_rows import plain_rows
from streamproof.prove.subjects.job.reporting import events_called, report_of
from streamproof.prove.subjects.job.shipped import shipped_equals_proved
from streamproof.prove.subjects.job.summing_up import account_of, batches_of
from streamproof.prove.subjects.job.table_states import TableStates, states_of, with_tables
from streamproof.prove.subjects.job.writing import Written, records_per_batch
from streamproof.prove.subjects.subject import Judged, Subject
from streamproof.runtime.binding.bound import BoundJob

_RUNNER = "streamproof.prove.subjects.job.child"


@dataclass
class JobSubject(Subject):
    """A job of ours and a scenario, made ready."""

    config: JobConfig
    scenario: Scenario
    folder: Path
    engine: Engine
    bound: BoundJob
    asked: Mapping[str, Asked]
    written: Written
    services: Services
    _handwritten: dict[tuple[str, ...], dict[WindowKey, dict[str, Any]] | None] = field(default_factory=dict)

    @cached_property
    def alerts_seen(self) -> AlertsSeen:
        """What its scenarios have raised."""
        return AlertsSeen(self.scenario)

    @cached_property
    def arrivals(self) -> Mapping[str, Arrivals]:
        """By query, where the row-wise calls of the user's send each event."""
        return {query: self._arrivals(query, asked) for query, asked in self.asked.items()}

    def _arrivals(self, query: str, asked: Asked) -> Arrivals:
        rows, outside = {}, list[Event]()
        spark = self.engine.spark.newSession()
        for name in asked.sources:
            rows[name], refused_there = self._readable(spark, query, name)
            outside += refused_there
        times = event_times_asked(self.config, asked.sources)
        made = query_asked(query, asked, event_time_asked(self.config, asked.sources[0]), times)
        several = len(asked.sources) > 1
        source_of = {event.trace: name for name in asked.sources for event in self.written.of_source[name]} if several else None
        return Arrivals(made, rows, outside, source_of, self.table_states)

    @cached_property
    def table_states(self) -> TableStates:
        """What each table of the job holds, one state after another."""
        return states_of(self.config, self.written.tables)

    def _readable(self, spark: SparkSession, query: str, name: str) -> tuple[DataFrame, list[Event]]:
        """The events of a source that can be read, as rows; and the others, which every source rejects."""
        time = event_time_asked(self.config, name)
        source, made = self.bound.config.source[name], self.written.of_source[name]
        types = columns_of(source.schema_ddl) if source.schema_ddl else {}
        text = time is None and types.get(self.scenario.source[name].time_column or "") == "string"
        outside = [event for event in made if refused(event, time, time_is_text=text)]
        traces = {event.trace for event in outside}
        readable = [event for event in made if event.trace not in traces]
        file = self.folder / "offered" / f"{query}-{name}.json"
        rows = plain_rows(spark, readable, source, time.column if time else None, file)
        return proved(name, source).with_records(rows, self.written.traces_of_file), outside

    @cached_property
    def offered(self) -> Offered:
        """What the job is offered."""
        return Offered(self.written.events, self.written.traces_of_file)

    @cached_property
    def mistakes(self) -> Mapping[str, Mistakes]:
        """By query, what its row-wise steps do wrong."""
        return {query: mistakes(self._events_of(found.query), found.arrived) for query, found in self.arrivals.items()}

    def _events_of(self, query: Query) -> dict[str, Event]:
        """The events of all sources of a query, by trace."""
        return {event.trace: event for name in query.sources for event in self.written.of_source[name]}

    @cached_property
    def exercises(self) -> list[Exercise]:
        """What the job can do with records, each of which a proof must have seen."""
        return exercises_of(self.config, self.bound)

    @property
    def steps(self) -> Mapping[str, Steps]:
        """By output, how far values of two right runs may be apart; side outputs hold rows as they came."""
        return {query: found.steps for query, found in self.arrivals.items()}

    @cached_property
    def models(self) -> Mapping[str, Model]:
        """The plain model of each query."""
        traces = self.written.traces_of_file
        tables = {name: [one.state for one in states] for name, states in self.table_states.items()}
        return {query: Model(found.query, found.arrived, traces, found.by_tables, tables) for query, found in self.arrivals.items()}

    @property
    def prefix(self) -> str:  # type: ignore[override]
        return self.services.prefix

    @property
    def layout(self) -> Layout:
        return layout_of(self.bound)

    def child(self) -> Mapping[str, Any]:
        told = {RUNNER: _RUNNER, "target": str(self.config.file), "entry": self.config.entry, "profile": self.config.profile}
        return {**told, SCRAPED: seconds_between_samples(self.scenario)} if self.scenario.looks_at_alerts else told

    def foresee(self) -> None:
        assert self.models is not None

    def plans(self, recordings: Mapping[str, Recording], *, full: bool, quick: bool) -> tuple[list[ScenarioPlan], tuple[str, ...]]:
        default = recordings["default"]
        if self.services.names:
            return on_services.plans(self.config, self.scenario, default, self.services, full=full, of_each_kind=quick)
        crashes = standard(default.steps)
        if quick:
            return one_of_each(crashes), ()
        own = [name for name, sink in self.config.sink.items() if sink.is_of_the_job]
        found = [*crashes, *on_files.plans(default.steps, own)]
        return [*found, *(beyond(default.steps, recordings["rare"].steps, found) if full else [])], ()

    def made(self) -> Mapping[str, Sequence[Event]]:
        return self.written.of_source

    def injectors(self, children: Children) -> Sequence[Injector]:
        files = OnFiles(self.config, self.bound, lambda query: self.arrivals[query].arrived, self.written.traces_of_file)
        services = OnServices(self.config, self.bound, self.services)
        return FileFaultInjector(self, files, children), ServiceFaultInjector(self, services, children)

    def judge(self, folder: Path, *, power_failure: bool, rerun: Sequence[int], keep_rows: bool) -> Judged:
        history = self.history(folder, power_failure=power_failure)
        checks = run_checkers(history)
        published = rows_published(history) if keep_rows else None
        return Judged(checks, account_of(history), batches_of(history, rerun), history, published)

    def alerts(self, folder: Path, fault: str) -> Sequence[CheckResult]:
        found = self.alerts_seen.look(folder, fault)
        return () if found is None else (found,)

    def lineage_events(self) -> list[KeptEvent]:
        return events_kept(self.offered, self._source_of, self.called, lambda event: [event.values.get(name) for name in self._ids])

    def lineage(self, evidence: Any) -> list[ToKeep] | None:
        return queries_kept(evidence) if isinstance(evidence, History) else None

    def compare(self, one: Recording, other: Recording) -> Sequence[CheckResult]:
        """What is proved is what is shipped: a run without the hidden trace column has equal rows and equal step names."""
        found = [future_limit(self.config, self.engine.spark.newSession()), shipped_equals_proved(one, other, self.steps)]
        if any(arrivals.accumulators for arrivals in self.arrivals.values()):
            laws = [broken for query, arrivals in self.arrivals.items() for broken in accumulator_laws(query, arrivals)]
            found.append(accumulators_checked(laws))
        return found

    def report(self, evidence: Any) -> dict[str, Any]:
        return report_of(self, evidence)

    def binding(self, name: str, *, recording: str | None = None, trace: bool = True, by_line: str = "") -> ScenarioBinding:
        """Where a scenario of this name lies; `by_line` names a service that is reached through the proxy."""
        folder = self.folder / "disks" / name
        base = str(folder) if recording is None else f"sp-record://{recording}{folder}"
        data = self.written.data if trace else self.written.plain_data
        limits = self.scenario.files_per_batch, records_per_batch(self.scenario)
        return ScenarioBinding(base, folder, data, *limits, self.services.urls(by_line), self.services.stores(name, by_line))

    def require_services(self, *, look: bool) -> None:
        self.services.require_alive(look=look)

    def open_places(self, name: str) -> None:
        """Makes the places of a scenario in services."""
        opened(services_at(self.binding(name), self.config))
        self.services.open_stores(name)

    def close_places(self, name: str) -> None:
        """Removes them; those of a service that is gone have gone with it."""
        if not self.services.alive:
            return
        closed(services_at(self.binding(name), self.config))
        self.services.close_stores(name)

    def collect(self, folder: Path) -> None:
        """Brings what a scenario has left in services to its folder."""
        binding = self.binding(folder.name)
        sinks = services_at(binding, self.config)
        harvest_own(binding, self.config, self.engine.spark)
        if sinks:
            types = folder / TYPES
            harvested(sinks, folder / OUT, json.loads(types.read_text()) if types.exists() else {})

    def history(self, folder: Path, *, power_failure: bool = False) -> History:
        """What a scenario left in its folder, beside what the oracle says."""
        self.collect(folder)
        views = []
        for layout in query_layouts(self.bound, folder):
            arrivals = self.arrivals[layout.query]
            again = [name for name, table in self.config.table.items() if table.refresh is not None]
            left, used = with_tables(
                read_history(layout), layout, arrivals.query.tables, self.table_states, self.written.tables, again
            )
            model = self.models[layout.query].expect(left.batches)
            views += [replace(self._view(layout.query, reading, model), used=used) for reading in readings(left)]
        return History(views, self.offered, self.scenario.expect, power_failure, self.services.tries(folder.name))

    def _view(self, query: str, left: Any, model: Expectation) -> QueryView:
        arrivals = self.arrivals[query]
        equivalence = handwritten = None
        of_rows: Mapping[RowKey, Mapping[str, Any]] = {}
        if arrivals.query.grouped is not None and arrivals.traced:
            of_rows = arrivals.batch_result(model)
            equivalence = {key: of_rows[key, last] for key, last in model.last_rows.items() if (key, last) in of_rows}
            if query == next(iter(self.models)):
                handwritten = self._by_hand(model)
        rows = {**arrivals.rows_of(model), **model.made} if arrivals.traced else None
        sources = arrivals.query.sources
        return QueryView(
            left,
            model,
            arrivals.arrived_in(model),
            Bounded(equivalence, of_rows, rows, arrivals.steps),
            Handwritten(handwritten, self._intended(query)),
            Declared(arrivals.query.root, event_time_asked(self.config, sources[0]), event_times_asked(self.config, sources)),
            AsTable(
                keeps_last(self.config, left.outputs.get(query)),
                self._one_of_key.get(left.outputs[query].name) if query in left.outputs else None,
            ),
            frozenset().union(*(self.written.files_of[name] for name in sources)) if len(self.written.files_of) > 1 else None,
            self.mistakes[query],
        )

    @cached_property
    def _one_of_key(self) -> Mapping[str, OneOfKey]:
        """By sink what tells its rows apart, where it is a table that holds one of each key."""
        of_sinks = ((sink, self.arrivals[query]) for query in self.arrivals for sink in self.config.sinks_of(query))
        return {sink: found for sink, arrivals in of_sinks if (found := one_of_key(self.config, sink, arrivals)) is not None}

    def _intended(self, query: str) -> Mapping[str, str] | None:
        """Of the first output what the hand-written model says of each event."""
        return self._fates if query == next(iter(self.models)) else None

    @cached_property
    def _fates(self) -> Mapping[str, str] | None:
        sources = next(iter(self.asked.values())).sources
        found: dict[str, str] = {}
        for source in sources:
            fates = handwritten_fates(self.scenario, self.written.of_source[source], event_time_asked(self.config, source))
            if fates is None:
                return None
            found |= fates
        return found

    def _by_hand(self, model: Expectation) -> dict[WindowKey, dict[str, Any]] | None:
        if model.survivors not in self._handwritten:
            arrived = self.arrivals[model.query.name].arrived
            self._handwritten[model.survivors] = handwritten_rows(
                self.scenario, model.query, model.emitted, self.written.events, arrived
            )
        return self._handwritten[model.survivors]

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.config.name

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What one event is called: "trade" where the only source is called trades."""
        return _noun_of(events_called(self.config))

    def called(self, trace: str) -> str:
        """What people call an event: by its id column where the scenario has one, "trade t-003817", else by its trace id."""
        event, copy = self.written.events.get(trace), trace.partition("+")[2]
        found = next((event.values[name] for name in self._ids if name in event.values), None) if event else None
        noun = _noun_of(self._source_of[trace]) if trace in self._source_of else self.noun
        if found is None:
            return f"{noun} {trace}"
        return f"{noun} {found}" + (f" (copy {copy})" if copy else "")

    @cached_property
    def _source_of(self) -> Mapping[str, str]:
        """By trace the source of an event."""
        return {event.trace: name for name, events in self.written.of_source.items() for event in events}

    @property
    def _ids(self) -> Sequence[str]:
        """The columns by which events are told apart."""
        return [name for source in self.scenario.source.values() for name, column in source.columns.items() if column.kind == "id"]

    def close(self) -> None:
        for left in ("disks", "events", "events-plain", "offered", "children", "recording-*"):
            for folder in self.folder.glob(left):
                shutil.rmtree(folder, ignore_errors=True)


def _noun_of(source: str) -> str:
    """What one event of a source is called: "trade" where the source is called trades."""
    return source[:-1] if source.endswith("s") and not source.endswith("ss") else "event"


def exercises_of(config: JobConfig, bound: BoundJob) -> list[Exercise]:
    """What a job can do with records, each of which a proof must have seen."""
    versioned = [query for query in bound.outputs.main if any(facts_in(config, sink) for sink in config.sinks_of(query))]
    return exercises(bound.outputs, {name: source.event_time for name, source in config.source.items()}, versioned)
