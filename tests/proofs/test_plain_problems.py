"""What is wrong with a job that was not written for us is one message with the way out, and nothing real is touched."""

import json
from pathlib import Path
from typing import Any

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
    "what Spark does not stream": (
        "from pyspark.sql import functions as F\ndef job(clicks):\n    return clicks.withColumn('n', F.monotonically_increasing_id())\n",
        "monotonically_increasing_id",
    ),
    "a stream of what another query writes": (
        "def job(spark, clicks):\n"
        "    clicks.writeStream.format('parquet').option('path', '/lake/bronze').start()\n"
        "    spark.readStream.schema('id long').parquet('/lake/bronze').writeStream.format('console').start()\n",
        "Prove each query by itself",
    ),
    "a relative import": (
        "from .helpers import loud\ndef job(clicks):\n    return clicks\n",
        "job.py line 1",
    ),
    "a setting that no running Spark takes": (
        "def job(spark, clicks):\n    spark.conf.set('spark.sql.warehouse.dir', '/data')\n    return clicks\n",
        "job.py line 2, in job: AnalysisException: [CANNOT_MODIFY_STATIC_CONFIG]",
    ),
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
    "a query without a checkpoint, where Spark wants one": (
        "def job(clicks):\n    clicks.writeStream.format('parquet').option('path', '/lake/bronze').start()\n",
        "has no checkpoint: Spark does not start it",
    ),
    "a trigger without batches": (
        "def job(clicks):\n    clicks.writeStream.trigger(continuous='1 second').format('console').start()\n",
        "a trigger without micro-batches",
    ),
}


def proved(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, function: str = "job", only: str = "*commit/*", **given: Any
) -> sp.Proof:  # type: ignore[name-defined]
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    monkeypatch.chdir(folder)
    wanted = Wanted(f"job.py:{function}", {"clicks": "clicks.jsonl"}, as_is=True, **given)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=2, only=only)


@pytest.mark.parametrize(("code", "said"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_problem_is_said(code, said, tmp_path, monkeypatch):
    with pytest.raises(StreamproofError) as problem:
        proved(code, tmp_path, monkeypatch)

    assert said in str(problem.value)
    assert "Traceback" not in str(problem.value)


PROGRAM = """
import os, sqlite3, time

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from helpers import loud


def main():
    spark = SparkSession(SparkContext(conf=SparkConf().setAppName("clicks").setMaster("yarn")))
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    spark.sql("SET spark.sql.shuffle.partitions=300")
    store = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", store)
    clicks = spark.readStream.schema("id long, user string").json("/data/clicks")
    files = clicks.select("id", F.udf(loud)("user").alias("user"), F.input_file_name().alias("file"))
    files.writeStream.format("parquet").option("path", "/lake/files").option("checkpointLocation", "checkpoint").start()
    firsts = clicks.repartition(4).groupBy("user").agg(F.first("id").alias("first"), F.collect_list("id").alias("all"))
    firsts.writeStream.outputMode("update").format("console").option("checkpointLocation", "checkpoint-of-firsts").start()

    def keep(rows, batch):
        rows.write.mode("overwrite").parquet("/lake/newest")
        found = spark.read.parquet("/lake/newest").collect()
        with sqlite3.connect(os.environ["DATABASE"]) as database:
            database.execute("CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, clicks INTEGER)")
            database.execute("INSERT OR REPLACE INTO batches VALUES (?, ?)", (batch, len(found)))

    clicks.writeStream.foreachBatch(keep).queryName("kept").option("checkpointLocation", "/lake/checkpoints/kept").start()
    while True:
        time.sleep(1)


def batches():
    with sqlite3.connect(os.environ["DATABASE"]) as database:
        return list(database.execute("SELECT number, clicks FROM batches"))
"""


def test_a_program_with_all_that_a_program_may_do_is_proved_as_it_stands(tmp_path, monkeypatch):
    """Several queries, a context and settings of its own, a module beside it, rows collected, rows read back, a checkpoint, and no end."""
    (tmp_path / "helpers.py").write_text("def loud(text):\n    return text.upper()\n")
    of_another_spark = tmp_path / "checkpoint" / "offsets" / "0"
    of_another_spark.parent.mkdir(parents=True)
    of_another_spark.write_text("v9\n{}\n{}")
    given = {"environment": {"DATABASE": "{folder}/batches.db"}, "readers": ("batches=job:batches",)}

    proof = proved(PROGRAM, tmp_path, monkeypatch, function="main", only="kept:*commit/*", **given)

    assert proof.verdict == "pass", proof
    assert {output["name"]: output["rows"] for output in proof.report["outputs"]} == {
        "files": 30,
        "out": 6,
        "lake/newest": 15,
        "batches": 2,
    }
    assert proof.report["note_codes"].count("setting-left-out") == 1
    assert [path.name for path in (tmp_path / "checkpoint").rglob("*")] == ["offsets", "0"]
    assert of_another_spark.read_text() == "v9\n{}\n{}"


@pytest.mark.full
def test_what_a_job_keeps_in_a_global_is_named_where_a_crash_takes_it(tmp_path, monkeypatch):
    code = (
        "totals = {}\n"
        "def write(rows, n):\n"
        "    for row in rows.groupBy('user').count().collect():\n"
        "        totals[row['user']] = totals.get(row['user'], 0) + row['count']\n"
        "    spark = rows.sparkSession\n"
        "    spark.createDataFrame(list(totals.items()), 'user string, clicks long').write.mode('overwrite').parquet('/lake/totals')\n"
        "def job(clicks):\n"
        "    clicks.writeStream.foreachBatch(write).option('checkpointLocation', '/lake/cp').start()\n"
    )

    proof = proved(code, tmp_path, monkeypatch)

    assert proof.verdict == "fail", proof
    (finding, *_) = [found for one in proof.failures for check in one["checks"] for found in check["findings"]]
    assert finding["code"] == "other-value"
    assert "job.py line 4 keeps totals in the memory of the process" in finding["how"]
