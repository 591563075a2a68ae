"""What is wrong with a job that was not written for us is one message with the way out, and nothing real is touched."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from full_tables import beyond
from streamproof.errors import StreamproofError
from streamproof.prove.events import Event, Recorded
from streamproof.prove.subjects.pyspark.preparation import Wanted

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
        "    clicks.writeStream.format('parquet').option('path', '/lake/bronze').option('checkpointLocation', '/progress/bronze').start()\n"
        "    spark.readStream.schema('id long').parquet('/lake/bronze').writeStream.format('console').option('checkpointLocation', '/p/shown').start()\n",
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
    code: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str = "job",
    only: str = "*commit/*",
    listener: Callable[[Event], None] | None = None,
    **given: Any,
) -> sp.Proof:  # type: ignore[name-defined]
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    monkeypatch.chdir(folder)
    wanted = Wanted(f"job.py:{function}", {"clicks": "clicks.jsonl"}, as_is=True, **given)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=2, only=only, listener=listener)


@pytest.mark.parametrize(("code", "said"), beyond(8, PROBLEMS.values()), ids=PROBLEMS.keys())
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


@pytest.mark.full
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


APPENDS = """
def job(clicks, path="/data/clicks.csv"):
    lines = clicks.writeStream.foreachBatch(lambda rows, n: rows.toPandas().to_csv(path, mode="a", header=False))
    lines.queryName("lines").option("checkpointLocation", "/p/lines").start()
    lake = clicks.writeStream.foreachBatch(lambda rows, n: rows.write.mode("overwrite").json(f"/lake/clicks/batch={n}"))
    lake.queryName("lake").option("checkpointLocation", "/p/lake").start()
"""


def test_what_nobody_reads_back_is_unknown_by_name_with_the_whole_way_out(tmp_path, monkeypatch):
    """It appends what it gets once more after each crash, to a file of its own: nothing that was looked at is wrong."""
    proof = proved(APPENDS, tmp_path, monkeypatch, only="lines:commit/commits@1:before*", arguments={"path": "{folder}/clicks.csv"})

    assert proof.verdict == "unknown", proof
    (remark,) = proof.report["not_exercised"]
    assert (remark["code"], remark["name"], remark["add"]) == ("output-not-read", "lines", "--read lines=job:read_lines")
    assert [output["name"] for output in proof.report["outputs"]] == ["lake/clicks"]
    assert {scenario["verdict"] for scenario in proof.report["scenarios"]} == {"unknown"}


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


@pytest.mark.full
def test_a_column_that_differs_on_purpose_is_offered_to_be_left_out_and_then_the_job_is_proved(tmp_path, monkeypatch):
    (tmp_path / "bronze.py").write_text(
        "from pyspark.sql import functions as F\n\n\ndef stamped(rows):\n    return rows.withColumn('loaded_at', F.current_timestamp())\n"
    )
    code = "from bronze import stamped\n\n\ndef job(clicks):\n    return stamped(clicks)\n"

    found = proved(code, tmp_path, monkeypatch)

    (finding,) = found.report["scenarios"][0]["checks"][0]["findings"]
    assert finding["code"] == "depends-on-wall-clock"
    assert "bronze.py line 5" in finding["how"]
    assert finding["how"].endswith("--ignore out.loaded_at")

    proof = proved(code, tmp_path, monkeypatch, ignore=("out.loaded_at",), only="*commit/*@1*")

    assert proof.verdict == "pass", proof
    assert any(one["name"] == "column out.loaded_at" for one in proof.report["not_checked"])
    assert "--ignore out.loaded_at" in proof.report["scenarios"][-1]["replay"]


BUSY = """
from pathlib import Path
from pyspark.errors import PySparkRuntimeError


def keep(rows, n):
    busy = Path(__file__).parent / "busy"
    if busy.exists():
        busy.unlink()
        raise PySparkRuntimeError("[CANNOT_OPEN_SOCKET] Can not open socket: timed out")
    rows.write.mode("overwrite").parquet(f"/lake/{n}")


def job(clicks):
    clicks.writeStream.foreachBatch(keep).option("checkpointLocation", "/progress/kept").start()
"""


@pytest.mark.full
def test_a_machine_that_was_too_busy_for_a_moment_costs_a_second_run_and_no_verdict(tmp_path, monkeypatch):
    def busy(event: Event) -> None:
        if isinstance(event, Recorded):
            (tmp_path / "busy").touch()

    proof = proved(BUSY, tmp_path, monkeypatch, only="*commit/*@1:before*", listener=busy)

    assert not (tmp_path / "busy").exists(), "it was met"
    assert proof.verdict == "pass", proof
