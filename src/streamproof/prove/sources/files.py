"""Folders of files in a proof: one for the whole proof, whose files come batch by batch by their age."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from streamproof.config.columns import sized_columns_of
from streamproof.prove.scenario.event_lines import header_of, in_lines
from streamproof.prove.scenario.generate import Event
from streamproof.prove.scenario.schedule import write_events
from streamproof.prove.sources.source import ProvedSource, WrittenSource

if TYPE_CHECKING:
    from streamproof.config import FilesSource
    from streamproof.prove.record.binding import ScenarioBinding
    from streamproof.prove.scenario.scenario import Scenario
    from streamproof.prove.services import Services


@dataclass(frozen=True)
class FilesInProof(ProvedSource):
    """A folder of files."""

    config: "FilesSource"
    takes_exactly: ClassVar[bool] = True

    def place(self, folder: Path, services: "Services", *, trace: bool) -> str:
        return str(folder / ("events" if trace else "events-plain") / self.name)

    def write(
        self, made: Sequence[Event], scenario: "Scenario", folder: Path, services: "Services", *, several: bool
    ) -> WrittenSource:
        columns = sized_columns_of(self.config.schema_ddl) if self.config.schema_ddl else {}
        events = in_lines(made, self.config, list(columns), trace=True)
        prefix = f"{self.name}-" if several else ""
        traces = self._to_files(
            events, columns, self.place(folder, services, trace=True), prefix, scenario.files_per_batch, trace=True
        )
        plain = in_lines(made, self.config, list(columns), trace=False)
        self._to_files(plain, columns, self.place(folder, services, trace=False), prefix, scenario.files_per_batch, trace=False)
        return WrittenSource(events, traces)

    def at(self, binding: "ScenarioBinding") -> "FilesSource":
        return self.config.model_copy(update={"path": binding.data[self.name], "files_per_batch": binding.files_per_batch})

    def _to_files(
        self, events: Sequence[Event], columns: Mapping[str, str], folder: str, prefix: str, partitions: int, *, trace: bool
    ) -> dict[str, list[str]]:
        def header(partition: int) -> bytes | None:
            return header_of(self.config, list(columns), partition, trace=trace)

        return write_events(
            events,
            Path(folder),
            self.config.format,
            schema_columns=columns,
            header=header,
            trace=trace,
            prefix=prefix,
            partitions=partitions,
        )
