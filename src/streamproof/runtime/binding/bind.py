"""From a configuration to a job that can run: the user's function, its outputs, and where each of them goes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof.config import output_of
from streamproof.config.sinks import FILES
from streamproof.connectors import services
from streamproof.core.sides import Side
from streamproof.errors import ConfigurationError
from streamproof.runtime.binding.bound import BoundJob, OutputPlace
from streamproof.runtime.binding.loading import load_job
from streamproof.runtime.binding.real_time import require_possible
from streamproof.runtime.binding.sinks import cannot_keep
from streamproof.runtime.spark.settings import refuse_settings

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.stream.emissions import Emission
    from streamproof.stream.node import Node


def bind(config: "JobConfig", *, new_output: str | None = None) -> BoundJob:
    """Imports the job afresh, calls it, and gives each output its place.

    A Spark session must be running: aggregates are PySpark columns.

    Parameters
    ----------
    new_output
        Where the first main output goes instead, and the others beside it (R1).

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
    sides: dict[str, Side | None] = dict.fromkeys(outputs.main)
    for query in outputs.main:
        sides.update({name: side for side, name in bound.sides_of(query).items()})
    for name in config.sink:
        if output_of(name) not in sides:
            raise _unknown_output(config, name, list(sides))
    if config.trigger.real_time:
        require_possible(config, outputs)
    _require_union_for_idle(config, list(bound.outputs.main.values()))
    for query, root in bound.outputs.main.items():
        _require_calls_apart(config, query, root.emission)
    for name, sink in config.sink.items():
        if sink.service is not None and not services.keeps_claim(sink.service):
            raise cannot_keep(config, name, sink.connector, services.guarantee(sink.service))
    for output, side in sides.items():
        bound.places.update({name: _place(config, name, side) for name in config.sinks_of(output) or (output,)})
    _require_places_apart(config, bound.places)
    return bound if new_output is None else _with_new_output(bound, new_output)


def _require_union_for_idle(config: "JobConfig", roots: "Sequence[Node]") -> None:
    """ConfigurationError for an `idle_after` that would do nothing."""
    united = {source for root in roots if root.stateful and len(root.sources) > 1 for source in root.sources}
    for name, source in config.source.items():
        if source.event_time is not None and source.event_time.idle_after is not None and name not in united:
            raise ConfigurationError(
                f"{config.where('source', name, 'event_time')}: [source.{name}] event_time has idle_after, and {name} is in no union.",
                required="It says when a quiet source no longer holds the watermark of a union. A source by itself moves its watermark by its own events.",
                remedy="Take it out.",
            )


def _require_calls_apart(config: "JobConfig", query: str, emission: "Emission") -> None:
    """ConfigurationError for calls whose key is the same for several rows of a window or a key: only the first would be made."""
    for name in config.sinks_of(query) if emission.apart is not None else ():
        sink = config.sink[name]
        if sink.is_one_effect_a_key and emission.apart not in getattr(sink, "key", ()):
            raise ConfigurationError(
                f'{config.where("sink", name, "key")}: [sink.{name}] key lacks "{emission.apart}", which tells the rows of {query} apart.',
                required=f"{emission.gives_several}, and calls with one key are one call: what comes after the first would never be sent.",
                remedy=f'Add "{emission.apart}" to the key; {emission.or_else}.',
            )


def _with_new_output(bound: BoundJob, path: str) -> BoundJob:
    """The same job writing its first main output to another path, the others beside it."""
    first, *_ = bound.targets(next(iter(bound.outputs.main)))
    places = {}
    for name, place in bound.places.items():
        if place.service is not None:
            raise ConfigurationError(
                f"--new-output is for folders, and {name} goes to {place.where}.",
                remedy=f"Bind [sink.{name}] to another table, topic or prefix.",
            )
        target = bound.config.resolve(path) if name == first else f"{bound.config.resolve(path)}-{name}"
        places[name] = replace(place, path=target)
    return replace(bound, places=places)


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


def _place(config: "JobConfig", name: str, side: Side | None) -> OutputPlace:
    sink = config.sink.get(name)
    beside = f"{config.resolve(config.checkpoint).rstrip('/')}-"
    home = f"{beside}{output_of(name)}" if output_of(name) != name else ""
    folder, service = (sink.folder, sink.service) if sink is not None else (None, None)
    if folder is not None:
        staged = "parquet" if home else folder.format
        return OutputPlace(
            name, side, config.resolve(folder.path), staged, folder.connector, bound=True, home=home, published=folder.format
        )
    if service is not None:
        service = service.resolved(config.resolve)
        return OutputPlace(name, side, f"{beside}{name}", "parquet", service.connector, bound=True, service=service, home=home)
    if side is None:
        raise ConfigurationError(
            f"{config.file}: the job's output {name} has no sink.",
            remedy=f'Add:\n[sink.{name}]\nconnector = "files"\npath = "out/{name}"\nformat = "parquet"',
        )
    # Beside the checkpoint, and named by it: jobs whose checkpoints are in one folder stay apart.
    return OutputPlace(name, side, f"{config.resolve(config.checkpoint).rstrip('/')}-{name}", "json", FILES, bound=False)


def _unknown_output(config: "JobConfig", name: str, known: list[str]) -> ConfigurationError:
    import difflib

    output = output_of(name)
    near = difflib.get_close_matches(output, known, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return ConfigurationError(
        f'{config.file}: [sink.{name}] is bound, and the job has no output "{output}".{hint}',
        required=f"The job's outputs are {', '.join(known)}.",
    )
