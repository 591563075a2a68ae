"""Checkpoints that older versions of Spark have written are read by the installed one: each row is there that the job's own data says."""

import pytest

import streamproof as sp
from full_tables import beyond
from streamproof.errors import TornCheckpoint
from unit.checkpoint.written import contents
from versions.inspected import differs
from versions.states import KINDS
from versions.stored import AT_MOST, FOLDER, STORED, unpacked


@pytest.mark.parametrize(("version", "kind", "store"), beyond(4, STORED), ids="-".join)
def test_state_of_an_older_spark(version, kind, store, spark, tmp_path):
    checkpoint = unpacked(version, kind, store, tmp_path)
    before = contents(checkpoint)

    assert differs(KINDS[kind], checkpoint) == ""
    assert contents(checkpoint) == before


def test_all_that_is_kept_is_small_and_tried():
    kept = {path.stem: path.stat().st_size for path in FOLDER.glob("*.zip")}

    assert {*kept} == {"-".join(one) for one in STORED}
    assert sum(kept.values()) < AT_MOST


def test_a_row_that_is_not_there_is_seen(spark, tmp_path):
    """The comparison of the tests above can fail."""
    kind = KINDS["windows"]
    checkpoint = unpacked("3.5", "windows", "hdfs", tmp_path)
    (columns, rows) = kind.holds()["0"]
    wrong = type(kind)(kind.says, kind.query, lambda: {"0": (columns, [*rows[:-1], (*rows[-1][:-1], 99)])})

    assert "1 rows are missing" in differs(wrong, checkpoint)
    assert sp.inspect(checkpoint).operator(0).count() == len(rows)


@pytest.mark.parametrize(("version", "store"), [("3.5", "changelogs"), ("4.0", "ids-changelogs")])
def test_one_key_is_looked_for_in_its_partition_alone(version, store, spark, tmp_path):
    checkpoint = unpacked(version, "ids-for-a-while", store, tmp_path)
    every = sp.inspect(checkpoint).operator(0).rows()
    assert {row["partition"] for row in every} == {0, 1}
    for row in every[::4]:
        assert sp.inspect(checkpoint).operator(0).where(f"id = '{row['id']}' AND partition = {row['partition']}").rows() == [row]
    before = contents(checkpoint)

    for file in (checkpoint / "state" / "0" / "1").glob("*.changelog"):
        file.write_bytes(b"")
    there = next(row for row in every if row["partition"] == 0)
    lost = next(row for row in every if row["partition"] == 1)

    assert sp.inspect(checkpoint).operator(0).where(f"id = '{there['id']}'").rows() == [there]
    for gone in (lost["id"], "nobody"):
        with pytest.raises(TornCheckpoint):
            sp.inspect(checkpoint).operator(0).where(f"id = '{gone}'").rows()
    assert {*contents(checkpoint)} == {*before}
