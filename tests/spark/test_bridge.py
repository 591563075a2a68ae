"""The bridge to the JVM, and the guard of its Python workers."""

import pytest
from pyspark.sql import functions as F

from streamproof import _jvm
from streamproof.errors import EnvironmentProblem
from streamproof.prove.process import guard
from streamproof.prove.process.engine import Engine
from streamproof.prove.process.spark_settings import PLAIN


def test_a_java_class_that_is_not_there_is_a_problem_of_the_session(spark):
    with pytest.raises(EnvironmentProblem, match="does not have Streamproof's Java classes") as error:
        _jvm.java_class(spark, "NoSuchClass")
    assert _jvm.production_jar().name in error.value.required


@pytest.mark.parametrize(("allowed", "refused"), [((), True), (("192.0.2.1",), False)])
def test_a_python_function_of_the_job_reaches_allowed_hosts_only(spark, allowed, refused):
    """192.0.2.1 is nobody's address: who may try waits in vain, or is told that there is no way."""

    @F.udf("string")
    def connected(_: int) -> str:
        import socket

        made = socket.socket()
        made.settimeout(0.01)
        try:
            made.connect(("192.0.2.1", 9))
        except Exception as problem:  # noqa: BLE001 -- its name is what is asked for
            return type(problem).__name__
        return "connected"

    guard.allow_in_workers(spark.sparkContext, guard.Limits(hosts=allowed))
    try:
        (row,) = spark.range(1).select(connected("id").alias("said")).collect()
    finally:
        guard.release_workers(spark.sparkContext)

    assert (row.said == "HostRefused") is refused, row.said


def test_a_proof_leaves_the_session_that_it_found_as_it_was(spark, connectors):
    def seen():
        return dict(spark._jsparkSession.sessionState().conf().settings()), dict(spark.sparkContext.environment)

    before = seen()

    engine = Engine("another", {"spark.sql.timestampType": "TIMESTAMP_NTZ"}, jars=connectors, kind=PLAIN)
    engine.keep(guard.Limits(hosts=("192.0.2.1",)))
    during, _ = seen()
    engine.release()

    assert during["spark.sql.timestampType"] == "TIMESTAMP_NTZ"
    assert seen() == before


def test_spark_shows_the_name_that_was_given(spark):
    assert spark.sparkContext.appName == "tests"
