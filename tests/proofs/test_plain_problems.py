"""What is wrong with a job that was not written for us is one message with the way out, and nothing real is touched."""

import json
from pathlib import Path

import pytest

import streamproof as sp
from streamproof.errors import StreamproofError
from streamproof.prove.subjects.pyspark.preparation import Wanted

pytestmark = [pytest.mark.spark, pytest.mark.proof]

PROBLEMS = {
    "a parameter that nothing is given for": (
        "def job(clicks, users):\n    return clicks\n",
        "needs users, and nothing is given for it",
    ),
    "an input that it never reads": (
        "def job(spark):\n    return spark.readStream.format('rate').load()\n",
        'readStream.format("rate")',
    ),
    "no query": ("def job(clicks):\n    return None\n", "started no query and returned no stream"),
    "a table instead of a stream": ("def job(spark, clicks):\n    return spark.range(3)\n", "is a DataFrame and no stream"),
    "a collect": ("def job(clicks):\n    return clicks.collect()\n", "job.py line 2"),
    "a module that is missing": (
        "import not_there_at_all\ndef job(clicks):\n    return clicks\n",
        "the module not_there_at_all is missing",
    ),
    "an exit": ("import sys\ndef job(clicks):\n    sys.exit(3)\n", "sys.exit(3)"),
    "a batch read of a broker": (
        "def job(spark, clicks):\n    spark.read.format('kafka').option('kafka.bootstrap.servers', 'b:9092').load()\n    return clicks\n",
        'read.format("kafka")',
    ),
    "jdbc": (
        "def job(clicks):\n    clicks.writeStream.foreachBatch(lambda rows, n: rows.write.jdbc('jdbc:postgresql://db/x', 't')).start()\n",
        "write.jdbc",
    ),
    "an error in a batch": (
        "def write(rows, n):\n    raise KeyError('rate')\ndef job(clicks):\n    clicks.writeStream.foreachBatch(write).start()\n",
        "job.py line 2, in write: KeyError: 'rate'",
    ),
    "a statement that writes": (
        "def job(spark, clicks):\n    spark.sql('DROP TABLE orders')\n    return clicks\n",
        "sql(DROP TABLE orders ...)",
    ),
    "a trigger without batches": (
        "def job(clicks):\n    clicks.writeStream.trigger(continuous='1 second').format('console').start()\n",
        "a trigger without micro-batches",
    ),
}


def proved(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> sp.Proof:
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    monkeypatch.chdir(folder)
    wanted = Wanted("job.py:job", {"clicks": "clicks.jsonl"}, as_is=True)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=2, only="commit/*")


@pytest.mark.parametrize(("code", "said"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_problem_is_said(code, said, tmp_path, monkeypatch):
    with pytest.raises(StreamproofError) as problem:
        proved(code, tmp_path, monkeypatch)

    assert said in str(problem.value)
    assert "Traceback" not in str(problem.value)


def test_a_job_that_goes_on_for_ever_is_proved_once_its_queries_are_done(tmp_path, monkeypatch):
    code = (
        "import time\ndef job(clicks):\n    clicks.writeStream.format('console').start()\n    while True:\n        time.sleep(1)\n"
    )

    proof = proved(code, tmp_path, monkeypatch)

    assert proof.verdict == "pass", proof
