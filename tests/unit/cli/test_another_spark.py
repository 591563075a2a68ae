"""Before Spark 4.0 a job of ours is refused in one error; plain PySpark jobs are proved on 3.5 to 4.3. No Spark is started."""

import importlib.metadata
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof import _jvm
from streamproof.config import KafkaSource
from streamproof.errors import EnvironmentProblem
from streamproof.runtime.checks import preflight
from streamproof.runtime.spark import connector_jars, environment
from streamproof.runtime.spark.session import (
    ROCKSDB,
    ROCKSDB_EVICTING,
    ROCKSDB_IDENTIFIED,
    slower_state,
    state_stores,
    weaker_state,
)

FOUND = "PySpark 3.5.9 found; a job written with Streamproof needs 4.0, 4.1, 4.2 or 4.3."
REQUIRED = "Plain PySpark jobs are proved on 3.5 to 4.3: streamproof prove file.py:function --input NAME=FILE"
DO = "-m pip install 'pyspark==4.3.*'"


@pytest.fixture
def spark(monkeypatch):
    """Says which PySpark is installed."""
    known = importlib.metadata.version

    def says(version: str) -> None:
        monkeypatch.setattr("importlib.metadata.version", lambda name: version if name == "pyspark" else known(name))

    for module in (preflight, environment):  # in this order: the one takes its name from the other when it is imported
        monkeypatch.setattr(module, "find_java", lambda: environment.Java(17, None))
    return says


@pytest.mark.parametrize(
    "command", [("run", "my_job"), ("run", "my_job", "--json"), ("prove", "my_job"), ("prove", "my_job", "--list")]
)
def test_a_job_of_ours_is_refused_in_one_error(streamproof, my_job, spark, command):
    spark("3.5.9")

    result = streamproof(*command)

    assert result.code == 2
    assert result.out == ""
    first, second, third = result.err.splitlines()
    assert first == f"error  {FOUND}"
    assert second.strip() == REQUIRED
    assert third.strip().endswith(DO)


def test_check_has_one_thing_to_fix_and_does_not_call_the_job_on_it(streamproof, my_job, spark):
    spark("3.5.9")

    result = streamproof("check", "my_job")

    assert result.code == 2
    assert result.out.count("✗") == 1
    for said in (FOUND, REQUIRED, DO, "1 of "):
        assert said in result.out
    assert "job.py:risk_exposure" not in result.out


@pytest.mark.parametrize("call", [sp.run, sp.prove], ids=["sp.run", "sp.prove"])
def test_so_it_is_from_python(my_job, spark, call):
    spark("4.4.0")

    with pytest.raises(EnvironmentProblem) as refused:
        call("my_job")

    assert refused.value.message == "PySpark 4.4.0 found; a job written with Streamproof needs 4.0, 4.1, 4.2 or 4.3."


@pytest.mark.parametrize(
    ("version", "minor"), [("4.0.5", "4.0"), ("4.1.4", "4.1"), ("4.2.1", "4.2"), ("4.3.0", "4.3"), ("3.5.9", "4.0")]
)
def test_the_installed_spark_chooses_the_jar(spark, version, minor):
    spark(version)

    assert _jvm.production_jar().name == f"streamproof-production-{minor}.jar"
    if version != "3.5.9":
        assert environment.find_spark() == version


@pytest.mark.parametrize(("version", "own"), [("4.2.1", False), ("4.3.0", True)])
def test_state_stores_are_ours_where_spark_lets_them_and_it_is_said_where_not(spark, version, own):
    spark(version)

    assert state_stores(real_time=False) == (ROCKSDB_EVICTING if own else ROCKSDB)
    assert state_stores(real_time=True) == ROCKSDB
    said = slower_state(real_time=False)
    assert said is None if own else f"Spark {version} looks at all that is in its state" in str(said)


def test_a_checkpoint_that_names_stores_which_look_at_all_state_keeps_them_under_a_spark_that_takes_ours(spark):
    spark("4.3.0")

    assert "The checkpoint was begun with state stores that look at all that is in them" in str(
        slower_state(ROCKSDB, real_time=False)
    )
    assert slower_state(ROCKSDB_EVICTING, real_time=False) is None
    assert slower_state(None, real_time=False) is None


def test_on_a_spark_whose_state_reader_does_not_find_the_files_the_stores_do(spark):
    spark("4.0.5")
    assert state_stores(real_time=False) == ROCKSDB_IDENTIFIED
    spark("4.1.4")
    assert state_stores(real_time=False) == ROCKSDB


def test_it_is_said_where_spark_has_no_checksums_of_state(spark):
    spark("4.0.5")
    assert "Spark 4.0.5 writes no checksums of the files of its state" in str(weaker_state({}))
    spark("4.1.4")
    assert weaker_state({}) is None


@pytest.mark.parametrize("version", ["3.5.9", "4.0.5", "4.1.0", "4.2.1", "4.3.0"])
def test_plain_jobs_are_proved_on(spark, version):
    spark(version)

    assert environment.find_spark_of_plain_jobs() == version


@pytest.mark.parametrize("version", ["3.4.4", "4.30.0", "5.0.0"])
def test_plain_jobs_are_refused_on(streamproof, tmp_path, spark, version):
    spark(version)
    (tmp_path / "plain.py").write_text("def job(clicks):\n    return clicks\n")

    result = streamproof("prove", "plain.py:job", "--input", "clicks=clicks.jsonl")

    assert result.code == 2
    assert f"PySpark {version} found; plain PySpark jobs are proved on 3.5, 4.0, 4.1, 4.2, 4.3." in result.err
    assert DO in result.err


def test_a_pyspark_that_no_package_manager_knows_says_its_version_itself(monkeypatch):
    def unknown(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", unknown)

    assert environment.is_own_spark(environment.find_spark())


@pytest.mark.parametrize(
    ("version", "bundle"),
    [("4.0.5", "spark-kafka-4.0"), ("4.1.4", "spark-kafka-4.1"), ("4.2.1", "spark-kafka"), ("4.3.0", "spark-kafka")],
)
def test_the_connector_of_kafka_is_that_of_the_installed_spark(spark, monkeypatch, version, bundle):
    spark(version)
    monkeypatch.setattr(connector_jars, "jars_of", lambda name, _: [name])
    topic = KafkaSource(connector="kafka", servers="s:1", topic="t", format="json", schema="id string")
    job = SimpleNamespace(source={"one": topic, "other": topic}, sink={}, table={}, spark={}, resolve=str)

    assert connector_jars.connector_jars(job) == [bundle]
