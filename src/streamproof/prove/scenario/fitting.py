"""Whether a scenario fits the job that it lies beside: its sources, their event times, and the functions of its [expect]; without running anything."""

from collections.abc import Collection

from streamproof.config import JobConfig
from streamproof.config.entry import function_names
from streamproof.config.problems import did_you_mean
from streamproof.core.paths import display
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.scenario import FILE_NAME, Scenario, SourceScenario, load_scenario


def look_at_scenario(config: JobConfig) -> str:
    """The scenario in words.

    Raises
    ------
    ScenarioError
        If it cannot be read, misses a source of the job or its event time, or names a function that is not there.
    ConfigurationError
        If the file of such a function is no Python.
    """
    file = config.root / FILE_NAME
    scenario = load_scenario(file)
    for name in config.source:
        plan_of(scenario, name, where=f"{display(file)}: ")
        declared = config.source[name].event_time
        if declared is not None:
            require_event_time(scenario.source[name], name, declared.column, where=f"{display(file)}: ")
    require_tables(scenario, config.table, where=f"{display(file)}: ")
    for key, named in (("model", scenario.expect.model), ("fate", scenario.expect.fate)):
        if named is not None:
            _require_function(scenario, key, named, where=f"{display(file)}: ")
    return f"{display(file)}, {scenario.events:,} events"


def plan_of(scenario: Scenario, source: str, *, where: str = "") -> SourceScenario:
    """What the scenario says of a source; ScenarioError where it says nothing."""
    if source not in scenario.source:
        raise ScenarioError(
            f"{where}{'the' if where else 'The'} scenario has no [source.{source}].{did_you_mean(source, scenario.source)}",
            required=f"It has {', '.join(scenario.source)}. Each source of the job needs events.",
        )
    return scenario.source[source]


def require_tables(scenario: Scenario, tables: Collection[str], *, where: str = "") -> None:
    """ScenarioError unless the scenario says what each table of a job holds, and of no other."""
    the = "the" if where else "The"
    for name in scenario.table:
        if name not in tables:
            raise ScenarioError(
                f"{where}{the} scenario has [table.{name}], and the job has no such table.{did_you_mean(name, tables)}",
                required=f"Its tables are {', '.join(tables)}." if tables else "It has none.",
            )
    for name in tables:
        if name not in scenario.table:
            raise ScenarioError(
                f"{where}{the} scenario has no [table.{name}], and the job looks rows up in it.{did_you_mean(name, scenario.table)}",
                required="A proof touches no table that is real: it brings the rows.",
                remedy=f'Write [table.{name}] with schema = "..." and rows = [{{ ... }}, ...].',
            )


def require_event_time(plan: SourceScenario, source: str, column: str, *, where: str = "") -> None:
    """ScenarioError unless the scenario makes the event time of a source in the column that the configuration reads it from."""
    if plan.time_column != column:
        raise ScenarioError(
            f'{where}[source.{source}.columns] has {plan.time_column or "no column"} as kind "event_time".',
            required=f'The event time of {source} is the column "{column}".',
        )


def _require_function(scenario: Scenario, key: str, named: str, *, where: str) -> None:
    file, _, name = named.rpartition(":")
    path = scenario.folder / file
    if not path.is_file():
        raise ScenarioError(f"{where}[expect] {key} names {file}, and there is no such file beside the scenario.")
    functions = function_names(path)
    if functions is not None and name not in functions:
        raise ScenarioError(
            f'{where}[expect] {key} names "{name}", and {file} has no such function.{did_you_mean(name, functions)}',
            required=f"Its functions are {', '.join(functions)}." if functions else "",
        )
