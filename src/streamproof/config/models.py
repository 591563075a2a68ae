"""The models of `streamproof.toml`: what a job is bound to. All frozen; `model_copy(update=...)` makes a changed one."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field, PlainValidator, PrivateAttr, SerializeAsAny

from streamproof.config.backup import BackupConfig
from streamproof.config.beside import Beside, OpenLineageConfig
from streamproof.config.fields import Duration, Table, Text, text, wrong
from streamproof.config.lookups import TableConfig
from streamproof.config.places import is_remote, resolved
from streamproof.config.problems import Origin, Problem, did_you_mean, raise_problems
from streamproof.config.registry import RegistryConfig
from streamproof.config.secret import shown
from streamproof.config.sinks import SinkConfig, output_of
from streamproof.config.sources import SourceConfig
from streamproof.core.durations import format_duration, parse_duration

ENTRY = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[A-Za-z_]\w*)")
AVAILABLE_NOW = "available-now"
REAL_TIME = "real-time"
_REAL_TIME_BATCH = timedelta(minutes=5)
_SHORTEST_REAL_TIME_BATCH = timedelta(seconds=5)


def _trigger(value: object) -> "Trigger":
    if isinstance(value, Trigger):
        return value
    required = (
        f'It must be "{AVAILABLE_NOW}" (work through what is there, then end), an interval such as "10 seconds", or "{REAL_TIME}" '
        "(from topic to topic in milliseconds, at least once)."
    )
    if not isinstance(value, str):
        raise wrong(f"is {shown(value)}", required)
    if value == AVAILABLE_NOW:
        return Trigger()
    if value == REAL_TIME or value.startswith(f"{REAL_TIME} "):
        return Trigger(interval=_real_time_batch(value.removeprefix(REAL_TIME).strip()), real_time=True)
    try:
        interval = parse_duration(value)
    except ValueError:
        raise wrong(f"is {shown(value)}.{did_you_mean(value, (AVAILABLE_NOW, REAL_TIME))}".rstrip("."), required) from None
    if not interval:
        raise wrong("is an interval of no length", required)
    return Trigger(interval=interval)


def _real_time_batch(written: str) -> timedelta:
    """How long a batch of the real-time trigger lasts, as it is written after its name."""
    required = f'After "{REAL_TIME}" may stand how long a batch lasts, from 5 seconds on: "{REAL_TIME} 1 minute". Without it that is 5 minutes.'
    if not written:
        return _REAL_TIME_BATCH
    try:
        batch = parse_duration(written)
    except ValueError:
        raise wrong(f"is {shown(f'{REAL_TIME} {written}')}", required) from None
    if batch < _SHORTEST_REAL_TIME_BATCH:
        raise wrong(f"has batches of {format_duration(batch)}", required)
    return batch


def _entry(value: object) -> str:
    entry = text(value)
    if not ENTRY.fullmatch(entry):
        raise wrong(f"is {shown(entry)}", 'It must be a Python file and a function in it, such as "job.py:risk_exposure".')
    return entry


class Trigger(Table):
    """When a batch starts, and how long it should take.

    Parameters
    ----------
    interval
        None for "available-now", which works through what is there and ends. Else how long after one batch the next begins; with `real_time`
        how long a batch lasts.
    real_time
        Whether rows go out while their batch still runs.
    batch_time
        How long a batch should take: what it reads is adapted to that. None: it reads what its sources' limits allow.
    """

    interval: timedelta | None = None
    real_time: bool = False
    batch_time: timedelta | None = None

    def __str__(self) -> str:
        if self.interval is None:
            return AVAILABLE_NOW
        return f"{REAL_TIME} {format_duration(self.interval)}" if self.real_time else format_duration(self.interval)


class JobTable(Table):
    """The table [job] as the file writes it."""

    entry: Annotated[str, PlainValidator(_entry)]
    checkpoint: Text | None = None
    trigger: Annotated[Trigger, PlainValidator(_trigger)] = Trigger()
    batch_time: Duration | None = None

    @property
    def paced(self) -> Trigger:
        """When a batch starts, and how long it should take."""
        return self.trigger.model_copy(update={"batch_time": self.batch_time})


class JobConfig(Table):
    """A job with everything it is bound to, as read from one `streamproof.toml` and one profile.

    Parameters
    ----------
    file
        The configuration file, absolute.
    name
        The name of the job function.
    entry
        File and function, "job.py:risk_exposure".
    checkpoint
        Where Spark and Streamproof keep what they need after a crash; "checkpoints/<name>" unless given.
    trigger, source, sink
        The bindings; sources by the names of the function's parameters, sinks by the names of its outputs.
    table
        The tables that streams are looked up in, by the names that the job calls them by.
    registry
        The schema registry that sources and sinks use unless they name another.
    spark
        Settings of the Spark session, all texts.
    beside
        What a run does beside its batches: where checkpoints are backed up to, which catalogue is told of the queries.
    """

    file: Path
    name: Text
    entry: Text
    checkpoint: Text
    trigger: Trigger = Trigger()
    source: dict[str, SerializeAsAny[SourceConfig]] = Field(default_factory=dict)
    sink: dict[str, SerializeAsAny[SinkConfig]] = Field(default_factory=dict)
    table: dict[str, SerializeAsAny[TableConfig]] = Field(default_factory=dict)
    registry: RegistryConfig | None = None
    spark: dict[str, Text] = Field(default_factory=dict)
    beside: Beside = Beside()
    profile: str | None = None
    _origin: Origin | None = PrivateAttr(default=None)

    @property
    def backup(self) -> BackupConfig | None:
        """Where its checkpoints are backed up to while it runs; None: nowhere."""
        return self.beside.backup

    @property
    def openlineage(self) -> OpenLineageConfig | None:
        """The catalogue that is told of its queries; None: none."""
        return self.beside.openlineage

    @property
    def root(self) -> Path:
        """The folder of the file, absolute; relative paths are relative to it."""
        return self.file.parent

    @property
    def entry_file(self) -> Path:
        """The Python file of the job, absolute."""
        return self.root / self.entry.rpartition(":")[0]

    def resolve(self, path: str) -> str:
        """The path, made absolute against the folder of the file; a URI with a scheme is left alone."""
        return resolved(path, self.root)

    def is_remote(self, path: str) -> bool:
        """Whether the path is a URI of a store that is not this machine's file system."""
        return is_remote(path)

    def where(self, *path: str) -> str:
        """File and line of a key, for messages: `where("source", "trades", "path")` is "my_job/streamproof.toml line 7"."""
        return self._origin.where(path) if self._origin else str(self.file)

    def line_of(self, *path: str) -> int:
        """The line of a key, or of the nearest table around it; 0 where the file has neither."""
        return self._origin.line(path) if self._origin else 0

    def sinks_of(self, output: str) -> tuple[str, ...]:
        """The sinks of an output by their names: its own, or several such as "exposure.postgres"; none where it is not bound."""
        return tuple(name for name in self.sink if output_of(name) == output)

    def require_sources(self, parameters: Sequence[str]) -> None:
        """Raise ConfigurationError unless the sources are exactly the parameters of the job function."""
        problems = [
            Problem(
                ("source", name),
                f"is a source that {self.name} has no parameter for.{did_you_mean(name, parameters)}",
                _takes(self.name, parameters),
            )
            for name in self.source
            if name not in parameters
        ]
        problems += [
            Problem(
                (),
                f"has no table [source.{name}], and {self.name} reads {name}.",
                remedy=f"Write a table [source.{name}] with connector, path and format.",
            )
            for name in parameters
            if name not in self.source
        ]
        raise_problems(self._required_origin, problems)

    def require_sinks(self, outputs: Sequence[str], *, needed: Sequence[str] = ()) -> None:
        """Raise ConfigurationError if a sink is no output of the job, or an output of `needed` has no sink."""
        problems = [
            Problem(
                ("sink", name),
                f"is a sink for an output that {self.name} does not have.{did_you_mean(name, outputs)}",
                f"Its outputs are {', '.join(outputs)}.",
            )
            for name in self.sink
            if output_of(name) not in outputs
        ]
        problems += [
            Problem(
                (),
                f"has no table [sink.{name}], and {self.name} has the output {name}.",
                remedy=f"Write a table [sink.{name}] with connector and path.",
            )
            for name in needed
            if not self.sinks_of(name)
        ]
        raise_problems(self._required_origin, problems)

    @property
    def _required_origin(self) -> Origin:
        return self._origin or Origin(self.file, {})

    def with_origin(self, origin: Origin) -> "JobConfig":
        """The same configuration, knowing where its keys stand; copies of it know it too."""
        copy = self.model_copy()
        copy._origin = origin
        return copy


def _takes(name: str, parameters: Sequence[str]) -> str:
    return f"{name} takes {', '.join(parameters)}." if parameters else f"{name} takes no stream."
