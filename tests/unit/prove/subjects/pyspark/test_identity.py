"""The proof gives a job one folder for one place: what is another place for the job is another, empty one in the proof."""

import os
import shutil
from pathlib import Path

import pytest

from streamproof.prove.subjects.pyspark.identity import PLACES, Identity
from streamproof.prove.subjects.pyspark.own_files import bind_own_files


def test_the_same_place_is_the_same_folder_after_a_restart_and_another_is_empty(tmp_path):
    first = Identity(tmp_path)
    assert first.checkpoint("clicks", first.said("/lake/cp")) == "clicks"

    again = Identity(tmp_path)
    assert again.checkpoint("clicks", again.said("file:///lake/cp/")) == "clicks"
    assert again.checkpoint("clicks", again.said("/lake/cp-2")) == "clicks.2"
    assert [place.folder for place in again.checkpoints_of("clicks")] == ["clicks", "clicks.2"]


def test_no_place_at_all_is_a_new_one_at_each_start(tmp_path):
    assert [Identity(tmp_path).checkpoint("clicks", None) for _ in range(3)] == ["clicks", "clicks.2", "clicks.3"]


def test_a_place_that_two_queries_name_is_shared(tmp_path):
    identity = Identity(tmp_path)
    assert [identity.checkpoint(name, "/lake/cp") for name in ("one", "other", "own")[:2]] == ["one", "one"]
    identity.checkpoint("own", "/lake/own")

    assert list(identity.sharing()) == [("one", "other", "/lake/cp")]


def test_a_folder_of_the_scenario_is_the_same_place_in_every_scenario(tmp_path):
    recorded, crashed = tmp_path / "recording", tmp_path / "s1"
    identity = Identity(recorded)
    identity.checkpoint("clicks", identity.said(recorded / "own" / "cp"))
    crashed.mkdir()
    shutil.copyfile(recorded / PLACES, crashed / PLACES)

    again = Identity(crashed)
    assert again.checkpoint("clicks", again.said(crashed / "own" / "cp")) == "clicks"


def test_outputs_of_one_query_at_another_place_are_kept_apart_and_read_together(tmp_path):
    identity = Identity(tmp_path)
    assert [identity.output("out", place) for place in ("/lake/1", "/lake/2", "/lake/1")] == ["out", "out.2", "out"]
    assert sorted(identity.outputs_of("out")) == ["out", "out.2"]
    assert identity.outputs_of("other") == ["other"]


@pytest.fixture
def of_the_job(tmp_path, monkeypatch):
    """A checkpoint that the job calls /lake/checkpoints/clicks, and the functions of Python bound to it."""
    for name in ("stat", "lstat", "listdir", "scandir", "remove", "unlink", "rmdir", "mkdir", "open", "access", "chmod", "utime"):
        monkeypatch.setattr(os, name, getattr(os, name))
    for name in ("makedirs", "rename", "replace"):
        monkeypatch.setattr(os, name, getattr(os, name))
    monkeypatch.setattr(shutil, "rmtree", shutil.rmtree)
    for module in ("builtins", "io"):
        monkeypatch.setattr(f"{module}.open", open)
    monkeypatch.setattr("py4j.java_gateway.JavaMember.__call__", __import__("py4j.java_gateway").java_gateway.JavaMember.__call__)
    identity = Identity(tmp_path)
    folder = tmp_path / "checkpoint" / identity.checkpoint("clicks", "/lake/checkpoints/clicks")
    (folder / "commits").mkdir(parents=True)
    (folder / "commits" / "0").write_text("v1\n{}")
    bind_own_files(identity)
    return identity


@pytest.mark.parametrize("path", ["/lake/checkpoints/clicks", "/lake/checkpoints", "/lake", "file:/lake/checkpoints/clicks/"])
def test_a_checkpoint_that_the_job_deletes_is_gone_for_it_and_laid_aside_for_the_proof(of_the_job, path):
    assert os.path.exists(path.removeprefix("file:"))  # noqa: PTH110
    shutil.rmtree(path)

    assert not Path("/lake/checkpoints/clicks").exists()
    (aside,) = of_the_job.checkpoints_of("clicks")
    assert aside.deleted
    assert of_the_job.checkpoint("clicks", "/lake/checkpoints/clicks") != aside.folder


def test_a_job_sees_its_checkpoint_where_it_calls_it(of_the_job):
    checkpoint = Path("/lake/checkpoints/clicks")

    assert checkpoint.is_dir()
    assert os.listdir(checkpoint / "commits") == ["0"]  # noqa: PTH208
    assert (checkpoint / "commits" / "0").read_text() == "v1\n{}"
    (checkpoint / "commits" / "0").unlink()
    assert not os.path.exists("/lake/checkpoints/clicks/commits/0")  # noqa: PTH110
    os.rename(checkpoint, "/lake/old")  # noqa: PTH104
    assert not checkpoint.exists()


def test_other_paths_are_as_they_were(of_the_job, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")

    shutil.rmtree(tmp_path / "mine")

    assert not (tmp_path / "mine").exists()
    assert Path("/lake/checkpoints/clicks").exists()
