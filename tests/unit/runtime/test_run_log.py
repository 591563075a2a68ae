"""What the JVM writes to standard error goes to the log of the run; one that ends at once is an error that says why."""

import logging
import socketserver
import subprocess
import sys

import pytest
from pyspark import SparkContext

from streamproof.errors import EnvironmentProblem
from streamproof.runtime.spark.run_log import open_log, python_side, values_left_out
from streamproof.runtime.spark.session import start_session


@pytest.fixture
def java_that_says(tmp_path, monkeypatch):
    """Lets PySpark start a program that says something on standard error, with its arguments, and ends."""
    program = tmp_path / "spark" / "bin" / "spark-submit"
    program.parent.mkdir(parents=True)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr("streamproof._jvm.jars", lambda **_: [])
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, "x")

    def java_that_says(text: str) -> None:
        program.write_text(f'#!/bin/sh\necho "$@" >&2\necho "{text}" >&2\nexit 1\n')
        program.chmod(0o755)

    return java_that_says


def test_a_jvm_that_ends_at_once_says_why_and_all_it_said_is_in_the_log(java_that_says, tmp_path, capfd):
    java_that_says("Error: Invalid maximum heap size: -Xmx9000t")
    log = open_log(tmp_path)

    with pytest.raises(EnvironmentProblem) as raised:
        start_session("small", {"spark.driver.memory": "9000t"}, log=log)

    assert raised.value.message == "The JVM ended before Spark was there: Error: Invalid maximum heap size: -Xmx9000t"
    assert "spark.driver.memory=9000t" in log.read_text()
    assert "streamproof.log.level=error" in log.read_text()
    assert capfd.readouterr().err == ""


def test_where_nothing_can_be_written_there_is_no_log(tmp_path):
    (tmp_path / ".streamproof").write_text("a file")

    assert open_log(tmp_path) is None


def test_what_py4j_says_of_a_jvm_that_is_gone_is_in_the_log_also_what_comes_after_the_run(tmp_path, capfd):
    """py4j writes its traces to its own loggers and to the root logger; threads of the run say it after the run has."""
    log, py4j = tmp_path / "log", tmp_path / "py4j"
    py4j.mkdir()
    (py4j / "clientserver.py").write_text(
        "import logging\n\ndef breaks(): logging.exception('Exception while sending command.')\n"
        "def late(): logging.getLogger('py4j.clientserver').error('There was an exception.')\n"
    )
    code = f"""
import logging, runpy, sys
from streamproof.errors import JvmGone
from streamproof.runtime.spark.run_log import python_side
library = runpy.run_path({str(py4j / "clientserver.py")!r})
try:
    with python_side(__import__("pathlib").Path({str(log)!r})):
        library["breaks"]()
        logging.error("the user's own")
        raise JvmGone("gone")
except JvmGone:
    pass
library["breaks"]()
library["late"]()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stderr == "ERROR:root:the user's own\n"
    assert log.read_text().count("Exception while sending command.") == 2
    assert "There was an exception." in log.read_text()


def breaks(logger: str) -> None:
    """Logs an error as py4j does where a value cannot be cast."""
    try:
        raise ValueError("[CAST_INVALID_INPUT] The value 'ann@example.org' cannot be cast.")
    except ValueError:
        logging.getLogger(logger).exception("There was an exception while executing the Python Proxy on the Python Side.")


@pytest.mark.parametrize("logger", ["py4j.clientserver", "pyspark.sql"])
def test_the_log_has_no_value_of_a_row(tmp_path, logger):
    log = tmp_path / "log"

    with python_side(log):
        breaks(logger)
        logging.getLogger("opentelemetry.exporter").error("ReadError: 401 of a collector")
        logging.getLogger("openlineage.client.transport.http").error("HTTPError: 400 of a catalogue")

    said = log.read_text()
    assert "ann@example.org" not in said
    assert "ValueError [CAST_INVALID_INPUT]" in said
    assert "ReadError: 401 of a collector" in said
    assert "HTTPError: 400 of a catalogue" in said
    assert f'File "{__file__}", line ' in said


@pytest.mark.parametrize("logger", ["py4j.clientserver", "DataFrameQueryContextLogger"])
def test_in_a_program_of_the_users_the_loggers_of_spark_say_no_value_of_a_row(caplog, logger, monkeypatch):
    monkeypatch.setattr(logging.getLogger(logger), "disabled", False)  # a session of ours disables that of plans
    monkeypatch.setattr(logging.getLogger(logger), "propagate", True)

    with values_left_out():
        breaks(logger)
        logging.getLogger().error("the user's own ValueError: %s", "ann@example.org")

    found = {
        id(one): one for one in caplog.records if one.name in (logger, "root")
    }  # PySpark gives a record to two handlers of pytest
    (record, own) = found.values()
    assert "ann@example.org" not in caplog.handler.format(record)
    assert "ValueError [CAST_INVALID_INPUT]" in record.getMessage()
    assert own.getMessage() == "the user's own ValueError: ann@example.org"
    breaks(logger)
    assert "ann@example.org" in caplog.handler.format([one for one in caplog.records if one.name == logger][-1]), (
        "after the run it is as it was"
    )


def test_what_pysparks_server_for_accumulators_says_of_a_jvm_that_is_gone_is_in_the_log(tmp_path, capfd):
    served = type("AccumulatorServer", (socketserver.BaseServer,), {"__module__": "pyspark.accumulators"})
    others = type("Own", (socketserver.BaseServer,), {"__module__": "job"})
    log = tmp_path / "log"

    with python_side(log):
        for server in (served, others):
            try:
                raise EOFError
            except EOFError:
                server((), None).handle_error(None, "client")  # type: ignore[arg-type]

    assert "AccumulatorServer broke off" in log.read_text()
    assert capfd.readouterr().err.count("Exception occurred during processing of request") == 1
