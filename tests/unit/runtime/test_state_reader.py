"""Whether the installed Spark can read a state is said before it is read, and why it could not afterwards."""

import json
import shutil

import pytest

from streamproof import _jvm
from streamproof.checkpoint.inspection import FORMAT, STORES, inspect_checkpoint
from streamproof.errors import ConfigurationError, DiskFull, EnvironmentProblem, TornCheckpoint
from streamproof.runtime.spark.session import ROCKSDB, ROCKSDB_IDENTIFIED
from streamproof.runtime.spark.state_reader import (
    in_a_line,
    require_no_newer_spark,
    require_state_reader,
    stores_that_read,
    why_unreadable,
    written_by,
)
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of


@pytest.fixture
def installed(monkeypatch):
    def set_to(version):
        monkeypatch.setattr("streamproof._jvm.versions.installed_spark", lambda: version)
        monkeypatch.setattr(_jvm, "installed_spark", lambda: version)

    return set_to


def knows_nothing(_):
    return False


def said(found, *causes, condition=None, batch=None):
    return why_unreadable(found, found.operators[0], batch, causes, condition)


def test_spark_3_5_has_no_reader_and_says_so(installed):
    installed("3.5.9")
    found = inspect_checkpoint(WINDOWS)

    with pytest.raises(EnvironmentProblem, match=r"PySpark 3\.5\.9 cannot read state: Spark has a reader for it since 4\.0"):
        require_state_reader(found, found.operators[0])


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN, VARIABLES], ids=lambda path: path.name)
def test_a_partition_that_is_gone_is_said_before_spark_starts(checkpoint, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    shutil.rmtree(copy / "state" / "0" / "1")
    found = inspect_checkpoint(copy)

    with pytest.raises(TornCheckpoint, match="partition 1 of operator 0 is not there"):
        require_state_reader(found, found.operators[0])


def test_files_of_another_kind_of_store_are_not_passed_over(tmp_path):
    """HDFS-backed, with files beside its own that look like RocksDB's: Spark's reader would see as much as is left of its own."""
    copy = copy_of(JOIN, tmp_path)
    store = copy / "state" / "0" / "1" / "left-keyWithIndexToValue"
    shutil.copy(WINDOWS / "state" / "0" / "0" / "5.zip", store / "5.zip")
    before = contents(copy)
    found = inspect_checkpoint(copy)

    with pytest.raises(TornCheckpoint, match=r"5\.zip is a file of another kind of state store than HDFSBackedStateStoreProvider"):
        require_state_reader(found, found.operators[0])
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("spark", "settings", "wrote"),
    [
        ("4.2.1", dict.fromkeys((*_jvm.versions.PINNED_SINCE["4.3"], *_jvm.versions.PINNED_SINCE["4.2"]), "x"), "4.3"),
        ("4.1.4", dict.fromkeys(_jvm.versions.PINNED_SINCE["4.2"], "x"), "4.2"),
        ("4.0.5", {FORMAT: "1"}, "4.1"),
    ],
)
def test_a_newer_spark_than_the_installed_one_is_named(spark, settings, wrote, installed, tmp_path):
    installed(spark)
    found = inspect_checkpoint(_with_settings(tmp_path, settings))

    with pytest.raises(EnvironmentProblem, match=rf"Spark {wrote} or later has written .*, and PySpark {spark} is installed"):
        require_no_newer_spark(found, knows_nothing)


def test_what_an_older_or_the_same_spark_has_written_is_read(installed, tmp_path):
    installed("4.3.0")

    require_no_newer_spark(inspect_checkpoint(_with_settings(tmp_path, {})), knows_nothing)
    require_no_newer_spark(inspect_checkpoint(WINDOWS), knows_nothing)
    assert written_by(inspect_checkpoint(WINDOWS), "4.3.0", knows_nothing) == "4.3"


def test_a_job_of_ours_says_it_in_its_manifests(installed, tmp_path):
    installed("4.0.5")
    found = inspect_checkpoint(OURS)

    assert written_by(found, "4.0.5", knows_nothing) >= "4.1"


@pytest.mark.parametrize(
    ("spark", "checkpoint", "stores"),
    [
        ("4.3.0", WINDOWS, ""),
        ("4.3.0", OURS, ROCKSDB),
        ("4.0.5", WINDOWS, ""),
        ("4.0.5", VARIABLES, ROCKSDB_IDENTIFIED),
    ],
    ids=["newest", "ours", "format 1 on 4.0", "format 2 on 4.0"],
)
def test_the_class_that_reads(spark, checkpoint, stores, installed):
    installed(spark)

    assert stores_that_read(inspect_checkpoint(checkpoint)) == stores


def test_a_full_disk_is_not_taken_for_a_torn_file():
    found = inspect_checkpoint(WINDOWS)

    problem = said(found, "org.apache.spark.SparkException: Job aborted", "java.io.IOException: No space left on device")

    assert isinstance(problem, DiskFull)
    assert "SPARK_LOCAL_DIRS" in str(problem)


def test_a_condition_that_a_row_does_not_go_with_is_not_taken_for_a_torn_file():
    cause = (
        "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'c1' of the type \"STRING\" cannot be cast. "
        "SQLSTATE: 22018"
    )

    problem = said(inspect_checkpoint(WINDOWS), cause, condition="CAST(client AS INT) = 1")

    assert isinstance(problem, ConfigurationError)
    assert "The condition \"CAST(client AS INT) = 1\" does not go with a row: The value 'c1'" in str(problem)
    assert isinstance(said(inspect_checkpoint(WINDOWS), cause), TornCheckpoint)


def test_a_class_of_state_stores_that_is_not_there_is_named():
    cause = "java.lang.ClassNotFoundException: com.databricks.sql.streaming.state.RocksDBStateStoreProvider"

    problem = said(inspect_checkpoint(WINDOWS), cause)

    assert isinstance(problem, EnvironmentProblem)
    assert "com.databricks.sql.streaming.state.RocksDBStateStoreProvider, a class that is not here" in str(problem)


def test_a_driver_that_wrote_meanwhile_is_named(tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    found = inspect_checkpoint(copy)
    cause = "java.io.FileNotFoundException: File state/0/0/5.zip does not exist"
    assert "--verify" in str(said(found, cause))

    shutil.copy(copy / "offsets" / "4", copy / "offsets" / "5")

    assert "A driver has written to this checkpoint while it was read" in str(said(found, cause))


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        (
            "org.apache.spark.sql.catalyst.parser.ParseException: \n[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. "
            "SQLSTATE: 42601 (line 1, pos 5)\n\n== SQL ==\nkey =\n-----^^^\n",
            "Syntax error at or near end of input. (line 1, pos 5)",
        ),
        ("java.io.FileNotFoundException: File file:/a does not exist", "File file:/a does not exist"),
        ("", "no reason given"),
    ],
)
def test_a_cause_in_a_line(cause, line):
    assert in_a_line(cause) == line


def _with_settings(folder, settings):
    """A checkpoint of 3.5, whose offset log names neither format nor what later versions have, with more settings."""
    copy = copy_of(JOIN, folder)
    newer = {FORMAT, *(key for keys in _jvm.versions.PINNED_SINCE.values() for key in keys)}
    for log in (copy / "offsets").iterdir():
        version, metadata, *sources = log.read_text().split("\n")
        written = json.loads(metadata)
        written["conf"] = {key: value for key, value in written["conf"].items() if key not in newer} | settings
        assert STORES in written["conf"]
        log.write_text("\n".join([version, json.dumps(written), *sources]))
    return copy
