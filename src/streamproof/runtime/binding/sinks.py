"""The sinks of a job: from where an output goes to what writes there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.connectors import services
from streamproof.connectors.files.copies import CopySink
from streamproof.connectors.files.sink import FileSink
from streamproof.connectors.sink import Sink, SinkPlace
from streamproof.connectors.steps import UNWATCHED, Steps
from streamproof.core.sides import Side
from streamproof.errors import ConfigurationError
from streamproof.runtime.binding.bound import BoundQuery, OutputPlace
from streamproof.runtime.binding.loading import load_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage
    from streamproof.config import JobConfig


@dataclass(frozen=True)
class QuerySinks:
    """Where a query writes.

    Parameters
    ----------
    main
        The name of its main output.
    by_name
        The sinks of all its outputs.
    targets
        By output the names of its sinks: its own, or several.
    sides
        Its side outputs, kind to name.
    """

    main: str
    by_name: Mapping[str, Sink]
    targets: Mapping[str, Sequence[str]]
    sides: Mapping[Side, str]

    def first(self, output: str) -> Sink:
        """The first sink of an output."""
        return self.by_name[self.targets[output][0]]

    def place(self, output: str) -> SinkPlace:
        """Where the rows of an output are staged: several sinks of one have it in common."""
        return self.first(output).place


def sinks_of(query: BoundQuery, spark: "SparkSession", storage: "Storage", incarnation: str, steps: Steps) -> QuerySinks:
    """The sinks of a query's outputs, for the rows of an incarnation."""
    names = [name for names in query.targets.values() for name in names]
    by_name = {
        name: sink_of(query.config, query.places[name], spark, storage, incarnation=incarnation, steps=steps) for name in names
    }
    return QuerySinks(query.name, by_name, query.targets, query.sides)


def sink_of(
    config: "JobConfig",
    place: OutputPlace,
    spark: "SparkSession",
    storage: "Storage",
    *,
    incarnation: str = "",
    steps: Steps = UNWATCHED,
) -> Sink:
    """The sink of an output, for the rows of an incarnation; a claim that it cannot keep is a ConfigurationError (K8)."""
    at = SinkPlace(
        spark,
        storage,
        place.name,
        place.path,
        place.format,
        place.connector,
        place.where,
        config.name,
        incarnation,
        steps,
        place.home,
    )
    if place.service is not None:
        made = services.sink(place.service, at)
    elif place.home:
        made = CopySink(at, place.published)
    elif place.is_folder:
        made = FileSink(at)
    else:
        made = _custom_sink(config, place.name, place.connector)(at)
    bound = config.sink.get(place.name)
    if bound is not None and bound.guarantee == "exactly-once" and not made.exactly_once:
        raise cannot_keep(config, place.name, place.connector, made.guarantee)
    return made


def cannot_keep(config: "JobConfig", output: str, connector: str, keeps: str) -> ConfigurationError:
    """The error for a sink that claims what its connector does not keep (K8)."""
    return ConfigurationError(
        f'{config.where("sink", output, "guarantee")}: [sink.{output}] guarantee = "exactly-once" cannot be kept by {connector}.',
        required=f"What it keeps: {keeps}.",
        remedy='Take the claim out, write guarantee = "at-least-once", or bind the output to a sink that publishes in transactions.',
    )


def _custom_sink(config: "JobConfig", output: str, connector: str) -> type[Sink]:
    file_name, _, name = connector.partition(":")
    found: Any = getattr(load_module(config.root / file_name), name, None)
    if not (isinstance(found, type) and issubclass(found, Sink)):
        raise ConfigurationError(
            f"[sink.{output}] connector = {connector!r}: {name} is no subclass of streamproof.connectors.Sink."
        )
    return found
