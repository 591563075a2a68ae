"""Backups in a real S3 gateway, which verifies signatures: made, harmed, refused, restored; and a job that runs while the gateway is away."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.conftest import needs
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.core.notes import NoteCode
from streamproof.errors import CheckpointError, ConfigurationError, StoreUnavailable
from streamproof.lab import S3
from streamproof.lab.s3 import BUCKET, CREDENTIALS
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.in_store import InStore
from streamproof.savepoints.place import Place
from streamproof.savepoints.places import place_at
from streamproof.savepoints.restore import restore
from unit.checkpoint.written import WINDOWS, contents, copy_of

pytestmark = pytest.mark.service


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    needs("s3")
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with S3(tmp_path / "s3") as server:
        yield server


def place(s3: S3, prefix: str = "backups/windows") -> Place:
    return place_at(f"s3://{BUCKET}/{prefix}", endpoint=s3.url, region="us-east-1")


def objects(s3: S3, prefix: str = "backups/windows") -> Path:
    """The folder that the gateway keeps them in."""
    return s3.data / BUCKET / prefix


def files(folder: Path) -> dict[str, str]:
    return {name: text for name, (_, text) in contents(folder).items()}


def test_a_checkpoint_goes_to_s3_and_comes_back_and_what_is_harmed_there_is_refused(s3: S3, tmp_path: Path):
    copy, to = copy_of(WINDOWS, tmp_path), place(s3)
    commit = (copy / "commits" / "4").read_bytes()
    (copy / "commits" / "4").unlink()
    older = back_up(copy, to)
    (copy / "commits" / "4").write_bytes(commit)
    newer = back_up(copy, to)
    assert (older.batch, newer.batch) == (3, 4)
    assert 0 < newer.copied_files < newer.files
    assert not back_up(copy, to).made

    restored = restore(to, tmp_path / "restored")
    assert restored.point.batch == 4
    assert files(tmp_path / "restored") == files(back_up(copy, tmp_path / "local").point.path)

    listed = {entry.name for entry in (objects(s3) / "files").iterdir()}
    back_up(copy, to, keep=1)
    assert [point.batch for point in to.points()] == [4]
    assert {entry.name for entry in (objects(s3) / "files").iterdir()} < listed

    largest = max((objects(s3) / "files").iterdir(), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-1] + b"!")
    with pytest.raises(CheckpointError, match=r"state/0/\d/\w+\.zip of it is not what was sent"):
        restore(to, tmp_path / "c")
    largest.unlink()
    with pytest.raises(CheckpointError, match=r"of it is gone from the store, or cut short"):
        restore(to, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_process_that_is_killed_while_it_sends_leaves_no_point_and_its_files_are_used(s3: S3, tmp_path: Path):
    copy, to = copy_of(WINDOWS, tmp_path), place(s3)
    program = f"""
        import os, signal
        from pathlib import Path
        from streamproof.savepoints.backup import back_up
        from streamproof.savepoints.places import place_at
        from streamproof.savepoints.store import Store

        write = Store.write

        def dying(self, name, content):
            if len(list(Path({str(objects(s3) / "files")!r}).glob("*"))) > 5:
                os.kill(os.getpid(), signal.SIGKILL)
            write(self, name, content)

        Store.write = dying
        back_up({str(copy)!r}, place_at({to.where!r}, endpoint={s3.url!r}, region="us-east-1"))
    """
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, env={**os.environ, **CREDENTIALS})
    assert died.returncode == -signal.SIGKILL
    sent = {entry.name for entry in (objects(s3) / "files").iterdir()}
    assert len(sent) > 5
    assert to.points() == []

    done = back_up(copy, to)

    assert done.copied_files == len({entry.name for entry in (objects(s3) / "files").iterdir()} - sent)
    assert restore(to, tmp_path / "restored").point.batch == 4


def test_a_store_that_is_away_or_refuses_is_told_apart_and_no_secret_is_said(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    copy = copy_of(WINDOWS, tmp_path)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-but-secret")
    with pytest.raises(ConfigurationError, match="SIGNATURE_DOES_NOT_MATCH") as refused:
        back_up(copy, place(s3))
    assert "wrong-but-secret" not in str(refused.value)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CREDENTIALS["AWS_SECRET_ACCESS_KEY"])
    with pytest.raises(ConfigurationError, match="NO_SUCH_BUCKET"):
        back_up(copy, place_at("s3://no-such-bucket/x", endpoint=s3.url, region="us-east-1"))
    to = place(s3)
    s3.kill()
    with pytest.raises(StoreUnavailable, match="does not answer: NETWORK_CONNECTION"):
        back_up(copy, to)
    with pytest.raises(StoreUnavailable):
        restore(to, tmp_path / "c")
    assert not (tmp_path / "c").exists()
    s3.restart()
    assert back_up(copy, to).made


def test_a_job_goes_on_while_its_store_is_away_and_comes_back_from_there(
    s3: S3, small_job: Callable[..., SmallJob], tmp_path: Path
):
    backup = {"to": f"s3://{BUCKET}/backups", "endpoint": s3.url, "region": "us-east-1", "every": "1 hour"}
    small = small_job(KEPT, Binding(sinks={"kept": "parquet", "rejected": "json"}, tables={"backup": backup}))
    heard: list[object] = []

    def run_with(name: str):
        heard.clear()
        small.feed([event(name, 0), event(f"{name}-bad", 1, -1.0)])
        return small.run(listener=heard.append)

    run_with("a")
    (made,) = [one for one in heard if isinstance(one, BackedUp)]
    assert made.path.startswith(f"s3://{BUCKET}/backups/kept/points/")
    s3.kill()
    result = run_with("b")
    assert [note.code for note in result.notes].count(NoteCode.BACKUP_FAILED) == 1
    assert [one for one in heard if isinstance(one, BackupFailed)]
    assert result.accounts[0].adds_up
    s3.restart()
    run_with("c")
    assert not [one for one in heard if isinstance(one, BackupFailed)]
    at_first = sorted(map(str, small.rows("kept")))
    damaged = small.checkpoint().rename(tmp_path / "damaged")
    newest = inspect_checkpoint(damaged).logs.newest_committed

    done = restore(place(s3, "backups/kept"), small.checkpoint(), plans_of=damaged)
    result = run_with("d")

    assert done.again[-1] == newest
    assert NoteCode.AS_PLANNED in [note.code for note in result.notes]
    assert sorted({str(row) for row in small.rows("kept")} & set(at_first)) == at_first
    assert len(small.rows("kept")) == len(at_first) + 1
    assert (result.accounts[0].input, result.accounts[0].adds_up) == (8, True)


def test_the_lab_starts_one_for_a_command(s3: S3, tmp_path: Path):
    """`backup` and `restore` take what `lab up s3` shows."""
    copy = copy_of(WINDOWS, tmp_path)
    where = [f"s3://{BUCKET}/by-command", "--endpoint", s3.url, "--region", "us-east-1"]
    command = [sys.executable, "-m", "streamproof"]

    made = subprocess.run([*command, "backup", copy, "--to", *where], check=True, capture_output=True, text=True)
    shutil.rmtree(copy)
    restored = subprocess.run([*command, "restore", *where, "--to", copy], check=True, capture_output=True, text=True)

    assert "is sound, and a start goes on after batch 4." in " ".join(made.stdout.split())
    assert "is sound again, as it was after batch 4" in " ".join(restored.stdout.split())
    assert isinstance(place_at(where[0]), InStore)
