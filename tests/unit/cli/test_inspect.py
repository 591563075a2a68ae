"""`streamproof inspect`: one screen about a checkpoint, the same as JSON, and a message for what is none."""

import json
import shutil
from contextlib import contextmanager

import pytest

from streamproof.cli import inspect as module
from streamproof.errors import DiskFull
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, kafka_checkpoint


def test_a_checkpoint_of_ours(streamproof):
    shutil.copytree(OURS, "job")

    result = streamproof("inspect", "job")

    assert result.code == 0
    assert [line.split("  ")[0].strip() for line in result.out.splitlines()[:1]] == [
        f"job/checkpoint/sums · 4 batches, 0 to 3 · the newest committed, planned {result.out.partition('planned ')[2].partition(' ·')[0]} · state format 2"
    ]
    for said in (
        "written by    job small, query sums · Streamproof 0.1.0 · 10 records so far",
        "read up to    3 files, the newest 003.json",
        "watermark     2026-01-05 09:01:30 UTC",
        "operator 0    aggregate (window end, client)",
        "operator 1    deduplicate (id)",
        "1 state partition · RocksDB (Streamproof's) · watermark 10 s late",
        "sums  files ../../out/sums  published up to batch 3, nothing waits",
    ):
        assert said in result.out


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        (WINDOWS, ["aggregate (window, client)   10 open groups", "by partition  0: 6.9 kB · 1: 6.8 kB"]),
        (JOIN, ["source 1: 4 files, the newest 3.json", "join of two streams", "HDFS-backed"]),
        (VARIABLES, ["transformWithState in Python", "variable seen  list of at timestamp"]),
    ],
    ids=["windows", "join", "variables"],
)
def test_checkpoints_of_plain_jobs(checkpoint, said, streamproof):
    result = streamproof("inspect", str(checkpoint))

    assert result.code == 0
    assert "a program without Streamproof" in result.out
    assert [one for one in said if one not in result.out] == []


def test_a_topic_and_a_batch_that_is_not_committed(streamproof, tmp_path):
    kafka_checkpoint(tmp_path / "c", [{"trades": {"0": 18_220, "1": 4}}], committed=0)

    result = streamproof("inspect", "c")

    assert "the newest not committed" in result.out
    assert "trades-0 18,220 · trades-1 4" in result.out
    assert "A start runs it again." in result.out


def test_json_is_one_object(streamproof):
    found = json.loads(streamproof("inspect", str(WINDOWS), "--json").out)

    assert found["sources"] == [{"source": 0, "kind": "files", "read_to": {"log": 3}, "files": 4}]
    assert found["settings"]["spark.sql.shuffle.partitions"] == "2"
    assert [store["rows"] for store in found["operators"][0]["stores"]] == [7, 3]


def test_what_is_no_checkpoint_is_said_without_a_trace(streamproof, tmp_path):
    (tmp_path / "empty").mkdir()

    result = streamproof("inspect", "empty")

    assert result.code == 2
    assert "empty is empty." in result.err
    assert "Traceback" not in result.err


class Rows:
    """Stands for a table whose rows Spark has read."""

    @contextmanager
    def one_by_one(self, limit):
        yield {"client": "string"}, ({"client": f"c{number}"} for number in range(3))


def test_a_file_of_rows_that_cannot_be_whole_leaves_what_was_there(tmp_path, monkeypatch):
    kept = tmp_path / "rows.csv"
    kept.write_text("of yesterday")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.csv, "writer", full)

    with pytest.raises(DiskFull, match=r"rows\.csv cannot be written: the disk is full"):
        module._write_csv(Rows(), kept, None)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert kept.read_text() == "of yesterday"


def test_a_file_of_rows_takes_the_place_of_an_older_one(tmp_path):
    kept = tmp_path / "rows.csv"
    kept.write_text("of yesterday")

    assert module._write_csv(Rows(), kept, None) == 3
    assert kept.read_text().split() == ["client", "c0", "c1", "c2"]
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
