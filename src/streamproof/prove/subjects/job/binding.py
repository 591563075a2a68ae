"""The proof's own bindings: the same job, with every source and sink replaced by a folder of the proof."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.config import FilesSource, ServiceSink, output_of
from streamproof.prove.artifacts.reading import OutputLayout, QueryLayout
from streamproof.prove.record.paths import Layout
from streamproof.prove.services.places import sink_at, source_at
from streamproof.prove.services.stores import in_environment
from streamproof.runtime.binding import bind
from streamproof.runtime.bound import BoundJob
from streamproof.runtime.session import LOCAL_DISK

if TYPE_CHECKING:
    from streamproof.config import JobConfig, SourceConfig

CHECKPOINT = "checkpoint"
OUT = "out"
TYPES = "types.json"
"""In a scenario's folder: by output the types of its columns, for services that keep none."""

SPARK: Mapping[str, str] = {
    "spark.sql.shuffle.partitions": "2",
    "spark.master": "local[2]",
    "spark.sql.streaming.stateStore.maintenanceInterval": "3600s",
    **LOCAL_DISK,
    "spark.hadoop.fs.sp-record.impl": "io.streamproof.proof.RecordingFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.sp-record.impl": "io.streamproof.proof.RecordingFs",
    "spark.python.worker.reuse": "false",
    "spark.python.daemon.module": "streamproof.prove.process.worker_daemon",
    "spark.driver.memory": "3g",
    "spark.cleaner.referenceTracking.blocking": "false",
    "spark.sql.ui.explainMode": "simple",  # nobody looks at the plans of hundreds of recoveries
    # PySpark looks for its caller and for IPython at every column it makes; a proof makes the same ones hundreds of times.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A page of memory is zeroed for every aggregation of every task, and what is sent goes no further than this process.
    "spark.buffer.pageSize": "1m",
    "spark.broadcast.compress": "false",
    "spark.shuffle.compress": "false",
}
"""Settings of the proof's Spark: two state partitions, fresh guarded Python workers, and small pages for small batches."""


@dataclass(frozen=True)
class Setting:
    """Where one scenario lies.

    Parameters
    ----------
    base
        The URI that the job is bound to.
    folder
        The same place on local disk.
    data
        By source, the folder of its files, or its topic.
    files_per_batch, records_per_batch
        How much of folders and topics is one batch; None takes what there is.
    urls
        Where the services of the proof are, by their names.
    environment
        Variables that the job finds when it is bound: where the stores are that it keeps by itself.
    """

    base: str
    folder: Path
    data: Mapping[str, str]
    files_per_batch: int | None
    records_per_batch: int | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def bind(self, config: "JobConfig") -> BoundJob:
        """The job with all its sources and outputs here; outputs that its configuration does not bind lie among the others."""
        update = {
            "checkpoint": f"{self.base}/{CHECKPOINT}",
            "source": self.sources(config),
            "sink": {name: sink_at(name, sink, self.folder.name, self.urls) for name, sink in config.sink.items()},
            "trigger": type(config.trigger)(),
        }
        with in_environment(self.environment):
            bound = bind(config.model_copy(update=update))
        out = f"{self.base}/{OUT}"
        places = {
            name: replace(place, path=f"{out}/{name}", home=f"{out}/{output_of(name)}" if place.home else "")
            for name, place in bound.places.items()
        }
        return replace(bound, places=places)

    def _source(self, name: str, source: "SourceConfig") -> "SourceConfig":
        if isinstance(source, FilesSource):
            return source.model_copy(update={"path": self.data[name], "files_per_batch": self.files_per_batch})
        return source_at(source, self.data[name], self.urls, self.records_per_batch)

    def in_one_batch(self) -> "Setting":
        """The same with a job that takes what there is."""
        return replace(self, files_per_batch=None, records_per_batch=None)

    def sources(self, config: "JobConfig") -> dict[str, "SourceConfig"]:
        """The sources of a job, as they are bound here."""
        return {name: self._source(name, source) for name, source in config.source.items()}

    def services(self, config: "JobConfig") -> dict[str, ServiceSink]:
        """The outputs of a job that are services, as they are bound here."""
        bound = {name: sink_at(name, sink, self.folder.name, self.urls) for name, sink in config.sink.items()}
        return {name: sink for name, sink in bound.items() if isinstance(sink, ServiceSink)}


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
    for query, recipe in bound.outputs.main.items():
        declared = bound.config.source[recipe.source].event_time
        times = (declared.column,) if declared else ()
        kinds = {query: "main", **{name: str(kind) for kind, name in bound.sides_of(query).items()}}
        outputs = [
            OutputLayout(name, kind, folder / OUT / name, times, folder / OUT / output)  # type: ignore[arg-type]
            for output, kind in kinds.items()
            for name in bound.targets(output)
        ]
        found.append(QueryLayout(query, folder / CHECKPOINT / query, tuple(outputs), folder / f"state-{query}.json"))
    return found
