"""What is wrong with a checkpoint: a finding, and what is known while one is looked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.whole import damage_of


class Harm(StrEnum):
    """What is wrong with a file."""

    TORN = "torn"
    """It is cut short or damaged."""
    MISSING = "missing"
    """It has to be there."""
    SWAPPED = "swapped"
    """It is whole, and belongs to another batch of this checkpoint, or the file beside it does."""
    FOREIGN = "foreign"
    """It is whole, and of another checkpoint or of another attempt."""
    GAP = "gap"
    """A batch between two others is not there."""


@dataclass(frozen=True)
class Problem:
    """One finding.

    Parameters
    ----------
    path
        The file, relative to the checkpoint.
    says
        What was found, as a sentence.
    means
        What it means for the job, as a sentence.
    batches
        The batches that cannot be gone back to because of it; None for all.
    """

    harm: Harm
    path: str
    says: str
    means: str
    batches: frozenset[int] | None


@dataclass
class Look:
    """What was found so far in a checkpoint, and which files were read; `say` is told how far it is."""

    found: Inspection
    say: Callable[[str], None]
    problems: list[Problem] = field(default_factory=list)
    looked_at: dict[Path, str | None] = field(default_factory=dict)
    not_kept: set[int] = field(default_factory=set)
    """Batches whose state Spark has removed, as it removes old versions."""

    @property
    def committed(self) -> list[int]:
        return sorted(self.found.logs.committed)

    def damage(self, path: Path) -> str | None:
        """What is wrong with a file, which is read once."""
        if path not in self.looked_at:
            self.say(f"file {len(self.looked_at) + 1}")
            self.looked_at[path] = damage_of(path)
        return self.looked_at[path]

    def add(self, harm: Harm, path: str, says: str, means: str, batches: "frozenset[int] | set[int] | None") -> None:
        if not any(one.path == path and one.harm is harm for one in self.problems):
            self.problems.append(Problem(harm, path, says, means, None if batches is None else frozenset(batches)))

    def of_state(self, harm: Harm, path: str, says: str, means: str, batch: int) -> None:
        """A finding about a file that the state after a batch stands on; one that is there already is about this batch too."""
        for place, one in enumerate(self.problems):
            if (one.path, one.harm) == (path, harm) and one.batches is not None:
                self.problems[place] = Problem(harm, path, one.says, one.means, one.batches | {batch})
                return
        self.add(harm, path, says, means, {batch})


def in_words(batches: "frozenset[int] | None") -> str:
    """Which batches a finding is about, for people: "batch 4", "batches 2 to 4", "all batches", "" where none is."""
    if batches is None:
        return "all batches"
    if not batches:
        return ""
    first, last = min(batches), max(batches)
    return f"batch {first}" if first == last else f"batches {first} to {last}"
