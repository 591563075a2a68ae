"""R2: `--replay-last` is advised only where it can help, and takes nothing back before that is known; what is lost and held elsewhere comes back."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from full_tables import beyond
from spark.small_job import SUMS, WINDOWED, SmallJob, assert_readable, event
from streamproof.errors import StreamproofError

BATCHES = 3

Damage = Callable[[Path, int], None]


def lost(*names: str) -> Damage:
    """Removes files or folders of the checkpoint, with their checksums; `{N}` is its newest batch, `{M}` the one before."""

    def damage(checkpoint: Path, newest: int) -> None:
        for name in names:
            path = checkpoint / name.format(N=newest, M=newest - 1)
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    return damage


def swapped(checkpoint: Path, _: int) -> None:
    one, other = checkpoint / "state/0/0", checkpoint / "state/0/1"
    one.rename(checkpoint / "kept")
    other.rename(one)
    (checkpoint / "kept").rename(other)


def cut_short(checkpoint: Path, newest: int) -> None:
    """The state that the newest batch began with: its files are there, and not whole."""
    for path in checkpoint.glob(f"state/0/*/{newest}_*.zip"):
        path.write_bytes(path.read_bytes()[:20])
        path.with_name(f"{path.name}.crc").unlink(missing_ok=True)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    lost("commits/{N}")(checkpoint, newest)


CANNOT_HELP: dict[str, tuple[Damage, str]] = {
    "two commits": (lost("commits/{N}", "commits/{M}"), "/commits/{M} is gone"),
    "partitions swapped": (swapped, "/state/0/0/{N}_"),
    "a partition": (lost("state/0/1"), "/state/0/1/{N}_"),
    "the state": (lost("state"), "/state/0/0/{N}_"),
    "all commits": (lost("commits"), "/commits/{M} is gone"),
    "state that is torn": (cut_short, "cannot be read"),
}
COMES_BACK: dict[str, Damage] = {
    "the source log of an old batch": lost("sources/0/0"),
    "metadata": lost("metadata"),
    "all source logs": lost("sources"),
    "two offsets": lost("offsets/{N}", "offsets/{M}"),
}


@pytest.fixture
def damaged(small_job) -> Callable[[Damage], tuple[SmallJob, int]]:
    def damaged(damage: Damage) -> tuple[SmallJob, int]:
        job = small_job(SUMS, WINDOWED)
        for number in range(BATCHES):
            job.feed([event(f"{number}{client}", 20 * number, client=client) for client in "abcd"])
        job.run()
        newest = max(int(path.name) for path in (job.checkpoint("sums") / "commits").glob("[0-9]*"))
        damage(job.checkpoint("sums"), newest)
        job.feed([event("new", 500)])
        return job, newest

    return damaged


def files(job: SmallJob) -> dict[str, str]:
    return {
        str(path.relative_to(job.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in job.folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", beyond(2, CANNOT_HELP))
def test_r2_what_cannot_help_is_not_advised_and_changes_nothing(damaged, kind):
    damage, named = CANNOT_HELP[kind]
    job, newest = damaged(damage)
    named = named.format(N=newest, M=newest - 1)

    with pytest.raises(StreamproofError) as plain:
        job.run()
    before = files(job)
    with pytest.raises(StreamproofError) as asked:
        job.run(replay_last=True)

    for error in (plain.value, asked.value):
        assert_readable(error)
        assert error.action is None
        assert named in str(error)
        assert "from a backup" in error.remedy
    assert "--replay-last does not help here" in plain.value.remedy
    assert "Nothing was changed" in asked.value.required
    assert files(job) == before


@pytest.mark.parametrize("kind", beyond(2, COMES_BACK))
def test_r2_what_is_held_elsewhere_comes_back_at_the_start(damaged, kind):
    job, _ = damaged(COMES_BACK[kind])

    result = job.run()

    assert result.accounts[0].adds_up
    assert result.account_input == 4 * BATCHES + 1
    assert any("was missing and is" in note for note in result.notes)
