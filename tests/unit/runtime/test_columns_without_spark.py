"""Which columns of a job are there, found without Spark: after transforms, in SQL texts, in declared aggregates. No false alarm.

One process calls all of the jobs.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.runtime.checks.rehearsal import Rehearsed

TABLE = """\
[job]
entry = "job.py:job"
checkpoint = "checkpoint"
[source.pays]
connector = "files"
path = "data"
format = "json"
schema = "id string, client string, amount double, at long, address struct<city: string>, tags array<string>, `odd name` int"
event_time = { column = "at", unit = "milliseconds", lag = "10 seconds" }
[sink.out]
connector = "files"
path = "out"
"""
JOB = """\
from pyspark.sql import functions as F
from pyspark.sql.functions import col, udf
import streamproof as sp

@udf("string")
def shorter(text):
    return text[:3]

def with_fee(rows):
    return rows.withColumn("fee", F.col("amount") * 0.01)

@sp.job
def job(pays: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=pays{chain})
"""
WINDOW = '.window(sp.tumbling("1 minute"), by="client")'
WRONG = {
    '.require(amount="amont > 0")': 'require() needs the column "amont", which is not there. Did you mean "amount"?',
    ".filter(\"exists(tags, x -> x = cliet)\", name='some')": "filter(name='some') needs the column \"cliet\"",
    '.require(city="adress.city is not null")': 'require() needs the column "adress"',
    '.transform(with_fee).deduplicate("idd")': 'deduplicate() needs the column "idd", which is not there. Did you mean "id"?',
    '.transform(with_fee).window(sp.tumbling("1 minute"), by="cliet").aggregate(n=F.sum("fee"))': 'window(by=...) needs the column "cliet"',
    f'.transform(with_fee){WINDOW}.aggregate(n=F.sum("fe"))': 'aggregate() needs the column "fe", which is not there. Did you mean "fee"?',
    f'{WINDOW}.aggregate(n=F.expr("sum(amont)"))': 'aggregate() needs the column "amont"',
    f'{WINDOW}.aggregate(n=sp.sketch.distinct("clint"))': 'distinct of aggregate(n=...) needs the column "clint"',
    f'{WINDOW}.aggregate(n=sp.accumulator(zero={{"n": "0D"}}, add={{"n": "n + amont"}}, merge={{"n": "left.n + right.n"}}, result="n"))': (
        'add of aggregate(n=...) needs the column "amont"'
    ),
    f'{WINDOW}.aggregate(n=sp.accumulator(zero={{"n": "0D"}}, add={{"n": "n + 1"}}, merge={{"n": "left.n + right.n"}}, result="m"))': (
        'result of aggregate(n=...) needs the column "m"'
    ),
    f'{WINDOW}.aggregate(n=F.sum("amount")).transform(lambda rows: rows.withColumn("half", F.col("m") / 2))': (
        'job.py line 14: transform() needs the column "m"'
    ),
    '.transform(lambda rows: rows.select("id", "amont"))': 'transform() needs the column "amont"',
    '.transform(lambda rows: rows.drop("client")).require(c="client is not null")': 'require() needs the column "client"',
    '.transform(lambda rows: rows.withColumnRenamed("client", "who")).require(c=col("client").isNotNull())': 'the column "client"',
    '.transform(lambda rows: rows.withColumn("x", rows.amont))': 'the column "amont"',
    '.transform(lambda rows: rows.withColumn("x", rows["amont"]))': 'the column "amont"',
    '.transform(lambda rows: rows.withColumn("x", shorter("clint")))': 'the column "clint"',
    '.transform(lambda rows: rows.selectExpr("*", "amont * 2 as x"))': 'the column "amont"',
    # none of these runs on Spark 4.3
    '.transform(lambda rows: rows.selectExpr("w + 1 as x", "amount * 2 as w"))': 'the column "w"',
    '.transform(lambda rows: rows.withColumns({"x": F.col("w") + 1, "w": F.col("amount") * 2}))': 'the column "w"',
    '.transform(lambda rows: rows.select("id").alias("r").filter("amount > 0"))': 'the column "amount"',
    '.transform(lambda rows: rows.select("id").withColumn("x", F.col("amount") + 1))': 'the column "amount"',
    '.transform(lambda rows: rows.mapInPandas(None, "id string, n int").filter("amount > 0"))': 'the column "amount"',
    '.transform(lambda rows: rows.select("id").filter("amont > 0"))': 'the column "amont"',
    '.transform(lambda rows: rows.mapInPandas(None, "id string, n int")).require(n="m > 0")': 'require() needs the column "m"',
}
FOUR = (
    '.transform(with_fee).require(amount="amont > 0").deduplicate("idd").window(sp.tumbling("1 minute"), by="cliet")'
    '.aggregate(n=F.sum("fe"))'
)
RIGHT = (
    # each of these runs on Spark 4.3
    '.transform(lambda rows: rows.withColumnRenamed("amount", "w").filter(rows.amount > 0))',
    '.transform(lambda rows: rows.select("id", "at").filter("amount > 0"))',
    '.transform(lambda rows: rows.drop("amount").filter(F.col("amount") > 0).distinct().where("client = 1"))',
    '.transform(lambda rows: rows.selectExpr("id", "at").withColumn("z", F.lit(1)).filter("amount > 0"))',
    '.transform(lambda rows: rows.toDF("a", "b", "c", "d", "e", "f", "g").filter("amount > 0"))',
    '.transform(lambda rows: rows.selectExpr("id", "amount * 2 as w", "W + 1 as x"))',
    '.transform(lambda rows: rows.selectExpr("struct(amount as q) as s", "s.q as z"))',
    '.transform(lambda rows: rows.select("id", (F.col("amount") * 2).alias("w"), (F.col("w") + 1).alias("x"), "w"))',
    '.transform(lambda rows: rows.withColumns({"w": F.col("amount") * 2, "x": F.col("w") + 1}))',
    '.require(amount="AMOUNT > 0 and Client is not null")',
    ".require(city=\"address.city = 'Bonn' or `odd name` = 1 or tags[0] = 'x'\")",
    ".filter(\"exists(tags, x -> x = client) and at > current_timestamp()\", name='some')",
    '.require(a=F.col("address.city").isNotNull() & F.col("`odd name`").isNotNull() & (F.col("tags")[0] == "x"))',
    '.transform(with_fee).require(fee="fee > 0").deduplicate("id")',
    '.transform(lambda rows: rows.withColumns({"a": col("amount"), "b": F.lit("no_column")})).require(b="a > 0 and b = \'x\'")',
    '.transform(lambda rows: rows.select("*", F.upper("client").alias("upper"))).require(u="upper = client")',
    '.transform(lambda rows: rows.select("id", F.col("address.city"), col("amount").cast("int"))).require(u="city is not null and amount > 1")',
    '.transform(lambda rows: rows.select(*rows.columns, F.lit(1).alias("one"))).require(u="one = 1 and client is not null")',
    '.transform(lambda rows: rows.select("id", "address.*")).require(id="id is not null")',
    '.transform(lambda rows: rows.selectExpr("*", "amount * 2 as twice")).filter("twice > amount", name="some")',
    '.transform(lambda rows: rows.withColumn("x", shorter("client")).drop("client")).require(x="x <> \'\'")',
    '.transform(lambda rows: rows.alias("r").withColumn("x", col("r.amount"))).require(x="x > 0")',
    '.transform(lambda rows: rows.withColumn("x", F.transform("tags", lambda tag: F.concat(tag, F.col("client")))[0])).require(x="x > \'\'")',
    '.transform(lambda rows: rows.transform(with_fee).repartition(2).where("fee > 0 and client <> \'\'")).require(f="fee > 0")',
    '.transform(lambda rows: rows.toDF("a", "b", "c", "d", "e", "f", "g")).require(a="a is not null")',
    '.transform(lambda rows: rows.mapInPandas(None, "id string, n int")).require(n="n > 0")',
    '.transform(lambda rows: rows[["id", "amount"]].filter(rows.amount > 0)).require(n="amount > 0")',
    f'{WINDOW}.aggregate(n=F.count("*"), m=F.max(F.struct("amount", "id"))).transform(lambda rows: rows.withColumn("x", F.col("m.id")))',
    f'{WINDOW}.aggregate(n=F.count(F.lit(1))).window(sp.tumbling("1 hour"), by="client").aggregate(m=F.sum("n"))',
    f'{WINDOW}.aggregate(**sp.sketch.percentiles("amount * 2", p95=0.95))',
    f'{WINDOW}.aggregate(n=sp.accumulator(zero={{"n": "0D"}}, add={{"n": "n + amount"}}, merge={{"n": "left.n + right.n"}}, result="n"))',
)
NOT_SEEN = {
    '.require(amount="amount >")': 'the text "amount >" in require()',
    '.transform(lambda rows: rows.withColumn("x", F.lit(str(rows.schema)))).require(y="y > 0")': "transform(lambda) in ",
    '.transform(lambda rows: rows.withColumn("x", F.expr("amount +")))': 'the text "amount +" in transform()',
    '.transform(lambda rows: rows.unpivot("id", ["amount"], "k", "v")).require(y="k > 0")': 'the column "k" in require(): what unpivot() gives',
    '.transform(lambda rows: rows.select("id", F.upper("client"))).require(y="y > 0")': 'the column "y" in require(): a select() names no alias',
    ".transform(lambda rows: 1 / 0)": "ZeroDivisionError",
}
_CALL_ALL = """
import sys, json
from streamproof.runtime.checks.rehearse_main import main
for folder in json.loads(sys.argv[1]):
    main([f"{folder}/answer.json", folder, ""])
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """What is found in each of the jobs."""
    folders = {}
    for number, chain in enumerate((*WRONG, FOUR, *RIGHT, *NOT_SEEN)):
        folders[chain] = folder = tmp_path_factory.mktemp("jobs") / str(number)
        (folder / "data").mkdir(parents=True)
        (folder / "job.py").write_text(JOB.replace("{chain}", chain))
        (folder / "streamproof.toml").write_text(TABLE)
    subprocess.run([sys.executable, "-c", _CALL_ALL, json.dumps(list(map(str, folders.values())))], check=True)
    return {chain: Rehearsed.from_json(Path(folder, "answer.json").read_text()) for chain, folder in folders.items()}


@pytest.mark.parametrize("chain", WRONG)
def test_a_column_that_is_not_there_is_found(called, chain):
    assert WRONG[chain] in called[chain].problem


@pytest.mark.parametrize("chain", RIGHT)
def test_a_correct_job_is_called_correct_and_wholly_looked_at(called, chain):
    assert called[chain] == Rehearsed(("out",))


@pytest.mark.parametrize("chain", NOT_SEEN)
def test_what_cannot_be_looked_at_is_no_mistake_and_is_said(called, chain):
    assert not called[chain].problem
    assert NOT_SEEN[chain] in " ".join(called[chain].unseen)


def test_all_names_that_are_not_there_are_said_at_once(called):
    problem = called[FOUR].problem

    for said in (
        'require() needs the column "amont"',
        'deduplicate() needs the column "idd"',
        'window(by=...) needs the column "cliet"',
        'aggregate() needs the column "fe"',
    ):
        assert said in problem
