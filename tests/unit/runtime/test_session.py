"""The settings of a Spark process: a job's own win, but its jars, class path and Java options stand beside ours."""

import locale
import os
import sys
from pathlib import Path

import pytest

from streamproof.runtime.spark.session import (
    ROCKSDB,
    ROCKSDB_EVICTING,
    STATE_STORES,
    names_in_utf8,
    process_settings,
    settings_of_query,
    weaker_state,
)


def test_a_jobs_own_setting_wins():
    settings = process_settings({"spark.sql.shuffle.partitions": "8", "spark.executor.memory": "2g"}, ["ours.jar"])

    assert settings["spark.sql.shuffle.partitions"] == "8"
    assert settings["spark.executor.memory"] == "2g"


def test_what_the_jvm_logs_is_configured_by_a_file_that_is_there():
    """Without it the JVM falls back to a configuration of its own, and says so on every start."""
    (option,) = process_settings({}, [])["spark.driver.extraJavaOptions"].split()

    assert Path(option.removeprefix("-Dlog4j2.configurationFile=")).is_file()


def test_jars_class_path_and_java_options_of_a_job_stand_beside_ours():
    own = {"spark.jars": "theirs.jar", "spark.driver.extraClassPath": "theirs", "spark.driver.extraJavaOptions": "-Dtheirs=1"}

    settings = process_settings(own, ["one.jar", "two.jar"], "-Dproof=1")

    assert settings["spark.jars"] == "one.jar,two.jar,theirs.jar"
    assert settings["spark.driver.extraClassPath"] == os.pathsep.join(["one.jar", "two.jar", "theirs"])
    assert settings["spark.driver.extraJavaOptions"].split()[1:] == ["-Dproof=1", "-Dtheirs=1"]


def test_without_a_jobs_own_there_is_no_empty_entry():
    assert process_settings({}, ["ours.jar"])["spark.jars"] == "ours.jar"


def test_on_one_machine_files_are_made_without_child_processes():
    key = "spark.hadoop.fs.file.impl"

    assert "Forkless" in process_settings({"spark.master": "local[2]"}, [])[key]
    assert process_settings({"spark.master": "local[2]", key: "own"}, [])[key] == "own"
    assert key not in process_settings({"spark.master": "yarn"}, []), "executors may need it before they have our jar"
    assert key not in process_settings({}, [])


def test_a_query_takes_only_the_sql_settings_of_its_job():
    settings = settings_of_query({"spark.sql.ansi.enabled": "false", "spark.executor.memory": "2g"})

    assert settings["spark.sql.ansi.enabled"] == "false"
    assert "spark.executor.memory" not in settings
    assert settings["spark.sql.session.timeZone"] == "UTC"


def test_state_stores_are_those_that_are_asked_for_unless_the_job_has_its_own():
    assert settings_of_query({})[STATE_STORES] == ROCKSDB
    assert settings_of_query({}, ROCKSDB_EVICTING)[STATE_STORES] == ROCKSDB_EVICTING
    assert settings_of_query({STATE_STORES: "theirs"}, ROCKSDB_EVICTING)[STATE_STORES] == "theirs"


def test_r21_checkpoint_format_1_is_said_to_be_weaker():
    assert weaker_state({}) is None
    assert "format 1" in (weaker_state({"spark.sql.streaming.stateStore.checkpointFormatVersion": "1"}) or "")


@pytest.mark.parametrize(
    ("encoding", "before", "during"),
    [
        ("UTF-8", None, None),
        ("utf8", "de_DE.UTF-8", "de_DE.UTF-8"),
        ("ANSI_X3.4-1968", None, "C.UTF-8"),
        ("ISO-8859-1", "C", "C.UTF-8"),
    ],
)
def test_the_jvm_reads_names_of_files_as_utf8_whatever_the_locale(monkeypatch, encoding, before, during):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(locale, "getencoding", lambda: encoding)
    monkeypatch.delenv("LC_ALL", raising=False)
    if before is not None:
        monkeypatch.setenv("LC_ALL", before)

    with names_in_utf8():
        assert os.environ.get("LC_ALL") == during

    assert os.environ.get("LC_ALL") == before
