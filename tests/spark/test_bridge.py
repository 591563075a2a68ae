"""The bridge to the JVM, and the guard of its Python workers."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F

from streamproof import _jvm
from streamproof.errors import EnvironmentProblem
from streamproof.prove.process import guard

pytestmark = pytest.mark.spark


def test_a_java_class_that_is_not_there_is_a_problem_of_the_session(spark):
    with pytest.raises(EnvironmentProblem, match="does not have Streamproof's Java classes") as error:
        _jvm.java_class(spark, "NoSuchClass")
    assert _jvm.PRODUCTION_JAR.name in error.value.required


def test_the_jvm_of_a_proof_looks_once_for_a_class_that_is_not_there(spark, tmp_path: Path):
    java: Any = spark._jvm
    kind, name = java.io.streamproof.proof.RememberingClassLoader, "io.streamproof.LongText"
    assert java.java.lang.ClassLoader.getSystemClassLoader().getClass().getName() == kind._fqn
    urls = spark.sparkContext._gateway.new_array(java.java.net.URL, 1)
    urls[0] = java.java.io.File(str(tmp_path)).toURI().toURL()
    folder = java.java.net.URLClassLoader(urls, None)
    loader = kind(folder)
    with pytest.raises(Py4JJavaError, match="ClassNotFoundException"):
        loader.loadClass(name)
    with ZipFile(_jvm.PRODUCTION_JAR) as jar:
        jar.extract(f"{name.replace('.', '/')}.class", tmp_path)

    assert kind(folder).loadClass(name).getName() == name
    with pytest.raises(Py4JJavaError, match="ClassNotFoundException"):
        loader.loadClass(name)


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

    guard.allow_in_workers(spark.sparkContext, allowed)
    try:
        (row,) = spark.range(1).select(connected("id").alias("said")).collect()
    finally:
        guard.allow_in_workers(spark.sparkContext, ())

    assert (row.said == "HostRefused") is refused, row.said


def test_spark_shows_the_name_that_was_given(spark):
    assert spark.sparkContext.appName == "tests"
