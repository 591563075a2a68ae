"""What `streamproof lab` says of labs that are no more."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from streamproof.errors import LabError
from streamproof.lab.service import empty


def state(**values: object) -> None:
    folder = Path(".streamproof", "lab")
    folder.mkdir(parents=True)
    (folder / "lab.json").write_text(json.dumps({"urls": {}, "complete": False, "problem": "", **values}))


def test_a_lab_that_did_not_come_up_is_said_with_its_reason(streamproof):
    state(pid=os.getpid(), problem="Kafka broker 1 ended.")

    found = streamproof("lab", "status")

    assert found.code == 1
    assert "did not come up: Kafka broker 1 ended." in found.out


def test_another_process_that_has_the_number_of_a_dead_lab_is_left_alone(streamproof):
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        state(pid=process.pid, urls={"redis": "redis://127.0.0.1:1/0"}, complete=True)

        assert "no lab is running here" in streamproof("lab", "status").out
        assert "no lab was running here" in streamproof("lab", "down").out
        assert process.poll() is None
        process.kill()


def test_a_folder_with_data_of_somebody_else_is_not_emptied(tmp_path):
    data = tmp_path / "redis-data"
    data.mkdir()
    (data / "appendonly.aof").touch()

    with pytest.raises(LabError, match="no lab has made it"):
        empty(data)

    (data / "appendonly.aof").unlink()
    empty(data)
    (data / "appendonly.aof").touch()
    empty(data)
    assert not any(data.iterdir())


def test_nothing_runs_where_no_lab_was(streamproof):
    found = streamproof("lab", "status")

    assert found.code == 1
    assert "no lab is running here: streamproof lab up kafka postgres" in found.out
