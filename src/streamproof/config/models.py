"""The models of `streamproof.toml`: what a job is bound to. All frozen; `model_copy(update=...)` makes a changed one."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, PrivateAttr
from pydantic_core import PydanticCustomError

from streamproof.config.problems import Origin, Problem, did_you_mean, one_of, raise_problems
from streamproof.config.secret import shown
from streamproof.core.durations import format_duration, parse_duration

KNOWN_CONNECTORS = ("files",)
LATER_CONNECTORS = ("kafka", "postgres", "redis", "http", "cdc", "registry", "delta")
CUSTOM_SINK = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[A-Za-z_]\w*)")
ENTRY = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[A-Za-z_]\w*)")
AVAILABLE_NOW = "available-now"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")


def _wrong(sentence: str, required: str = "", remedy: str = "") -> PydanticCustomError:
    """What a validator raises: the end of a sentence that begins with the key, such as 'is "x", which is no duration'."""
    return PydanticCustomError("sentence", "{sentence}", {"sentence": sentence, "required": required, "remedy": remedy})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(f"is {shown(value)}", "It must be a text in quotes.")
    if not value.strip():
        raise _wrong("is empty", "It must be a text in quotes.")
    return value


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    required = 'It must be a duration in quotes, such as "10 seconds", "5 minutes" or "1 hour".'
    if not isinstance(value, str):
        raise _wrong(f"is {shown(value)}", required)
    try:
        return parse_duration(value)
    except ValueError:
        raise _wrong(f"is {shown(value)}, which is not a duration", required) from None


def _zone(value: object) -> str:
    name = _text(value)
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        required = 'It must be a time zone by its IANA name, such as "UTC", "Europe/Berlin" or "America/New_York".'
        raise _wrong(
            f"is {shown(name)}, which is no known time zone.{did_you_mean(name, available_timezones())}".removesuffix("."), required
        ) from None
    return name


def _trigger(value: object) -> "Trigger":
    if isinstance(value, Trigger):
        return value
    required = f'It must be "{AVAILABLE_NOW}" (work through what is there, then end) or an interval such as "10 seconds".'
    if not isinstance(value, str):
        raise _wrong(f"is {shown(value)}", required)
    if value == AVAILABLE_NOW:
        return Trigger()
    if value in ("real-time", "realtime"):
        raise _wrong('is "real-time", which is not there yet: it does not work with windows and deduplication', required)
    try:
        interval = parse_duration(value)
    except ValueError:
        raise _wrong(f"is {shown(value)}.{did_you_mean(value, (AVAILABLE_NOW,))}".rstrip("."), required) from None
    if not interval:
        raise _wrong("is an interval of no length", required)
    return Trigger(interval=interval)


def _source_connector(value: object) -> str:
    return _connector(value, custom=False)


def _sink_connector(value: object) -> str:
    return _connector(value, custom=True)


def _connector(value: object, *, custom: bool) -> str:
    name = _text(value)
    required = 'It must be "files"' + (', or a sink class of your own as "file.py:ClassName".' if custom else ".")
    if name in KNOWN_CONNECTORS or (custom and CUSTOM_SINK.fullmatch(name)):
        return name
    if name in LATER_CONNECTORS:
        raise _wrong(f'is "{name}", which is not there yet', required)
    raise _wrong(f"is {shown(name)}, which is no connector.{did_you_mean(name, KNOWN_CONNECTORS)}".rstrip("."), required)


def _entry(value: object) -> str:
    entry = _text(value)
    if not ENTRY.fullmatch(entry):
        raise _wrong(f"is {shown(entry)}", 'It must be a Python file and a function in it, such as "job.py:risk_exposure".')
    return entry


def _choice(*names: str) -> PlainValidator:
    def validate(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        raise _wrong(f"is {shown(value)}{f'.{hint}'.rstrip('.')}", f"It must be {one_of(names)}.")

    return PlainValidator(validate)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong(f"is {shown(value)}", "It must be a whole number of at least 1, without quotes.")
    return value


Text = Annotated[str, PlainValidator(_text)]
Duration = Annotated[timedelta, PlainValidator(_duration), PlainSerializer(format_duration)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Trigger(_Table):
    """When a batch starts: `interval` is None for "available-now", which works through what is there and ends."""

    interval: timedelta | None = None

    @property
    def available_now(self) -> bool:
        return self.interval is None

    def __str__(self) -> str:
        return AVAILABLE_NOW if self.interval is None else format_duration(self.interval)


class EventTime(_Table):
    """When an event happened: which column says it, and how it is written.

    Parameters
    ----------
    column
        A column of the schema; the job sees it as TIMESTAMP under the same name.
    unit
        What a number counts since 1970-01-01T00:00:00Z: seconds, milliseconds, microseconds or nanoseconds.
    zone
        IANA time zone of texts that carry none.
    format
        Spark's datetime pattern of a text; ISO 8601 without it.
    lag
        How far events may be out of order before they are late.
    max_future
        An event further ahead of its batch's own time is rejected; None accepts every time.
    """

    column: Text
    unit: (
        Annotated[
            Literal["seconds", "milliseconds", "microseconds", "nanoseconds"],
            _choice("seconds", "milliseconds", "microseconds", "nanoseconds"),
        ]
        | None
    ) = None
    zone: Annotated[str, PlainValidator(_zone)] = "UTC"
    format: Text | None = None
    lag: Duration = timedelta(0)
    max_future: Duration | None = None


class SourceConfig(_Table):
    """Where a stream of the job comes from.

    Parameters
    ----------
    connector
        "files": every file of a folder is read once, in the order of modification time.
    path
        The folder, relative to the configuration file; a URI with a scheme is left as it is.
    format
        "json" (one object a line) or "parquet".
    schema_ddl
        The columns as Spark writes them in DDL, "trade_id string, notional double"; the key of the file is `schema`.
    event_time
        Needed by windows and deduplication.
    files_per_batch
        At most so many files in one batch; None takes all that are there.
    """

    connector: Annotated[str, PlainValidator(_source_connector)]
    path: Text
    format: Annotated[Literal["json", "parquet"], _choice("json", "parquet")]
    schema_ddl: Text | None = Field(default=None, alias="schema")
    event_time: EventTime | None = None
    files_per_batch: Annotated[int, PlainValidator(_count)] | None = None


class SinkConfig(_Table):
    """Where an output of the job goes: `connector` is "files", or "file.py:ClassName" for a sink class in the user's folder."""

    connector: Annotated[str, PlainValidator(_sink_connector)]
    path: Text
    format: Annotated[Literal["parquet", "json"], _choice("parquet", "json")] = "parquet"


class JobTable(_Table):
    """The table [job] as the file writes it."""

    entry: Annotated[str, PlainValidator(_entry)]
    checkpoint: Text | None = None
    trigger: Annotated[Trigger, PlainValidator(_trigger)] = Trigger()


class JobConfig(_Table):
    """A job with everything it is bound to, as read from one `streamproof.toml` and one profile.

    Parameters
    ----------
    root
        The folder of the file, absolute; relative paths are relative to it.
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
    spark
        Settings of the Spark session, all texts.
    """

    root: Path
    file: Path
    name: Text
    entry: Text
    checkpoint: Text
    trigger: Trigger = Trigger()
    source: dict[str, SourceConfig] = Field(default_factory=dict)
    sink: dict[str, SinkConfig] = Field(default_factory=dict)
    spark: dict[str, Text] = Field(default_factory=dict)
    profile: str | None = None
    _origin: Origin | None = PrivateAttr(default=None)

    @property
    def entry_file(self) -> Path:
        """The Python file of the job, absolute."""
        return self.root / self.entry.rpartition(":")[0]

    def resolve(self, path: str) -> str:
        """The path, made absolute against the folder of the file; a URI with a scheme is left alone."""
        return path if _SCHEME.match(path) else str((self.root / path).absolute())

    def is_remote(self, path: str) -> bool:
        """Whether the path is a URI of a store that is not this machine's file system."""
        return bool(_SCHEME.match(path)) and not path.startswith("file:")

    def where(self, *path: str) -> str:
        """File and line of a key, for messages: `where("source", "trades", "path")` is "my_job/streamproof.toml line 7"."""
        return self._origin.where(path) if self._origin else str(self.file)

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
            if name not in outputs
        ]
        problems += [
            Problem(
                (),
                f"has no table [sink.{name}], and {self.name} has the output {name}.",
                remedy=f"Write a table [sink.{name}] with connector and path.",
            )
            for name in needed
            if name not in self.sink
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
