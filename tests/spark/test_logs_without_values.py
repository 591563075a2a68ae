"""A run whose cast fails on somebody's address: no log, no event and no line on the screen has it, in either form; class, condition and place stay."""

import json
import subprocess
import sys

import pytest

from full_tables import full
from spark.small_job import Binding, event
from streamproof.core.log_lines import KEYS, OF_THE_JVM

ONE = Binding(sinks={"kept": "parquet"})
VALUE = "ann@example.org"
CAST = """
def numbered(rows):
    return rows.withColumn("n", F.col("client").cast("int"))


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(numbered))
"""
RAISED = CAST.replace('F.col("client").cast("int")', 'F.raise_error(F.concat(F.lit("no rate for "), F.col("client")))')
PYTHON = CAST.replace('F.col("client").cast("int")', 'number("client")').replace(
    "def numbered", '@F.udf("int")\ndef number(client):\n    return int(client)\n\n\ndef numbered'
)


def run_of(job, *options: str) -> tuple[str, str, str]:
    """What a run in a process of its own says: on standard output, on standard error, and in its log."""
    job.feed([event("e1", 1, client=VALUE)])
    ended = subprocess.run(
        [sys.executable, "-m", "streamproof", "run", str(job.folder), "--events", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    (log,) = (job.folder / ".streamproof" / "logs").iterdir()
    return ended.stdout, ended.stderr, log.read_text()


@pytest.mark.parametrize(
    ("text", "called", "place"),
    [
        pytest.param(PYTHON, "ValueError", 'job.py", line 9, in number', id="python"),
        *full(pytest.param(CAST, "CAST_INVALID_INPUT", "job.py:8", id="cast")),
    ],
)
def test_no_value_of_a_row_reaches_a_log(text, called, place, small_job):
    said, shown, log = run_of(small_job(text, ONE))

    assert VALUE not in said + shown + log
    assert f"The query stopped: {called} in " in shown
    assert called in log
    assert place in log
    assert "ERROR py4j.clientserver: " in log
    assert "ERROR MicroBatchExecution: Query small.kept" in log
    assert "\tat org.apache.spark" in log


def test_as_json_each_line_of_spark_of_py4j_and_of_the_run_has_the_same_keys(small_job):
    said, shown, log = run_of(small_job(RAISED, ONE), "--log-format", "json")

    assert VALUE not in said + shown + log
    lines, logged = ([json.loads(line) for line in text.splitlines() if line.startswith("{")] for text in (shown, log))
    assert len(lines) == len(shown.splitlines()), shown
    assert all(tuple(line) == KEYS for line in lines)
    assert {tuple(line) for line in logged} == {KEYS, OF_THE_JVM}, "of Python, and of the JVM"
    assert {"py4j.clientserver", "org.apache.spark.executor.Executor"} <= {line["logger"] for line in logged}
    (of_executor,) = (line for line in logged if line["logger"] == "org.apache.spark.executor.Executor")
    assert of_executor["level"] == "ERROR"
    assert of_executor["time"].endswith("Z")
    assert "SparkRuntimeException [USER_RAISED_EXCEPTION]\n\tat " in of_executor["message"]
    last = lines[-1]
    assert (last["level"], last["job"], last["query"], last["batch"], last["code"]) == ("ERROR", "small", "kept", 0, "error")
    assert last["message"] == "The query stopped: USER_RAISED_EXCEPTION."
    assert last["failure"]["reads"][0]["of_files"] == 1
