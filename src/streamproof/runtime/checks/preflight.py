"""What `check` looks at before a JVM starts: the configuration, the job, Java, Spark, data and folders."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from streamproof.config import JobConfig, SinkConfig, load, redact
from streamproof.config.entry import JobFunction, class_names, job_functions
from streamproof.config.problems import did_you_mean
from streamproof.config.sinks import CUSTOM_SINK
from streamproof.connectors import services
from streamproof.connectors.sources import source_of
from streamproof.core.paths import display
from streamproof.core.sides import BY_METHOD
from streamproof.errors import ConfigurationError, StreamproofError
from streamproof.runtime.checks.rehearsal import Rehearsed, rehearsing
from streamproof.runtime.spark.environment import find_java, find_spark
from streamproof.runtime.spark.settings import refuse_settings

_UNSEEN_SHOWN = 5


class _Unseen(str):
    """What is said of something that is not looked at."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what, whether it is good, and a sentence about it; services and remote folders are not `looked_at`."""

    what: str
    good: bool
    says: str
    looked_at: bool = True


def look_at(target: str | Path, *, profile: str | None = None, spark: bool = False) -> list[Finding]:
    """Everything that can be checked about a job without running it; the later checks are left out if the configuration is wrong.

    Parameters
    ----------
    spark
        Whether Spark is started, to analyse the plan of every query.
    """
    config: list[JobConfig] = []

    def configuration() -> str:
        config.append(load(target, profile=profile))
        refuse_settings(config[0].spark, display(config[0].file))
        return display(config[0].file) + (f", profile {profile}" if profile else "")

    found = [_finding("configuration", configuration)]
    if not found[0].good:
        return [*found, *_installed()]
    installed = _installed()
    if not installed[-1].good:  # the job cannot be called without its PySpark
        return [*found, *installed, *_bindings(config[0])]
    with rehearsing(target, profile) as rehearsed:  # beside the rest: PySpark is to be imported for it
        others = [*installed, *_bindings(config[0])]
        job = _finding("job", lambda: _job(config[0], rehearsed))
    plans = _plans(config[0]) if spark and job.good else []
    if plans and all(plan.good for plan in plans):  # what was not seen without Spark, Spark has seen
        first, *rest = job.says.splitlines()
        job = Finding("job", True, "\n".join([first, *(line for line in rest if line.startswith("note: "))]))
    return [*found, job, *plans, *others]


def _plans(config: JobConfig) -> list[Finding]:
    """What Spark says of the plan of each query."""
    from streamproof.runtime.checks.analysis import analysed

    try:
        found = analysed(config)
    except StreamproofError as problem:
        return [Finding("plan", False, redact(str(problem)))]
    return [
        Finding(f"plan {name}", False, redact(str(said)))
        if isinstance(said, StreamproofError)
        else Finding(f"plan {name}", True, f"analysed by Spark: {said}")
        for name, said in found.items()
    ]


def _installed() -> list[Finding]:
    return [_finding("Java", _java), _finding("Spark", find_spark)]


def _finding(what: str, look: Callable[[], str]) -> Finding:
    try:
        said = look()
        return Finding(what, True, redact(said), looked_at=not isinstance(said, _Unseen))
    except StreamproofError as problem:
        return Finding(what, False, redact(str(problem)))


def _java() -> str:
    java = find_java()
    return f"{java.version}" + (f" (JAVA_HOME={java.home})" if java.home else "")


def _job(config: JobConfig, rehearsed: Callable[[], Rehearsed]) -> str:
    """What its text says, and then what calling it says."""
    functions = {function.name: function for function in job_functions(config.entry_file)}
    function = functions.get(config.name)
    if function is None:
        jobs = [name for name, other in functions.items() if other.is_job]
        raise ConfigurationError(
            f"{config.where('job', 'entry')}: [job] entry names {config.name}, and {display(config.entry_file)} has no such function."
            f"{did_you_mean(config.name, functions)}",
            required=f"Its jobs are {', '.join(jobs)}." if jobs else "It has no function with @sp.job.",
        )
    if not function.is_job:
        raise ConfigurationError(
            f"{display(config.entry_file)} line {function.line}: {config.name} is not marked as a job.",
            remedy="Write @sp.job above it.",
        )
    config.require_sources(function.parameters)
    _require_sinks(config, function)
    found = rehearsed()
    if found.problem:
        raise ConfigurationError(found.problem)
    names = function.outputs or found.outputs
    outputs = f" -> {', '.join(names)}" if names else ""
    said = f"{config.entry}({', '.join(function.parameters)}){outputs}"
    if found.not_called:
        return _Unseen(f"{said}\nread, not called, since {found.not_called}")
    notes = "".join(f"\nnote: {note}" for note in found.notes)
    if found.unseen:
        shown, more = found.unseen[:_UNSEEN_SHOWN], len(found.unseen) - _UNSEEN_SHOWN
        unseen = "".join(f"\nnot looked at: {what}" for what in (*shown, *([f"and {more} more"] if more > 0 else [])))
        return _Unseen(f"{said}\ncalled without Spark; other columns that its steps name are there{unseen}{notes}")
    return f"{said}\ncalled without Spark: the columns that its steps name are there; their types were not looked at{notes}"


def _require_sinks(config: JobConfig, function: JobFunction) -> None:
    if function.outputs is None:  # built in a way that the text does not show: `run` looks again
        return
    sides = [side.output for side in BY_METHOD.values() if not side.if_returned]
    unreturned = (*sides, *(f"{main}_{side}" for main in function.main_outputs for side in sides))
    known = (*function.outputs, *(side for side in unreturned if side not in function.outputs))
    config.require_sinks(known, needed=function.main_outputs)


def _bindings(config: JobConfig) -> Iterator[Finding]:
    for name in config.source:
        yield _finding(f"source {name}", lambda name=name: _source(config, name))  # type: ignore[misc]
    for name, sink in config.sink.items():
        yield _finding(f"sink {name}", lambda name=name, sink=sink: _sink(config, name, sink))  # type: ignore[misc]
    yield _finding("checkpoint", lambda: _writable(config, config.checkpoint, config.where("job", "checkpoint")))


def _unseen(said: str) -> _Unseen:
    return _Unseen(f"{said}, not looked at from here")


def _source(config: JobConfig, name: str) -> str:
    found = source_of(name, config.source[name], config.resolve).look(config)
    return found.says if found.looked_at else _Unseen(found.says)


def _sink(config: JobConfig, name: str, sink: SinkConfig) -> str:
    if sink.service is not None:
        return _unseen(f"{services.where(sink.service)}{sink.by_registry}")
    assert sink.folder is not None, "every connector is looked at"
    if custom := CUSTOM_SINK.fullmatch(sink.connector):
        file = config.root / custom["file"]
        classes = class_names(file)
        if custom["name"] not in classes:
            raise ConfigurationError(
                f"{config.where('sink', name, 'connector')}: [sink.{name}] connector names {custom['name']}, and {display(file)} has no such class."
                f"{did_you_mean(custom['name'], classes)}"
            )
    return _writable(config, sink.folder.path, config.where("sink", name, "path"))


def _writable(config: JobConfig, path: str, where: str) -> str:
    if config.is_remote(path):
        return _unseen(path)
    place = Path(config.resolve(path))
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    if not there.is_dir():
        raise ConfigurationError(f"{where}: {display(place)} cannot be made: {display(there)} is a file.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigurationError(f"{where}: {display(place)} cannot be written: no permission for {display(there)}.")
    return f"{path}{'' if place.exists() else ', will be made'}"
