"""A checkpoint that an earlier commit has written is gone on with, and what is written then is what that commit reads (R30)."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

import known_formats
from full_tables import full
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.runtime.run import run_job

DATA = Path(__file__).parent / "data/checkpoint-0.1.0"
SUMS = [("a", "09:00:00", 1.0, 1), ("a", "09:00:30", 3.0, 1), ("b", "09:00:30", 2.0, 1), ("b", "09:01:00", 4.0, 1)]
"""What the release before has published: client, begin of the window, total, n."""


@pytest.fixture(scope="module")
def made_by() -> ModuleType:
    """The script that has made the data; it also puts it down."""
    spec = importlib.util.spec_from_file_location("checkpoint_0_1_0", DATA / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def left_behind(made_by: ModuleType, tmp_path: Path) -> Path:
    made_by.put_down(tmp_path)
    return tmp_path


def lost(folder: Path, *names: str) -> None:
    """Takes files of the checkpoint away, as a crash would have."""
    for name in names:
        (folder / "checkpoint/sums" / name).unlink()


def sums(folder: Path) -> list[tuple[str, str, float, int]]:
    rows = [json.loads(line) for path in folder.glob("out/sums/batch=*/part-*") for line in path.read_text().splitlines()]
    return sorted((row["client"], row["window_start"][11:19], row["total"], row["n"]) for row in rows)


def ids(folder: Path, output: str) -> list[str]:
    files = folder.glob(f"out/{output}/batch=*/*.jsonl")
    return sorted(json.loads(line)["id"] for path in files for line in path.read_text().splitlines())


def one_batch_more(folder: Path, made_by: ModuleType) -> None:
    """A new event, a duplicate of one that the release before has seen, one that is late by its watermark, and one that is rejected."""
    rows = [made_by.event("e7", 130, 7.0), made_by.event("e5", 100, 5.0), made_by.event("e8", 50), made_by.event("bad3", 130, -1.0)]
    made_by.feed(folder, 4, rows)


@pytest.mark.parametrize(
    "gone",
    [[], ["commits/3"], *full(["commits/3", "_streamproof/manifests/3"], ["_streamproof/incarnation.json"])],
    ids=["whole", "interrupted after its manifest", "published, its manifest lost", "without an incarnation"],
)
def test_r30_the_new_code_goes_on_where_the_release_before_has_stopped(spark, left_behind, made_by, gone):
    assert sums(left_behind) == SUMS
    lost(left_behind, *gone)
    one_batch_more(left_behind, made_by)

    result = run_job(load(left_behind), spark=spark)

    assert result.account == Account(emitted=5, open_state=1, late=2, rejected=3, duplicate=3)
    assert result.accounts[0].adds_up
    assert result.account_input == 14
    assert sums(left_behind) == sorted([*SUMS, ("a", "09:01:30", 5.0, 1)])
    assert ids(left_behind, "late") == ["e6", "e8"]
    assert ids(left_behind, "rejected") == ["bad1", "bad2", "bad3"]


def test_r30_what_the_new_code_writes_there_is_what_the_release_before_reads(spark, left_behind, made_by):
    """The way back: it would take what it does not know for torn."""
    old = {path.name for path in left_behind.glob("checkpoint/sums/_streamproof/manifests/*")}
    one_batch_more(left_behind, made_by)
    run_job(load(left_behind), spark=spark)

    manifests = list(left_behind.glob("checkpoint/sums/_streamproof/manifests/[0-9]*"))
    ledgers = [*left_behind.glob("out/*/batch=*/_ledger.json")]
    assert {path.name for path in manifests} > old
    assert any(json.loads(path.read_text())["batch"] > 3 for path in ledgers)
    for path in manifests:
        known_formats.require_manifest(path.read_text())
    for path in ledgers:
        known_formats.require_ledger_entry(path.read_text())
    known_formats.require_incarnation((left_behind / "checkpoint/sums/_streamproof/incarnation.json").read_text())


def test_r30_what_a_new_checkpoint_begins_with_is_what_the_release_before_reads(spark, made_by, tmp_path):
    for name in ("job.py", "streamproof.toml"):
        (tmp_path / name).write_text((DATA / name).read_text())
    made_by.feed(tmp_path, 1, made_by.FILES[0])

    run_job(load(tmp_path), spark=spark)

    known_formats.require_incarnation((tmp_path / "checkpoint/sums/_streamproof/incarnation.json").read_text())
    known_formats.require_manifest((tmp_path / "checkpoint/sums/_streamproof/manifests/0").read_text())
