"""A recorded run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.phases import Side, StepName
from streamproof.prove.record import journal as journals
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.steps import Timeline


@dataclass(frozen=True)
class Recording:
    """A recorded run: its folder of blobs and journal, its steps, and those that were taken in services."""

    name: str
    folder: Path
    binding: ScenarioBinding
    steps: Timeline
    operators: Mapping[str, Mapping[str, str]]
    seconds: float
    settings: Mapping[str, str]
    announced: Sequence[StepName] = ()
    of_tasks: frozenset[StepName] = frozenset()

    @property
    def blobs(self) -> Path:
        return self.folder / journals.BLOBS

    @property
    def points(self) -> tuple[str, ...]:
        """The crash points: before and after each step, in their order."""
        return tuple(f"{step}:{side}" for step in self.steps.steps for side in Side)
