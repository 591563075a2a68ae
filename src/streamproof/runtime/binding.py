"""From a configuration to a job that can run: the user's function, its outputs, and where each of them goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.config import FilesSink, HttpSink, ServiceSink, output_of
from streamproof.connectors import services
from streamproof.connectors.files.copies import CopySink
from streamproof.connectors.files.sink import FileSink
from streamproof.connectors.sink import Sink, SinkPlace
from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.errors import ConfigurationError
from streamproof.runtime.loading import load_job, load_module
from streamproof.runtime.settings import refuse_settings
from streamproof.stream.outputs import Outputs, SideKind
from streamproof.stream.recipe import Recipe, Require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage
    from streamproof.config import JobConfig


@dataclass(frozen=True)
class OutputPlace:
    """Where an output goes, or one of its several sinks: "exposure", "exposure.postgres".

    Parameters
    ----------
    kind
        "main", "late" or "rejected".
    path
        Where its rows are staged; for files where they are published too.
    format
        How they are staged.
    connector
        As configured.
    bound
        Whether the configuration has a sink for it.
    service
        What a sink of a service is configured with; None for files.
    home
        Where rows are staged that several sinks of an output have in common; empty where the sink has its output to itself.
    published
        The format of published files, where it is another than that of staged ones.
    """

    name: str
    kind: str
    path: str
    format: str
    connector: str
    bound: bool
    service: ServiceSink | None = None
    home: str = ""
    published: str = ""

    @property
    def where(self) -> str:
        """What it is called: a path, or a table, a topic."""
        return self.path if self.service is None else services.where(self.service)

    @property
    def shown_format(self) -> str:
        """How readers find the rows: the format of files, the name of a service."""
        return (self.published or self.format) if self.service is None else self.connector


@dataclass(frozen=True)
class BoundJob:
    """A job with its configuration; every output has a place."""

    config: "JobConfig"
    outputs: Outputs
    places: dict[str, OutputPlace]

    @property
    def name(self) -> str:
        return self.config.name

    def checkpoint(self, query: str) -> str:
        return f"{self.config.resolve(self.config.checkpoint)}/{query}"

    def targets(self, output: str) -> tuple[str, ...]:
        """The names of an output's sinks: its own, or several such as "exposure.postgres"."""
        return tuple(name for name in self.places if output_of(name) == output)

    def sink(
        self, output: str, spark: "SparkSession", storage: "Storage", *, incarnation: str = "", steps: Steps = UNWATCHED
    ) -> Sink:
        """The sink of an output, for the rows of an incarnation; a claim that it cannot keep is a ConfigurationError (K8)."""
        place = self.places[output]
        at = SinkPlace(
            spark,
            storage,
            output,
            place.path,
            place.format,
            place.connector,
            place.where,
            self.name,
            incarnation,
            steps,
            place.home,
        )
        if place.service is not None:
            made = services.sink(place.service, at)
        elif place.home:
            made = CopySink(at, place.published)
        elif place.connector == "files":
            made = FileSink(at)
        else:
            made = _custom_sink(self.config, output, place.connector)(at)
        bound = self.config.sink.get(output)
        if bound is not None and bound.guarantee == "exactly-once" and not made.exactly_once:
            raise _claim(self.config, output, place.connector, made.guarantee)
        return made

    def sides_of(self, query: str) -> dict[SideKind, str]:
        """The side outputs of a query, kind to name; those the job does not return go to a default place."""
        sides = self.outputs.sides_of(query)
        recipe = self.outputs.main[query]
        only = len(self.outputs.main) == 1
        if SideKind.LATE not in sides and recipe.stateful:
            sides[SideKind.LATE] = "late" if only and "late" not in self.outputs.main else f"{query}_late"
        if SideKind.REJECTED not in sides and not self._rejected_before(query):
            taken = {*self.outputs.main, *self.outputs.side}
            first = query == next(iter(self.outputs.main))
            sides[SideKind.REJECTED] = "rejected" if first and "rejected" not in taken else f"{query}_rejected"
        return sides

    def _rejected_before(self, query: str) -> bool:
        """Whether an earlier query delivers everything that this one rejects: the same source, and the same requirements (R14)."""
        recipe = self.outputs.main[query]
        earlier = list(self.outputs.main)[: list(self.outputs.main).index(query)]
        return any(_rejects_all_of(self.outputs.main[other], recipe) for other in earlier)


def bind(config: "JobConfig") -> BoundJob:
    """Imports the job afresh, calls it, and gives each output its place.

    A Spark session must be running: aggregates are PySpark columns.

    Raises
    ------
    ConfigurationError
        If the entry cannot be imported, a sink is configured for an output the job does not have, an output has no sink, or two
        outputs have one folder.
    """
    refuse_settings(config.spark, str(config.file))
    job = load_job(config)
    outputs = job.outputs(config.source)
    bound = BoundJob(config, outputs, {})
    kinds: dict[str, str] = dict.fromkeys(outputs.main, "main")
    for query in outputs.main:
        kinds.update({name: str(kind) for kind, name in bound.sides_of(query).items()})
    for name in config.sink:
        if output_of(name) not in kinds:
            raise _unknown_output(config, name, list(kinds))
    for name, sink in config.sink.items():
        if isinstance(sink, ServiceSink) and not services.keeps_claim(sink):
            raise _claim(config, name, sink.connector, services.guarantee(sink))
    for output, kind in kinds.items():
        bound.places.update({name: _place(config, name, kind) for name in config.sinks_of(output) or (output,)})
    _require_places_apart(config, bound.places)
    return bound


def _rejects_all_of(other: Recipe, recipe: Recipe) -> bool:
    """Whether every record that `recipe` rejects is rejected by `other`, by the same steps."""
    requirements = [number for number, step in enumerate(recipe.steps) if isinstance(step, Require)]
    shared = recipe.steps[: requirements[-1] + 1] if requirements else ()
    same = len(shared) <= len(other.steps) and all(mine is theirs for mine, theirs in zip(shared, other.steps, strict=False))
    return other.source == recipe.source and same


def _require_places_apart(config: "JobConfig", places: dict[str, OutputPlace]) -> None:
    """ConfigurationError if two outputs have one folder: each batch has one directory there, and one ledger."""
    by_path: dict[str, str] = {}
    for name, place in places.items():
        other = by_path.setdefault(place.where.rstrip("/"), name)
        if other != name:
            raise ConfigurationError(
                f"{config.file}: the outputs {other} and {name} both go to {place.where}.",
                required=f"Every output has a {'folder' if place.service is None else 'table or topic'} of its own.",
                remedy=f"Give [sink.{name}] another.",
            )


def _custom_sink(config: "JobConfig", output: str, connector: str) -> type[Sink]:
    file_name, _, name = connector.partition(":")
    found: Any = getattr(load_module(config.root / file_name), name, None)
    if not (isinstance(found, type) and issubclass(found, Sink)):
        raise ConfigurationError(
            f"[sink.{output}] connector = {connector!r}: {name} is no subclass of streamproof.connectors.Sink."
        )
    return found


def _claim(config: "JobConfig", output: str, connector: str, keeps: str) -> ConfigurationError:
    return ConfigurationError(
        f'{config.where("sink", output, "guarantee")}: [sink.{output}] guarantee = "exactly-once" cannot be kept by {connector}.',
        required=f"What it keeps: {keeps}.",
        remedy='Take the claim out, write guarantee = "at-least-once", or bind the output to a sink that publishes in transactions.',
    )


def _place(config: "JobConfig", name: str, kind: str) -> OutputPlace:
    sink = config.sink.get(name)
    beside = f"{config.resolve(config.checkpoint).rstrip('/')}-"
    home = f"{beside}{output_of(name)}" if output_of(name) != name else ""
    if isinstance(sink, FilesSink):
        staged = "parquet" if home else sink.format
        return OutputPlace(
            name, kind, config.resolve(sink.path), staged, sink.connector, bound=True, home=home, published=sink.format
        )
    if isinstance(sink, ServiceSink):
        if isinstance(sink, HttpSink) and sink.ledger is not None:
            sink = sink.model_copy(update={"ledger": config.resolve(sink.ledger)})
        return OutputPlace(name, kind, f"{beside}{name}", "parquet", sink.connector, bound=True, service=sink, home=home)
    if kind == "main":
        raise ConfigurationError(
            f"{config.file}: the job's output {name} has no sink.",
            remedy=f'Add:\n[sink.{name}]\nconnector = "files"\npath = "out/{name}"\nformat = "parquet"',
        )
    # Beside the checkpoint, and named by it: jobs whose checkpoints are in one folder stay apart.
    return OutputPlace(name, kind, f"{config.resolve(config.checkpoint).rstrip('/')}-{name}", "json", "files", bound=False)


def _unknown_output(config: "JobConfig", name: str, known: list[str]) -> ConfigurationError:
    import difflib

    output = output_of(name)
    near = difflib.get_close_matches(output, known, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return ConfigurationError(
        f'{config.file}: [sink.{name}] is bound, and the job has no output "{output}".{hint}',
        required=f"The job's outputs are {', '.join(known)}.",
    )
