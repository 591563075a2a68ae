import os
import subprocess
import sys

import pytest

from streamproof.errors import EnvironmentProblem
from streamproof.prove.process import scratch as module
from streamproof.prove.process.scratch import SETTING, memory_left, of_this_process, scratch

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


@pytest.mark.parametrize(("left", "events"), [(SCARCE, 1_000), (0, 1_000), (PLENTY, 10_000_000)])
def test_and_beside_its_report_where_there_is_not(tmp_path, monkeypatch, left, events):
    monkeypatch.setattr(module, "memory_left", lambda: left)

    assert scratch(tmp_path / "run", events) == tmp_path / "run"
    assert not (tmp_path / "memory").exists()


def test_a_folder_that_is_named_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "memory_left", lambda: 0)
    monkeypatch.setenv(SETTING, str(tmp_path / "named"))

    assert scratch(tmp_path / "run", 1_000).parent.parent == tmp_path / "named"


def test_a_relative_folder_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SETTING, "here")

    assert scratch(tmp_path / "run", 1_000).is_relative_to(tmp_path / "here")


def test_a_folder_that_cannot_be_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(SETTING, str(tmp_path / "file" / "in"))

    with pytest.raises(EnvironmentProblem, match="cannot keep its disks in"):
        scratch(tmp_path / "run", 1_000)


def test_what_killed_processes_have_left_is_deleted(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    system = of_this_process().name.split("-")[1]
    of_this_process.cache_clear()
    memory = tmp_path / "memory"
    names = [f"streamproof-{system}-{dead.pid}-a", f"streamproof-{system}-{os.getpid()}-b", f"streamproof-other-{dead.pid}-c"]
    for name in (*names, "streamproof-notes"):
        (memory / name / "blocks").mkdir(parents=True)

    of_this_process()

    assert {name for name in (*names, "streamproof-notes") if (memory / name).exists()} == {*names[1:], "streamproof-notes"}


def test_nothing_is_deleted_where_processes_cannot_be_looked_up(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_system", lambda: None)
    left = tmp_path / "memory" / "streamproof-any-999999999-a"
    left.mkdir(parents=True)

    of_this_process()

    assert left.exists()


def test_limits_of_control_groups_count(tmp_path, monkeypatch):
    (tmp_path / "memory").mkdir()
    monkeypatch.setattr(module, "_limits_of_groups", lambda: [7])

    assert memory_left() == 7


def test_what_a_group_leaves(tmp_path):
    assert module._left_in(tmp_path) is None
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("5\n")
    assert module._left_in(tmp_path) is None
    (tmp_path / "memory.max").write_text("12\n")
    assert module._left_in(tmp_path) == 7
