"""What `streamproof lab` says of labs that are no more."""

import json
import os
import subprocess
import sys
from pathlib import Path


def state(**values: object) -> None:
    folder = Path(".streamproof", "lab")
    folder.mkdir(parents=True)
    (folder / "lab.json").write_text(json.dumps({"urls": {}, "complete": False, "problem": "", **values}))


def test_a_lab_that_did_not_come_up_is_said_with_its_reason(streamproof):
    state(pid=os.getpid(), problem="Kafka broker 1 ended.")

    found = streamproof("lab", "status")

    assert found.code == 1
    assert "did not come up: Kafka broker 1 ended." in found.out


def test_a_lab_whose_process_has_died_is_not_running_although_nobody_has_waited_for_it(streamproof):
    with subprocess.Popen([sys.executable, "-c", ""], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        state(pid=process.pid, urls={"redis": "redis://127.0.0.1:1/0"}, complete=True)

        assert "no lab is running here" in streamproof("lab", "status").out
        assert "no lab was running here" in streamproof("lab", "down").out


def test_nothing_runs_where_no_lab_was(streamproof):
    found = streamproof("lab", "status")

    assert found.code == 1
    assert "no lab is running here: streamproof lab up kafka postgres" in found.out
