"""The sites of faults in a job of ours: what is bound where in a scenario, what its ledgers say, and what a batch of it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.config import JobConfig, SinkConfig, SourceConfig
from streamproof.core.durations import micros_of
from streamproof.core.phases import StepName
from streamproof.prove.artifacts.reading import read_history
from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.record.binding import OUT, ScenarioBinding
from streamproof.prove.record.paths import Layout
from streamproof.prove.services import Services
from streamproof.prove.services.kinds import reader
from streamproof.prove.subjects.job.binding import layout_of, query_layouts, services_at, sources_at
from streamproof.runtime.binding.bound import BoundJob

if TYPE_CHECKING:
    from streamproof.lab.service import Service
    from streamproof.lab.toxiproxy import Proxy


def _query_of(bound: BoundJob, step: StepName) -> str:
    """The query of a step, whose name leaves it out where there is one only."""
    return step.query or next(iter(bound.outputs.main))


@dataclass(frozen=True)
class OnServices:
    """What faults on services need (`faults.injection_on_services.ServiceSite`)."""

    config: JobConfig
    bound: BoundJob
    services: Services

    @property
    def running(self) -> Mapping[str, "Service"]:
        return self.services.running

    @property
    def lines(self) -> Mapping[str, Sequence["Proxy"]]:
        return self.services.lines

    def cluster(self) -> str:
        return self.services.spark()

    def query_of(self, step: StepName) -> str:
        return _query_of(self.bound, step)

    def bound_to(self, on: str, binding: ScenarioBinding) -> SourceConfig | SinkConfig | None:
        places: dict[str, SourceConfig | SinkConfig] = {
            **sources_at(binding, self.config),
            **services_at(binding, self.config),
        }
        return places.get(on)

    def published(self, on: str, binding: ScenarioBinding) -> set[int]:
        sink = services_at(replace(binding, urls=self.services.urls()), self.config)[on]
        return {entry.batch for entry in reader(sink).ledger(sink, binding.folder / OUT / on)}


@dataclass(frozen=True)
class OnFiles:
    """What faults on files need (`faults.injection_on_files.FileSite`).

    Parameters
    ----------
    arrived
        By query and trace where the row-wise calls of the user's send each event; asked when it is needed.
    traces_of_file
        By file the traces of the events in it.
    """

    config: JobConfig
    bound: BoundJob
    arrived: Callable[[str], Mapping[str, Arrived]]
    traces_of_file: Mapping[str, Sequence[str]]

    @property
    def layout(self) -> Layout:
        return layout_of(self.bound)

    def query_of(self, step: StepName) -> str:
        return _query_of(self.bound, step)

    def max_future_us(self, step: StepName) -> int | None:
        time = self.config.source[self._source(step)].event_time
        return micros_of(time.max_future) if time is not None and time.max_future is not None else None

    def inputs(self, step: StepName, binding: ScenarioBinding) -> list[Path]:
        folder = Path(binding.data[self._source(step)])
        return [folder / name for name in self._files(step, binding.folder)]

    def newest_us(self, step: StepName, binding: ScenarioBinding) -> int | None:
        """Those that are lost or rejected anyway do not count."""
        arrived = self.arrived(self.query_of(step))
        traces = (trace for name in self._files(step, binding.folder) for trace in self.traces_of_file.get(name, ()))
        passed = (arrived[trace] for trace in traces if trace in arrived)
        return max((one.time_us for one in passed if one.fate == "passed" and one.time_us is not None), default=None)

    def _source(self, step: StepName) -> str:
        """The source whose records a fault is about; of a union the first."""
        return self.bound.outputs.main[self.query_of(step)].sources[0]

    def _files(self, step: StepName, folder: Path) -> tuple[str, ...]:
        query = self.query_of(step)
        layout = next(layout for layout in query_layouts(self.bound, folder) if layout.query == query)
        return next(read.files for read in read_history(layout).batches if read.batch == step.batch)
