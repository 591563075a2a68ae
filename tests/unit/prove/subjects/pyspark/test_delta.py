"""A table of Delta Lake is read from its log; a job's paths lead to the scenario's own tables. No Spark is started."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.readwriter import DataFrameWriter

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.delta_log import NotReadHere, TableFile, UnreadableTable, files_of
from streamproof.prove.subjects.pyspark.reading import read_left
from streamproof.prove.subjects.pyspark.writers import BoundBatchWriter, Started


def commit(table: Path, number: int, *actions: dict[str, Any]) -> None:
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)))


def batch(number: int) -> dict[str, Any]:
    return {"txn": {"appId": "query", "version": number}}


def add(path: str, **partition: str) -> dict[str, Any]:
    return {"add": {"path": path, "partitionValues": partition, "dataChange": True}}


def test_a_file_is_in_the_table_until_it_is_removed_and_has_the_batch_of_its_commit(tmp_path):
    commit(tmp_path, 0, {"metaData": {"configuration": {}}}, batch(0), add("a.parquet"))
    commit(tmp_path, 1, batch(1), add("day=x%3Ay/b.parquet", day="x:y"))
    commit(tmp_path, 2, {"remove": {"path": "a.parquet"}}, add("c.parquet"))

    assert files_of(tmp_path) == [TableFile("day=x:y/b.parquet", {"day": "x:y"}, 1), TableFile("c.parquet")]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}, "columnMapping"),
        ({"add": {"path": "a.parquet", "deletionVector": {"storageType": "u"}}}, "deletion vectors"),
    ],
)
def test_what_takes_delta_lake_itself_is_not_read_as_if_it_were_not_there(tmp_path, wrong, says):
    commit(tmp_path, 0, wrong)

    with pytest.raises(NotReadHere, match=says):
        files_of(tmp_path)


def test_a_table_that_only_delta_lake_can_read_is_not_damaged(tmp_path):
    commit(tmp_path / "out" / "written" / "spending", 0, {"add": {"path": "a.parquet", "deletionVector": {"storageType": "u"}}})

    (spending,) = read_left(tmp_path).outputs

    assert spending.damaged == ()
    assert "deletion vectors" in spending.unread


def test_a_commit_that_is_missing_or_torn_is_said(tmp_path):
    commit(tmp_path, 0, batch(0))
    commit(tmp_path, 2, batch(2))
    with pytest.raises(UnreadableTable, match="some are missing"):
        files_of(tmp_path)

    (tmp_path / "_delta_log" / f"{1:020}.json").write_text('{"add": {"pa')
    with pytest.raises(UnreadableTable, match="cut short"):
        files_of(tmp_path)


def test_the_rows_of_a_table_are_those_that_its_log_names(tmp_path):
    table = tmp_path / "out" / "written" / "lake" / "spending"
    table.mkdir(parents=True)
    for name, rows in (("a.parquet", [1]), ("b.parquet", [2, 3]), ("no-commit.parquet", [4])):
        pq.write_table(pa.table({"n": rows}), table / name)
    commit(table, 0, batch(0), add("a.parquet", day="1"))
    commit(table, 1, batch(1), add("b.parquet", day="2"), add("gone.parquet"))

    (spending,) = read_left(tmp_path).outputs

    assert (spending.name, spending.query) == ("lake/spending", None)
    assert spending.rows == {None: [{"n": 1, "day": "1"}, {"n": 2, "day": "2"}, {"n": 3, "day": "2"}]}
    assert spending.damaged == ("gone.parquet is gone",)


def test_a_path_of_the_job_leads_to_the_table_that_it_has_made_in_this_scenario(tmp_path):
    started = Started(f"sp-record://r{tmp_path}", tmp_path, delta=True)

    assert started.places.of_batch_writer("s3a://lake/spending") == f"sp-record://r{tmp_path}/out/written/lake/spending"
    assert started.table_at("s3a://lake/spending") is None
    commit(tmp_path / "out" / "written" / "lake" / "spending", 0)
    assert started.table_at("s3a://lake/spending") == started.places.of_batch_writer("s3a://lake/spending")


@pytest.mark.parametrize(
    ("form", "delta", "says"),
    [
        ("iceberg", True, "names every file by its whole path"),
        ("delta", False, "--conf spark.jars.packages=io.delta:delta-spark"),
        ("hudi", True, "hudi"),
    ],
)
def test_a_batch_writer_to_what_cannot_be_bound_is_refused_with_the_reason(tmp_path, form, delta, says):
    writer = BoundBatchWriter.__new__(BoundBatchWriter)
    writer._started, writer._format = Started(str(tmp_path), tmp_path, delta=delta), form

    with pytest.raises(ScenarioError, match=says):
        writer.save("/lake/spending")

    assert not list(tmp_path.iterdir())


class Saved(BoundBatchWriter):
    """A batch writer that says where Spark would write."""

    def __init__(self, started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._started, self._format, self._path = started, "parquet", None
        for name in ("format", "option", "save"):
            monkeypatch.setattr(DataFrameWriter, name, lambda _, *given, name=name: self.calls.append((name, *given)))


def test_the_path_of_a_batch_writer_may_be_an_option(tmp_path, monkeypatch):
    started = Started(str(tmp_path), tmp_path, delta=True)
    for give in (
        lambda writer: writer.option("path", "/lake/spending").save(),
        lambda writer: writer.options(Path="/lake/spending").save(),
        lambda writer: writer.save(path="/lake/spending"),
    ):
        writer = Saved(started, monkeypatch)
        give(writer.format("delta").option("mergeSchema", "true"))

        assert writer.calls == [
            ("format", "delta"),
            ("option", "mergeSchema", "true"),
            ("save", started.places.of_batch_writer("/lake/spending"), None, None, None),
        ]


def test_a_batch_writer_without_a_path_is_told_so(tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match="without a path"):
        Saved(Started(str(tmp_path), tmp_path, delta=True), monkeypatch).format("delta").save()


def test_rows_are_not_inserted_into_a_table_of_delta_lake_as_parquet(tmp_path, monkeypatch):
    writer = Saved(Started(str(tmp_path), tmp_path, delta=True), monkeypatch)
    commit(tmp_path / "out" / "written" / "spending", 0)

    with pytest.raises(ScenarioError, match="spending is a table of Delta Lake"):
        writer.insertInto("spending")
    assert writer.calls == []

    writer.insertInto("other")
    assert [call[0] for call in writer.calls] == ["format", "save"]
