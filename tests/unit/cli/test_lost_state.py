"""State that is gone, at the commands: what no file tells is said, no backup goes without it, and metadata that say what no Spark writes end none."""

import json
import shutil

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.sound import verify
from streamproof.savepoints.backup import back_up
from unit.checkpoint.written import JOIN, VARIABLES, WINDOWS, copy_of, with_two_operators


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN], ids=lambda path: path.name)
def test_of_a_plain_job_whose_state_is_all_gone_no_file_tells_so_it_is_said(checkpoint, streamproof, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    shutil.rmtree(copy / "state")

    result = streamproof("inspect", copy.name, "--verify")

    assert (result.code, result.out.startswith("SOUND  ")) == (0, True)
    assert "not known     Its watermark moves, and it has no state." in result.out
    assert len(json.loads(streamproof("inspect", copy.name, "--verify", "--json").out)["unsure"]) == 1


@pytest.mark.parametrize("gone", ["state", "state/1"])
def test_no_backup_without_the_state_that_the_one_before_has(gone, streamproof, tmp_path):
    copy = with_two_operators(tmp_path)
    before = back_up(copy, tmp_path / "to").point
    shutil.rmtree(copy / gone)

    result = streamproof("backup", copy.name, "--to", "to")

    assert result.code == 2
    assert f"has no {'state/0, state/1' if gone == 'state' else 'state/1'}, and the backup {before.name} has." in result.err
    assert [path.name for path in (tmp_path / "to").iterdir() if not path.name.startswith(".")] == [before.name]


@pytest.mark.parametrize("checkpoint", [WINDOWS, VARIABLES], ids=lambda path: path.name)
@pytest.mark.parametrize(
    "said",
    [
        {"operatorInfo": None},
        {"operatorInfo": []},
        {"operatorInfo": {"operatorId": 0, "operatorName": "x"}, "stateStoreInfo": [None]},
        {"operatorInfo": {"operatorId": 0, "operatorName": "x"}, "stateStoreInfo": {"a": 1}},
        {"stateStoreInfo": [{"numPartitions": "x"}]},
        {"operatorPropertiesJson": '{"stateVariables":null}'},
        {"operatorPropertiesJson": '{"stateVariables":[{}]}'},
        {"operatorPropertiesJson": 7},
    ],
)
def test_the_metadata_of_an_operator(checkpoint, said, streamproof, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    for path in (copy / "state" / "0" / "_metadata").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            path.write_text(f"v1\n{json.dumps(said)}")

    result = streamproof("inspect", copy.name)

    assert result.code == 0, result.err
    assert "The metadata of state/0 cannot be read" in " ".join(result.out.split())
    assert verify(inspect_checkpoint(copy)).sound[-1] == 4
