"""A checkpoint that Spark's state reader would not read, or would misread, is read by links with other files in their places."""

import json

import pytest

from streamproof.checkpoint.inspection import STORES, inspect_checkpoint
from streamproof.checkpoint.view import scratch, view_of
from streamproof.errors import DiskFull
from unit.checkpoint.written import OURS, VARIABLES, WINDOWS, contents, copy_of
from versions.stored import unpacked

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def test_one_that_spark_reads_is_read_in_its_place(tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)

    assert view_of(inspect_checkpoint(checkpoint), 4, ROCKSDB, tmp_path / "links") == checkpoint
    assert not (tmp_path / "links").exists()


def test_one_that_was_copied_is_linked_and_its_metadata_name_the_present_place(tmp_path):
    checkpoint = copy_of(VARIABLES, tmp_path)
    before = contents(checkpoint)

    links = view_of(inspect_checkpoint(checkpoint), 4, "", tmp_path / "links")

    (metadata,) = (links / "state" / "0" / "_metadata" / "v2").iterdir()
    (schema,) = (checkpoint / "state" / "0" / "_stateSchema" / "default").iterdir()
    assert f'"file:{links}/state/0/_stateSchema/default/{schema.name}"' in metadata.read_text()
    assert "/data/" not in metadata.read_text()
    assert (links / "state" / "0" / "_stateSchema" / "default" / schema.name).read_bytes() == schema.read_bytes()
    assert (links / "offsets" / "4").read_text() == (checkpoint / "offsets" / "4").read_text()
    assert contents(checkpoint) == before


def test_the_class_that_reads_stands_in_the_place_of_ours(tmp_path):
    checkpoint = copy_of(OURS / "checkpoint" / "sums", tmp_path)
    before = contents(checkpoint)
    found = inspect_checkpoint(checkpoint)
    assert found.settings[STORES].startswith("io.streamproof.")

    links = view_of(found, 3, ROCKSDB, tmp_path / "links")

    version, metadata, *sources = (links / "offsets" / "3").read_text().split("\n")
    was_version, was, *was_sources = (checkpoint / "offsets" / "3").read_text().split("\n")
    assert (version, sources) == (was_version, was_sources)
    assert json.loads(metadata)["conf"] == {**json.loads(was)["conf"], STORES: ROCKSDB}
    assert (links / "offsets" / "2").is_symlink()
    assert (links / "state").resolve() == checkpoint / "state"
    assert contents(checkpoint) == before


def test_session_windows_of_an_older_spark_get_the_columns_that_rows_are_found_by(tmp_path):
    """Without them the reader takes the first bytes of each key for something else."""
    checkpoint = unpacked("3.5", "sessions", "rocksdb", tmp_path)
    before = contents(checkpoint)

    links = view_of(inspect_checkpoint(checkpoint), 2, "", tmp_path / "links")

    metadata = (links / "state" / "0" / "_metadata" / "metadata").read_text()
    assert json.loads(metadata.removeprefix("v1\n")) == {
        "operatorInfo": {"operatorId": 0, "operatorName": "sessionWindowStateStoreSaveExec"},
        "stateStoreInfo": [{"storeName": "default", "numColsPrefixKey": 1, "numPartitions": 2}],
    }
    assert (links / "state" / "0" / "1").resolve() == checkpoint / "state" / "0" / "1"
    assert contents(checkpoint) == before


def test_a_full_disk_is_said_as_one(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("streamproof.checkpoint.view.TemporaryDirectory", full)

    with pytest.raises(DiskFull, match="temporary files are on"), scratch():
        pass


def test_a_disk_that_is_full_by_the_time_of_the_links_is_said_as_one():
    def links():
        with scratch():
            raise OSError(28, "No space left on device")

    with pytest.raises(DiskFull):
        links()
