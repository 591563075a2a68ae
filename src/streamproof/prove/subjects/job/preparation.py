"""Prepares a job of ours: asks it what it wants, writes the events, binds it to them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from streamproof.config import JobConfig
from streamproof.errors import ScenarioError
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.environment import in_environment
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.scenario.exactly import Exactly
from streamproof.prove.scenario.generate import Event
from streamproof.prove.scenario.scenario import Scenario, load_scenario
from streamproof.prove.services import Services, needed
from streamproof.prove.subjects.job.alerts import require_alerts
from streamproof.prove.subjects.job.as_written import event_time_asked
from streamproof.prove.subjects.job.binding import bind_job
from streamproof.prove.subjects.job.calls import calls_of
from streamproof.prove.subjects.job.exactly import require_takes, with_exactly
from streamproof.prove.subjects.job.exercised import require_known
from streamproof.prove.subjects.job.imported import SCENARIOS, SCENARIOS_ON_SERVICES
from streamproof.prove.subjects.job.last_rows import facts_in
from streamproof.prove.subjects.job.reporting import events_called
from streamproof.prove.subjects.job.subject import JobSubject, exercises_of
from streamproof.prove.subjects.job.writing import add_edges, data_of, make_events, write_scenario
from streamproof.prove.subjects.subject import Preparation
from streamproof.runtime.spark.connector_jars import connector_jars


class JobPreparation(Preparation):
    """A job's configuration and its scenario."""

    def __init__(self, config: JobConfig, scenario: Scenario, exactly: Exactly | None = None) -> None:
        self.config, self.scenario, self._exactly = config, scenario, exactly
        self.name, self.noun = config.name, events_called(config)
        self.seed, self.batches, self.events = scenario.seed, scenario.batches, scenario.events
        self.records = scenario.events * len(config.source)
        self.spark, self.stores = config.spark, scenario.environment
        self.services = needed(config, scenario.environment)
        self.modules = SCENARIOS_ON_SERVICES if self.services else SCENARIOS
        self._made: Mapping[str, Sequence[Event]] = {}

    @classmethod
    def of(
        cls, config: JobConfig, *, seed: int | None = None, events: int | None = None, batches: int | None = None
    ) -> "JobPreparation":
        """With the scenario beside the configuration, or another seed, number of events or of batches.

        Raises
        ------
        ScenarioError
            If the scenario cannot be read.
        """
        return cls(config, load_scenario(config.root, seed=seed, events=events, batches=batches))

    def exactly(self, events: Exactly) -> "JobPreparation":
        require_takes(self.config, events)
        return JobPreparation(self.config, with_exactly(self.scenario, events), events)

    @property
    def jars(self) -> Sequence[str]:  # type: ignore[override]  # fetched when they are asked for
        return connector_jars(self.config)

    def make(self) -> None:
        self._made = make_events(self.config, self.scenario) if self._exactly is None else self._exactly.of_source

    def subject(self, engine: Engine, folder: Path, services: Services) -> JobSubject:
        made = {name: list(events) for name, events in self._made.items()}
        return prepare(self.config, self.scenario, folder, engine, made, services, vacuous=self._exactly is not None)


def prepare(
    config: JobConfig,
    scenario: Scenario,
    folder: Path,
    engine: Engine,
    made: Mapping[str, list[Event]],
    services: Services,
    *,
    vacuous: bool = False,
) -> JobSubject:
    """Asks the job what it wants, writes the events, and binds the job to them.

    Parameters
    ----------
    vacuous
        Whether nothing that the job can do need happen.

    Raises
    ------
    StreamproofError
        If the job cannot be bound, or the scenario's model fits none of its outputs.
    """
    disk = folder / "disks" / f"{services.prefix}oracle"
    services.open_stores(disk.name)
    stores = services.stores(disk.name)
    data = data_of(config, folder, services, trace=True)
    bound = bind_job(
        ScenarioBinding(str(disk), disk, data, scenario.files_per_batch, urls=services.urls(), environment=stores), config
    )
    with in_environment(stores):
        asked = calls_of(config)
    written = write_scenario(add_edges(made, config, scenario, asked), config, scenario, folder, services)
    queries = {name: query_asked(name, one, event_time_asked(config, one.sources[0])) for name, one in asked.items()}
    require_alerts(scenario)
    _require_window_for_model(scenario, next(iter(queries.values())))
    require_rows_for_versions(config, queries)
    exercises = exercises_of(config, bound)
    require_known(scenario.expect.may_be_unexercised, exercises)
    if vacuous:
        names = tuple(dict.fromkeys(name for one in exercises for name in one.names))
        scenario = scenario.model_copy(update={"expect": scenario.expect.model_copy(update={"may_be_unexercised": names})})
    return JobSubject(config, scenario, folder, engine, bound, asked, written, services)


def _require_window_for_model(scenario: Scenario, first: Query) -> None:
    """ScenarioError if a hand-written model is named that nothing would be compared with."""
    if scenario.expect.model is not None and first.grouped is not None and first.pairs is not None:
        raise ScenarioError(
            f"[expect] model names {scenario.expect.model}, and the windows of {first.name} stand after a join.",
            required="A hand-written model gets events one by one, and a row of a join is of two. Its windows are compared with the job's own batch query.",
            remedy="Take the line out.",
        )
    if scenario.expect.model is not None and first.grouped is None:
        raise ScenarioError(
            f"[expect] model names {scenario.expect.model}, and the output {first.name} has no window.",
            required="A hand-written model gives the rows of windows; other rows are compared with the job's own batch query.",
            remedy="Take the line out, or return the output with the window first.",
        )


def require_rows_for_versions(config: JobConfig, queries: Mapping[str, Query]) -> None:
    """ScenarioError if windows are kept by a version of somebody's own: the model does not know which of them a table holds."""
    for name, query in queries.items():
        for sink in config.sinks_of(name) if query.grouped is not None else ():
            if facts_in(config, sink) is not None:
                raise ScenarioError(
                    f"{config.where('sink', sink, 'version')}: {name} has windows, and a proof does not know which of them this version keeps.",
                    required='Of windows version = "revision", or none where the key names the window.',
                    remedy="Prove the job with that output on files: a profile with another [sink] for it, and streamproof prove --profile.",
                )
