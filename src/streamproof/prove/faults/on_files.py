"""Faults on jobs that read and write files: they need more than a disk to recover from."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.phases import Phase, Side, StepName
from streamproof.errors import StreamproofError
from streamproof.prove.faults.armed import ArmedRun
from streamproof.prove.faults.planned import ALONE, BESIDE
from streamproof.prove.record.live import Action

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult


class Unmet(StrEnum):
    """What a job does not do under a fault."""

    NOT_STOPPED = "not-stopped-cleanly"
    FILES_CHANGED = "files-changed"
    NOT_REPLAYED = "not-replayed"
    OTHER_INCARNATION = "other-incarnation"


class NotMet(Exception):
    """What must hold under a fault and does not: as a code and in a sentence, with what was expected and what was found."""

    def __init__(self, code: Unmet, what: str, expected: str, found: str) -> None:
        super().__init__(what)
        self.code, self.what, self.expected, self.found = code, what, expected, found


@dataclass
class Case:
    """What a fault finds: the disk of its step, or none where it is live, and the means to start the job.

    Parameters
    ----------
    batch
        That of the step.
    checkpoint
        Of the step's query, in the scenario's folder.
    checkpoints, outputs
        The folders of all queries and of all outputs.
    output
        Where the step is a publication, the folder of its output.
    inputs
        The files that the batch of the step reads, by their base names where they lie.
    newest_us
        The newest event time among the records of that batch that pass, microseconds; None if there is none.
    max_future_us
        How far in the future an event may be; None if that is not asked.
    start
        Runs the job to its end, or until it stops; takes `settings`, which differ from those that it was recorded with, those that a
        session has `from_outside`, `changed` for a job that keeps other state, and `replay_last`.
    armed
        A context in which the job runs from the beginning and meets, at the step, what the fault arms; `start` goes on after it.
    fired
        Whether the fault was there.
    """

    batch: int
    checkpoint: Path
    checkpoints: Path
    outputs: Path
    output: Path
    inputs: Callable[[], Sequence[Path]]
    newest_us: Callable[[], int | None]
    max_future_us: int | None
    start: Callable[..., "ChildResult"]
    armed: Callable[[], AbstractContextManager[ArmedRun]]
    fired: bool

    def published(self) -> Mapping[str, bytes]:
        """What readers of the outputs see, file by file."""
        return {name: content for name, content in self.written().items() if "/_staging/" not in f"/{name}"}

    def written(self) -> Mapping[str, bytes]:
        """All that lies at the outputs, file by file."""
        files = sorted(path for path in self.outputs.rglob("*") if path.is_file())
        return {str(path.relative_to(self.outputs)): path.read_bytes() for path in files}

    def require_stopped_by(self, error: type[StreamproofError], result: "ChildResult") -> None:
        """NotMet unless this is what the job has stopped with."""
        if result.code != error.code:
            found = f"{result.code}: {result.message}" if result.code else "it ran to its end"
            expected = f"it stops with {error.__name__} ({error.code}), and says what to do"
            raise NotMet(Unmet.NOT_STOPPED, "the job did not stop cleanly", expected, found)


def require_same(what: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """NotMet unless the same files hold the same; `what` says what has happened otherwise."""
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        raise NotMet(Unmet.FILES_CHANGED, what, "the same files with the same content", f"others: {', '.join(changed[:5])}")


@dataclass(frozen=True)
class FileFault:
    """One fault.

    Parameters
    ----------
    name
        What its scenario's id has beside the step: "input-vanished".
    words
        What happens, as a sentence without its end that goes on with "after" or "before" a step.
    at
        The step where it is tried, of those of one query; None if there is none.
    carry_out
        Does it, and the remedy if the job stops as it must; gives how the job came to its end. Raises NotMet.
    arms
        What happens at the step while the job runs, for a fault that needs a run from the beginning and no disk; it is done in `Case.armed`.
    alone
        Whether no other scenario may run meanwhile: it changes what they share.
    of_our_sinks
        Whether it is about what our own sinks have published: a sink that the job brings need not keep its batches as they do.
    """

    name: str
    words: str
    at: Callable[[Sequence[StepName]], StepName | None]
    carry_out: Callable[[Case], "ChildResult"]
    arms: Action | None = None
    alone: bool = False
    of_our_sinks: bool = False

    @property
    def live(self) -> bool:
        """Whether it needs a run from the beginning, and no disk."""
        return self.arms is not None

    @property
    def lane(self) -> str:
        return ALONE if self.alone else BESIDE

    @property
    def line(self) -> str:
        return ""

    def id_at(self, step: StepName) -> str:
        return f"{step}+{self.name}{'+live' if self.live else ''}"


def middle_batch(steps: Sequence[StepName]) -> int | None:
    """The middle one of the batches that read files."""
    batches = sorted({step.batch for step in steps if step.phase is Phase.PLAN and step.kind.startswith("source")})
    return batches[len(batches) // 2] if batches else None


def after(phase: Phase, kind: str) -> Callable[[Sequence[StepName]], StepName | None]:
    """The last step of a kind in the middle batch, after it."""

    def at(steps: Sequence[StepName]) -> StepName | None:
        middle = middle_batch(steps)
        found = [
            step
            for step in steps
            if (step.batch, step.phase, step.side) == (middle, phase, Side.AFTER) and step.kind.partition(".")[0] == kind
        ]
        return found[-1] if found else None

    return at
