"""A job in two starts: both on one version of Spark, or the second on another one, which goes on with the checkpoint or refuses it."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from versions.environments import Environment
from versions.worked import Example, Ran

GOES_ON, REFUSED = "goes on", "refused"
_SAYS = "wrote the checkpoint"
_SAYS_OF_STATE = "wrote the state in the checkpoint"


@dataclass(frozen=True)
class Second:
    """The second start: on which version after which, what it has left, and whether checkpoint or outputs were touched."""

    before: str
    after: str
    older: bool
    ran: Ran
    touched: bool

    def judged(self, whole: Ran) -> str:
        """What became of the checkpoint, beside what both starts on the later version have left."""
        if not self.older and self.ran.code == 1 and _SAYS_OF_STATE in self.ran.said:
            return "refused, and something was changed" if self.touched else REFUSED
        if not self.older:
            said = self.before == self.after or "newer-spark" in self.ran.notes
            return self.ran.differs(whole) or (GOES_ON if said else "goes on, and does not say so")
        if self.ran.code != 1 or _SAYS not in self.ran.said:
            return f"not refused; exit code {self.ran.code}: {self.ran.said}"
        return "refused, and something was changed" if self.touched else REFUSED


def two_starts(name: str, environments: Sequence[Environment], folder: Path, *, across: bool) -> Iterator[Second]:
    """The second starts of a job.

    Parameters
    ----------
    environments
        From the oldest version to the newest.
    folder
        Where the job lies for all of them: a checkpoint knows its files by their whole paths.
    across
        Whether a version also goes on after another one.
    """
    example = Example(name, folder / name)
    kept = folder / f"{name}-kept"
    for place, before in enumerate(environments):
        example.begin()
        example.feed(second=False)
        first = example.run(before)
        if first.code:
            yield Second(before.version, before.version, older=False, ran=first, touched=True)
            continue
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(example.folder, kept)
        for other, after in enumerate(environments):
            if not across and after is not before:
                continue
            shutil.rmtree(example.folder)
            shutil.copytree(kept, example.folder)
            example.feed(second=True)
            there = _contents(example.folder)
            ran = example.run(after)
            yield Second(before.version, after.version, other < place, ran, touched=_contents(example.folder) != there)
    shutil.rmtree(kept, ignore_errors=True)


def _contents(folder: Path) -> dict[str, bytes]:
    """What a refusal must not change: checkpoint and outputs."""
    below = [path for part in ("checkpoints", "out") for path in (folder / part).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in below}
