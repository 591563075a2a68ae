"""A condition names a key with an equality for each of its columns; a checkpoint with one partition keeps the rest as it is."""

import json
from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.one_partition import _equal_to, named_partition, with_one_partition
from streamproof.checkpoint.schemas import Column, Schema
from streamproof.checkpoint.stores import DEFAULT, Operator, Store
from unit.checkpoint.written import OURS, WINDOWS, contents, copy_of


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("client = 'c17'", {"client": "c17"}),
        ("'c17' = Client AND n = 3 AND total > 5", {"client": "c17", "n": 3}),
        ("(client = 'c17') AND (n = 3)", {"client": "c17", "n": 3}),
        ("client = 'c17' OR n = 3", {}),
        ("NOT (client = 'c17')", {}),
        ("client <=> 'c17'", {}),
        ("client = other", {}),
        ("upper(client) = 'C17'", {}),
        ("client =", {}),
    ],
)
def test_what_a_condition_says_to_be_equal(condition, found):
    assert _equal_to(condition) == found


@pytest.mark.parametrize(
    ("type_", "number"),
    [("int", 2**31), ("int", 3_000_000_000), ("smallint", 2**15), ("tinyint", 2**7), ("bigint", 2**63)],
)
def test_a_number_that_no_key_can_be_names_no_partition(type_, number):
    """Spark would not cast it, and the condition is right: it holds for no row."""
    stores = tuple(Store(0, partition, DEFAULT, Path()) for partition in (0, 1))
    schema = Schema(DEFAULT, (Column("id", type_),), (Column("__dummy__", "string"),))
    operator = Operator(0, "dedupe", 2, stores, {}, "", (schema,))

    assert named_partition(None, operator, f"id = {number}") is None


def test_one_partition_is_left_and_its_number_is_0(tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    before = contents(checkpoint)

    links = with_one_partition(checkpoint, inspect_checkpoint(checkpoint).operators[0], 1, 4, tmp_path / "links")

    assert sorted(path.name for path in (links / "state" / "0").iterdir()) == ["0", "_metadata"]
    assert (links / "state" / "0" / "0" / "5.zip").resolve() == checkpoint / "state" / "0" / "1" / "5.zip"
    assert (links / "state" / "0" / "0" / "_metadata" / "schema").is_file()
    assert (links / "offsets" / "4").resolve() == checkpoint / "offsets" / "4"
    assert contents(checkpoint) == before


def test_the_commit_log_names_the_files_of_that_partition(tmp_path):
    checkpoint = copy_of(OURS / "checkpoint" / "sums", tmp_path)
    found = inspect_checkpoint(checkpoint)
    version, text = (checkpoint / "commits" / "3").read_text().split("\n")
    said = json.loads(text)
    said["stateUniqueIds"] = {"0": [["a"], ["b"]], "1": [["c"], ["d"]]}
    (checkpoint / "commits" / "3").write_text(f"{version}\n{json.dumps(said)}")

    links = with_one_partition(checkpoint, found.operators[1], 1, 3, tmp_path / "links")

    assert json.loads((links / "commits" / "3").read_text().split("\n")[1]) == {
        **said,
        "stateUniqueIds": {"0": [["a"], ["b"]], "1": [["d"]]},
    }
