"""The scenario file `scenario.toml` as typed, frozen models: which events a proof makes, in which batches, and what it expects."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from streamproof.config.fields import Duration, Text
from streamproof.config.positions import key_lines
from streamproof.config.problems import Origin
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.alerts import Alerts
from streamproof.prove.scenario.fields import Count, Instant, ModelName, Names, Share, Table, Variable, wrong
from streamproof.prove.scenario.problems import sentence_for

FILE_NAME = "scenario.toml"


class IdColumn(Table):
    """A text that is different for every event: the prefix and a number of at least `width` digits."""

    kind: Literal["id"]
    prefix: str = ""
    width: Count = 6


class KeyColumn(Table):
    """One of `count` texts, the prefix and a number; the first one, the hot key, gets the share `hot` of the events."""

    kind: Literal["key"]
    prefix: str = ""
    count: Count
    hot: Share = 0.0


class NumberColumn(Table):
    """A number in [min, max], evenly spread, with exactly `decimals` decimals; a whole number with none."""

    kind: Literal["number"]
    min: float = 0.0
    max: float = 1000.0
    decimals: Annotated[int, Field(ge=0, le=9)] = 2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise wrong(f"has min {self.min:g} above max {self.max:g}")
        return self


class ChoiceColumn(Table):
    """One of the given values, each equally likely; lists and tables are nested values, in JSON."""

    kind: Literal["choice"]
    values: Annotated[tuple[str | int | bool | list[Any] | dict[str, Any], ...], Field(min_length=1)]


class EventTimeColumn(Table):
    """When the event happened, written as the source's `event_time` in streamproof.toml says."""

    kind: Literal["event_time"]


Column = Annotated[IdColumn | KeyColumn | NumberColumn | ChoiceColumn | EventTimeColumn, Field(discriminator="kind")]


class Disorder(Table):
    """How long after it happened an event arrives.

    Parameters
    ----------
    typical
        The mean of an exponential delay that every event has.
    delayed
        The share of events that come much later.
    delayed_by
        By how much: evenly between the two durations.
    """

    typical: Duration = timedelta(0)
    delayed: Share = 0.0
    delayed_by: tuple[Duration, Duration] = (timedelta(minutes=1), timedelta(minutes=10))


class Faults(Table):
    """What is wrong with the data, as shares of all events; a share above 0 makes at least one.

    Parameters
    ----------
    malformed
        Records cut short, with a text for a number, or with bytes that are not UTF-8 (JSON only).
    missing_time, unparseable_time, future_time
        No event time, one that cannot be read, one in the year 2999.
    invalid
        Events with the values of `invalid_values`, which break a requirement of the job.
    duplicates
        Second copies; each arrives up to `duplicated_within` after the first.
    """

    malformed: Share = 0.0
    missing_time: Share = 0.0
    unparseable_time: Share = 0.0
    future_time: Share = 0.0
    invalid: Share = 0.0
    invalid_values: dict[str, str | int | float | bool] = Field(default_factory=dict)
    duplicates: Share = 0.0
    duplicated_within: Duration = timedelta(seconds=30)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.malformed + self.missing_time + self.unparseable_time + self.future_time + self.invalid + self.duplicates > 0.9:
            raise wrong("makes more than 0.9 of all events faulty", "At least a tenth must be left sound.")
        if self.invalid and not self.invalid_values:
            raise wrong("has invalid and no invalid_values", "It must say what, such as invalid_values = { notional = -1 }.")
        return self


class Rhythm(Table):
    """When the events happen: evenly over the span, with `bursts` that hold the share `burst_share`, and `idle` stretches without any."""

    bursts: Annotated[int, Field(ge=0, le=100)] = 0
    burst_share: Share = 0.1
    burst_length: Duration = timedelta(seconds=10)
    idle: Annotated[int, Field(ge=0, le=100)] = 0
    idle_length: Duration = timedelta(minutes=1)


class SourceScenario(Table):
    """The events of one source: their columns, in the order they are written, and the event time they cover.

    `batches` says in how many batches they come, where that is not all of them: after those the source delivers nothing.
    """

    batches: Count | None = None
    start: Instant = datetime(2026, 1, 5, 9, tzinfo=UTC)
    span: Duration = timedelta(minutes=60)
    columns: Annotated[dict[str, Column], Field(min_length=1)]
    disorder: Disorder = Disorder()
    faults: Faults = Faults()
    rhythm: Rhythm = Rhythm()

    @property
    def time_column(self) -> str | None:
        return next((name for name, column in self.columns.items() if isinstance(column, EventTimeColumn)), None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        times = [name for name, column in self.columns.items() if isinstance(column, EventTimeColumn)]
        if len(times) > 1:
            raise wrong(f"has two columns of kind event_time: {', '.join(times)}", "An event has one event time.")
        if self.span <= timedelta(0):
            raise wrong("has a span of no length")
        if self.rhythm.idle * self.rhythm.idle_length + self.rhythm.bursts * self.rhythm.burst_length > self.span / 2:
            raise wrong("has bursts and idle stretches that are together longer than half the span")
        for name in self.faults.invalid_values:
            if name not in self.columns:
                raise wrong(f'has invalid_values for "{name}", which is no column', f"The columns are {', '.join(self.columns)}.")
        return self


class TableChange(Table):
    """What a table holds from a batch on."""

    batch: Count
    rows: tuple[dict[str, Any], ...]


class TableScenario(Table):
    """What a table holds that rows are looked up in.

    Parameters
    ----------
    schema_ddl
        The columns as Spark writes them in DDL, where the configuration does not say them; the key of the file is `schema`.
    rows
        What it holds at first, a table for each row; a column that is left out is null.
    changes
        What it holds later, each from a batch on, or from the first start after it.
    """

    schema_ddl: Text | None = Field(default=None, alias="schema")
    rows: tuple[dict[str, Any], ...]
    changes: tuple[TableChange, ...] = ()


class Expect(Table):
    """What must hold in every scenario of the proof, besides the account.

    Parameters
    ----------
    late_at_most, rejected_at_most, open_at_most
        Shares of the input.
    tables_behind_at_most
        For how many batches a table may hold something newer than what a batch uses of it.
    results_by
        "event time": the event time that the job uses is the one the event was made with.
    model
        A hand-written model of the business rule, "model.py:function": from the surviving events, a list of dicts, to the
        rows of the windowed output.
    fate
        A hand-written rule for each event by itself, "model.py:fate": from a dict to "kept", "rejected" or "filtered".
    tolerance
        How far numbers may differ, relative to the larger one, in columns compared by tolerance.
    compare
        How columns of the output are compared: "exact", "tolerance", "set" or "ignore"; numbers with decimals by tolerance unless said.
    may_be_unexercised
        What need not happen for a pass: names of outputs that may stay empty, "late", "rejected", "duplicate", "filtered.NAME".
    """

    late_at_most: Share | None = None
    rejected_at_most: Share | None = None
    open_at_most: Share | None = None
    tables_behind_at_most: Annotated[int, Field(ge=0)] | None = None
    results_by: Literal["event time"] | None = None
    model: ModelName | None = None
    fate: ModelName | None = None
    tolerance: Annotated[float, Field(ge=0)] = 1e-9
    compare: dict[str, Literal["exact", "tolerance", "set", "ignore"]] = Field(default_factory=dict)
    may_be_unexercised: Names = ()


class Scenario(Table):
    """A whole scenario: seed, number of input records per source (copies included), batches, sources, expectations.

    `edges` says whether some ordinary events give way to ones at the edges: of windows, of the late bound, with nulls. `environment` are
    variables that hold the URL of a store that the job keeps by itself, and the service that is one.
    """

    seed: int = 0
    events: Count
    batches: Count = 8
    files_per_batch: Annotated[int, Field(ge=2, le=64)] = 2
    edges: bool = True
    source: Annotated[dict[str, SourceScenario], Field(min_length=1)]
    table: dict[str, TableScenario] = Field(default_factory=dict)
    expect: Expect = Expect()
    environment: dict[Variable, Literal["redis", "postgres", "api"]] = Field(default_factory=dict)
    alerts: Alerts = Alerts()
    title: Text | None = None
    file: Path | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _enough(self) -> Self:
        files = self.batches * self.files_per_batch
        if self.events < files:
            raise wrong(f"has {self.events} events for {files} files", "Every file of every batch must hold at least one event.")
        for name, source in self.source.items():
            if source.batches is not None and source.batches > self.batches:
                raise wrong(f"has {self.batches} batches, and [source.{name}] comes in {source.batches}", "At most as many.")
        return self

    @property
    def looks_at_alerts(self) -> bool:
        """Whether the scenario has [alerts]."""
        return "alerts" in self.model_fields_set

    @property
    def folder(self) -> Path:
        """The folder that file names in the scenario are relative to."""
        return self.file.parent if self.file else Path()


def load_scenario(path: str | Path, *, seed: int | None = None, events: int | None = None, batches: int | None = None) -> Scenario:
    """The scenario of a file, or of the `scenario.toml` in a folder; seed, events and batches replace what the file says.

    Raises
    ------
    ScenarioError
        If the file is not there, is no TOML, or says something it cannot: with file, line, key and the nearest valid name.
    """
    file = Path(path)
    file = file / FILE_NAME if file.is_dir() else file
    try:
        text = file.read_bytes().decode("utf-8")
        tree = tomllib.loads(text)
    except FileNotFoundError:
        raise ScenarioError(
            f"There is no {file}.",
            required="A proof needs a scenario.",
            remedy="streamproof init NEW_FOLDER writes one as an example.",
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise ScenarioError(f"{file} cannot be read: {problem}.") from None
    except tomllib.TOMLDecodeError as problem:
        raise ScenarioError(f"{file}: not valid TOML: {problem}.") from None
    replaced = {"seed": seed, "events": events, "batches": batches}
    tree |= {name: value for name, value in replaced.items() if value is not None}
    return _validated(tree, Origin(file, key_lines(text)))


def _validated(tree: dict[str, Any], origin: Origin) -> Scenario:
    if "file" in tree:
        raise ScenarioError(f'{origin.where(("file",))}: scenario has no key "file".')
    try:
        return Scenario.model_validate({**tree, "file": origin.file})
    except ValidationError as error:
        sentences = [sentence_for(Scenario, detail, origin) for detail in error.errors(include_url=False)]
        if len(sentences) == 1:
            raise ScenarioError(sentences[0][0], required=sentences[0][1]) from None
        raise ScenarioError("\n".join("\n".join(part for part in sentence if part) for sentence in sentences)) from None
