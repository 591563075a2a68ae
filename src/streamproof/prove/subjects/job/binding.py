"""A job of ours bound to a scenario: every source and sink of its configuration is replaced by a folder or a service of the proof."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.config import ServiceSink, output_of
from streamproof.prove.artifacts.reading import OutputLayout, QueryLayout
from streamproof.prove.process.environment import in_environment
from streamproof.prove.record.binding import CHECKPOINT, OUT, ScenarioBinding
from streamproof.prove.record.paths import Layout
from streamproof.prove.services.places import sink_at
from streamproof.prove.sources import proved
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.binding.bound import BoundJob

if TYPE_CHECKING:
    from streamproof.config import JobConfig, SourceConfig


def bind_job(binding: ScenarioBinding, config: "JobConfig") -> BoundJob:
    """The job with all its sources and outputs there; outputs that its configuration does not bind lie among the others."""
    update = {
        "checkpoint": f"{binding.base}/{CHECKPOINT}",
        "source": sources_at(binding, config),
        "sink": {name: sink_at(name, sink, binding.folder.name, binding.urls) for name, sink in config.sink.items()},
        "trigger": type(config.trigger)(),
    }
    with in_environment(binding.environment):
        bound = bind(config.model_copy(update=update))
    out = f"{binding.base}/{OUT}"
    places = {
        name: replace(place, path=f"{out}/{name}", home=f"{out}/{output_of(name)}" if place.home else "")
        for name, place in bound.places.items()
    }
    return replace(bound, places=places)


def sources_at(binding: ScenarioBinding, config: "JobConfig") -> dict[str, "SourceConfig"]:
    """The sources of a job, as they are bound there."""
    return {name: proved(name, source).at(binding) for name, source in config.source.items()}


def services_at(binding: ScenarioBinding, config: "JobConfig") -> dict[str, ServiceSink]:
    """The outputs of a job that are services, as they are bound there."""
    bound = {name: sink_at(name, sink, binding.folder.name, binding.urls) for name, sink in config.sink.items()}
    return {name: sink.service for name, sink in bound.items() if sink.service is not None}


def layout_of(bound: BoundJob) -> Layout:
    """The paths of a scenario's folder, for the step table."""
    owners: dict[str, str] = {}
    for query in bound.outputs.main:
        owners[query] = query
        owners.update(dict.fromkeys(bound.sides_of(query).values(), query))
    return Layout(
        checkpoints={query: f"{CHECKPOINT}/{query}" for query in bound.outputs.main},
        outputs={name: f"{OUT}/{name}" for name in (*owners, *bound.places)},
        owners={**owners, **{name: owners[output_of(name)] for name in bound.places}},
        copies=frozenset(name for name, place in bound.places.items() if place.home),
    )


def query_layouts(bound: BoundJob, folder: Path) -> list[QueryLayout]:
    """Where each query of a scenario lies on local disk."""
    found = []
    for query, root in bound.outputs.main.items():
        declared = [bound.config.source[name].event_time for name in root.sources]
        times = tuple(dict.fromkeys(time.column for time in declared if time is not None))
        kinds = {query: "main", **{name: str(side) for side, name in bound.sides_of(query).items()}}
        outputs = [
            OutputLayout(name, kind, folder / OUT / name, times, folder / OUT / output)
            for output, kind in kinds.items()
            for name in bound.targets(output)
        ]
        found.append(QueryLayout(query, folder / CHECKPOINT / query, tuple(outputs), folder / f"state-{query}.json"))
    return found
