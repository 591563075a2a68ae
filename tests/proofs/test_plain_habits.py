"""What public jobs do, and a proof once did not know: each works, or is refused in one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from streamproof.errors import StreamproofError
from streamproof.prove.subjects.pyspark.preparation import Wanted

WORKS = {
    "await a second, then stop": (
        "def job(clicks):\n"
        "    query = clicks.writeStream.format('parquet').option('path', '/lake/rows').option('checkpointLocation', '/lake/progress').start()\n"
        "    query.awaitTermination(1)\n"
        "    query.stop()\n",
        30,
    ),
    "a function that stops its own query": (
        "def job(spark, clicks):\n"
        "    def write(rows, n):\n"
        "        rows.write.mode('append').parquet('/lake/rows')\n"
        "        for query in spark.streams.active:\n"
        "            query.stop()\n"
        "    clicks.writeStream.foreachBatch(write).option('checkpointLocation', '/lake/progress').start().awaitTermination(5)\n",
        30,
    ),
    "the schema of the input's own folder": (
        "def job(spark):\n"
        "    schema = spark.read.json('/landing/in/*.json').schema\n"
        "    stream = spark.readStream.schema(schema).json('/landing/in')\n"
        "    stream.writeStream.format('parquet').option('path', '/lake/rows').option('checkpointLocation', '/lake/progress').start()\n",
        30,
    ),
    "lines, taken apart by from_json": (
        "from pyspark.sql import functions as F\n"
        "def job(spark):\n"
        "    lines = spark.readStream.text('/landing/clicks')\n"
        "    rows = lines.select(F.from_json('value', 'id int, user string').alias('row')).select('row.*')\n"
        "    rows.writeStream.format('parquet').option('path', '/lake/rows').option('checkpointLocation', '/lake/progress').start()\n",
        30,
    ),
    "a memory sink that is read": (
        "def job(spark, clicks):\n"
        "    clicks.groupBy('user').count().writeStream.format('memory').queryName('per_user').outputMode('complete')"
        ".option('checkpointLocation', '/p').start()\n"
        "    found = spark.sql('select sum(p.count) as n, count(*) as users from per_user p').first()\n"
        "    assert (found.n, found.users) == (30, 3), found\n"
        "    assert spark.table('per_user').count() == 3\n",
        6,
    ),
    "a table that is read": (
        "def job(spark, clicks):\n"
        "    clicks.writeStream.option('checkpointLocation', '/lake/progress').toTable('shop.rows').awaitTermination()\n"
        "    assert spark.sql('select max(shop.rows.id) from shop.rows').first()[0] == 29\n"
        "    assert spark.read.table('shop.rows').columns == ['id', 'user']\n",
        30,
    ),
    "buckets": (
        "def write(rows, n):\n"
        "    rows.write.mode('append').bucketBy(4, 'id').sortBy('id').saveAsTable('rows')\n"
        "def job(clicks):\n"
        "    clicks.writeStream.foreachBatch(write).option('checkpointLocation', '/lake/progress').start()\n",
        30,
    ),
}
QUICKEST = ("await a second, then stop", "a memory sink that is read")
NOTEBOOK = (
    "rows = spark.readStream.schema('id int, user string').json('/landing/clicks')\n"
    "rows.writeStream.format('parquet').option('path', '/lake/rows').option('checkpointLocation', '/lake/progress').start()\n"
)
REFUSED = {
    "a tool of a notebook": ("def job(clicks):\n    display(clicks)\n", "display(), which only a notebook has"),
    "a place that is not there": (
        "def job(spark, clicks):\n    spark.read.json('/landing/customers')\n    return clicks\n",
        "/landing/customers by spark.read, and it is not there",
    ),
}


def proved(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, function: str = ":job", only: str = "fault-free", **given: Any
) -> sp.Proof:  # type: ignore[name-defined]
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))
    (folder / "clicks.log").write_text("".join(f"10:00:{n:02} INFO user=u{n % 3}\n" for n in range(30)))
    monkeypatch.chdir(folder)
    wanted = Wanted(f"job.py{function}", given.pop("inputs", {"clicks": "clicks.jsonl"}), as_is=given.pop("as_is", True), **given)
    return sp.prove(wanted.target, job=wanted, quick=True, batches=2, only=only)


@pytest.mark.parametrize("habit", [habit if habit in QUICKEST else pytest.param(habit, marks=pytest.mark.full) for habit in WORKS])
def test_it_works(habit, tmp_path, monkeypatch):
    code, rows = WORKS[habit]

    proof = proved(code, tmp_path, monkeypatch)

    assert proof, proof
    assert [output["rows"] for output in proof.report["outputs"]] == [rows]


@pytest.mark.full
def test_an_exported_notebook_has_its_session(tmp_path, monkeypatch):
    proof = proved(NOTEBOOK, tmp_path, monkeypatch, function="")

    assert proof, proof
    assert proof.report["outputs"][0]["rows"] == 30


@pytest.mark.full
def test_a_log_of_plain_lines_is_a_sample(tmp_path, monkeypatch):
    code = (
        "from pyspark.sql import functions as F\n"
        "def job(spark):\n"
        "    users = spark.readStream.text('/var/log/app').select(F.regexp_extract('value', 'user=(\\\\w+)', 1).alias('user'))\n"
        "    users.writeStream.format('parquet').option('path', '/lake/users').option('checkpointLocation', '/lake/progress').start()\n"
    )

    proof = proved(code, tmp_path, monkeypatch, inputs={"clicks": "clicks.log"})

    assert proof, proof
    assert proof.report["outputs"][0]["rows"] == 30


@pytest.mark.parametrize("habit", [pytest.param(habit, marks=pytest.mark.full) for habit in REFUSED])
def test_it_is_refused_in_a_sentence(habit, tmp_path, monkeypatch):
    code, said = REFUSED[habit]

    with pytest.raises(StreamproofError) as problem:
        proved(code, tmp_path, monkeypatch)

    assert said in problem.value.message
    assert problem.value.remedy


@pytest.mark.full
def test_headers_of_kafkas_records_come_from_the_sample(tmp_path, monkeypatch):
    code = (
        "def job(spark):\n"
        "    topic = spark.readStream.format('kafka').option('subscribe', 'clicks').option('includeHeaders', 'true').load()\n"
        "    rows = topic.selectExpr('cast(headers[0].value as string) as trace').where(\"trace like 't%'\")\n"
        "    rows.writeStream.format('parquet').option('path', '/lake/traces').option('checkpointLocation', '/lake/progress').start()\n"
    )
    (tmp_path / "traced.jsonl").write_text("".join(json.dumps({"id": n, "headers": {"trace": f"t{n}"}}) + "\n" for n in range(30)))

    proof = proved(code, tmp_path, monkeypatch, inputs={"clicks": "traced.jsonl"})

    assert proof, proof
    assert proof.report["outputs"][0]["rows"] == 30


@pytest.mark.full
def test_a_job_that_stops_over_a_null_of_a_cut_line_is_told_so(tmp_path, monkeypatch):
    code = (
        "def write(rows, n):\n"
        "    print([row.user.upper() for row in rows.collect()])\n"
        "def job(clicks):\n"
        "    clicks.writeStream.foreachBatch(write).option('checkpointLocation', '/lake/progress').start()\n"
    )

    with pytest.raises(StreamproofError) as problem:
        proved(code, tmp_path, monkeypatch, as_is=False)

    assert "job.py line 2, in write: AttributeError" in problem.value.message
    assert "--as-is" in problem.value.remedy
