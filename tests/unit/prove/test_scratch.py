import os
import subprocess
import sys

import pytest

from streamproof.prove import scratch as module
from streamproof.prove.scratch import SETTING, local_dir, memory_left, of_this_process, scratch

PLENTY, SCARCE = 64 << 30, 1 << 30


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MEMORY", tmp_path / "memory")
    monkeypatch.delenv(SETTING, raising=False)
    of_this_process.cache_clear()
    yield
    of_this_process.cache_clear()


def test_a_proof_lies_in_memory_where_there_is_plenty(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "memory_left", lambda: PLENTY)

    one, other = scratch(tmp_path / "run", 50_000), scratch(tmp_path / "run", 50_000)

    assert one.parent == other.parent == of_this_process()
    assert one != other
    assert one.parent.parent == tmp_path / "memory"
    assert local_dir() == str(one.parent)


@pytest.mark.parametrize(("left", "events"), [(SCARCE, 1_000), (0, 1_000), (PLENTY, 10_000_000)])
def test_and_beside_its_report_where_there_is_not(tmp_path, monkeypatch, left, events):
    monkeypatch.setattr(module, "memory_left", lambda: left)

    assert scratch(tmp_path / "run", events) == tmp_path / "run"
    assert not (tmp_path / "memory").exists()


def test_a_folder_that_is_named_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "memory_left", lambda: 0)
    monkeypatch.setenv(SETTING, str(tmp_path / "named"))

    assert scratch(tmp_path / "run", 1_000).parent.parent == tmp_path / "named"
    assert local_dir() == str(of_this_process())


def test_what_killed_processes_have_left_is_deleted(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    namespace = of_this_process().name.split("-")[1]
    of_this_process.cache_clear()
    memory = tmp_path / "memory"
    names = [f"streamproof-{namespace}-{dead.pid}-a", f"streamproof-{namespace}-{os.getpid()}-b", f"streamproof-1-{dead.pid}-c"]
    for name in (*names, "streamproof-notes"):
        (memory / name / "blocks").mkdir(parents=True)

    of_this_process()

    assert {name for name in (*names, "streamproof-notes") if (memory / name).exists()} == {*names[1:], "streamproof-notes"}


def test_a_limit_of_the_control_group_counts(monkeypatch):
    monkeypatch.undo()
    free = memory_left()
    monkeypatch.setattr(module, "_limit_of_group", lambda: [7])

    assert free >= 0
    assert memory_left() in (0, 7)
