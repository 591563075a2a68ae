"""A checkpoint of one version of Spark, gone on with by another: the rows and the account are those of a run on one version, or it is refused."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from versions.environments import Environment
from versions.worked import Example, Ran

GOES_ON, REFUSED, SAME = "goes on", "refused", "same"


def gone_on(name: str, environments: Sequence[Environment], whole: Mapping[str, Ran], folder: Path) -> dict[tuple[str, str], str]:
    """What becomes of an example's checkpoint, by the version that wrote it and the one that goes on.

    Parameters
    ----------
    environments
        From the oldest version to the newest.
    whole
        By version what both starts on it have left.
    folder
        Where the job lies for all of them: a checkpoint knows its files by their whole paths.
    """
    example = Example(name, folder / name)
    kept = folder / f"{name}-kept"
    found: dict[tuple[str, str], str] = {}
    for before in environments:
        example.begin()
        example.feed(second=False)
        first = example.run(before)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(example.folder, kept)
        for after in environments:
            pair = (before.version, after.version)
            if first.code:
                found[pair] = f"exit code {first.code}"
            elif before is not after:
                shutil.rmtree(example.folder)
                shutil.copytree(kept, example.folder)
                example.feed(second=True)
                older = environments.index(after) < environments.index(before)
                found[pair] = _refused(example, after) if older else _went_on(example, after, whole[after.version])
    shutil.rmtree(kept, ignore_errors=True)
    return found


def _went_on(example: Example, after: Environment, whole: Ran) -> str:
    ran = example.run(after)
    if "newer-spark" not in ran.notes and not ran.code:
        return "goes on, and does not say so"
    return ran.differs(whole) or GOES_ON


def _refused(example: Example, after: Environment) -> str:
    before = _contents(example.folder)
    ran = example.run(after)
    if ran.code != 2 or "wrote the checkpoint" not in ran.said:
        return f"exit code {ran.code}: {ran.said}"
    return REFUSED if _contents(example.folder) == before else "refused, and something was changed"


def _contents(folder: Path) -> dict[str, bytes]:
    """What must not change: checkpoint and outputs."""
    below = [path for part in ("checkpoints", "out") for path in (folder / part).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in below}
