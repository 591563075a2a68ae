"""A job that is called without Spark: what it records, and what is found in it. One process calls all of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.cli.main import main
from streamproof.runtime.checks.rehearsal import Rehearsed

WRONG = {
    'by="client" -> by="clinet"': 'window(by=...) needs the column "clinet", which is not there. Did you mean "client"?',
    'by="client" -> by=3': "job.py line 13: window(by=...) got a int.",
    'deduplicate("trade_id") -> deduplicate("trade")': 'deduplicate() needs the column "trade"',
    'F.sum("notional") -> F.sum("notionl")': 'aggregate() needs the column "notionl", which is not there. Did you mean "notional"?',
    'F.sum("notional") -> F.max(F.col("notional") + F.col("fee"))': 'aggregate() needs the column "fee"',
    'F.sum("notional") -> F.summ("notional")': "job.py line 14, in risk_exposure: AttributeError: module",
    'F.sum("notional") -> "sum(notional)"': "job.py line 13: aggregate(exposure=...) is a str.",
    'notional="notional > 0" -> notional=F.col("notionl") > 0': 'require() needs the column "notionl"',
    'notional="notional > 0" -> notional=0': "job.py line 11: require(notional=...) got a int.",
    'emit="final" -> emit="somtimes"': "job.py line 13: window(emit='somtimes') is no emission.",
    '"30 seconds" -> "30 secnds"': "job.py line 13: tumbling('30 secnds'): \"30 secnds\" is not a duration",
    'sp.tumbling("30 seconds") -> "30 seconds"': "job.py line 13: window() got a str.",
    "    exposure = ->     once = once.require(late='1 > 0')\n    exposure =": "line 13: require() stands after deduplicate().",
    "    checked = ->     rates = {}['eur']\n    checked =": "job.py line 11, in risk_exposure: KeyError: 'eur'.",
    "import streamproof -> import polars.io\nimport streamproof": "job.py line 5: the module polars is missing.",
    "import streamproof -> raise SystemExit(4)\nimport streamproof": "job.py line 5: the file ends the process",
    "import streamproof -> import beside\nimport streamproof": "beside.py line 2: SyntaxError:",
    "event_time = -> # event_time =": 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }',
}
"""What is changed in the files of `init`, and what is said of it."""
NOT_KNOWN = (
    'F.sum("notional") -> F.sum(F.when(F.col("NOTIONAL") > F.lit(2), F.expr("notional * 2")).otherwise(0)).cast("double")',
    'trades.require( -> trades.transform(lambda rows: rows.selectExpr("*", "1 as fee")).require(fee=F.col("fee") > 0, ',
    'import streamproof as sp\n -> import streamproof as sp\n\n@F.udf("double")\ndef rate(client):\n    return 1.0\n',
    'F.count("*") -> F.expr("count(1)")',
    'F.sum("notional") -> F.sum(F.transform(F.array("notional"), lambda each: each * 2)[0])',
    'F.sum("notional") -> F.sum("notional.amount")',
)
SEVERAL = "late=exposure.late -> late=once"
SESSION = "import streamproof -> from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate()\nimport streamproof"
_CALL_ALL = """
import sys, json
from streamproof.runtime.checks.rehearse_main import main
for folder in json.loads(sys.argv[1]):
    main([f"{folder}/answer.json", folder, ""])
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """What is found in each of the changed jobs."""
    base = tmp_path_factory.mktemp("jobs")
    assert main(["init", str(base / "my_job")]) == 0
    folders = {}
    for number, change in enumerate((*WRONG, *NOT_KNOWN, SEVERAL, SESSION)):
        folders[change] = folder = base / f"{number}"
        shutil.copytree(base / "my_job", folder)
        old, new = change.split(" -> ")
        file = next(file for file in (folder / "job.py", folder / "streamproof.toml") if old in file.read_text())
        file.write_text(file.read_text().replace(old, new, 1))
        (folder / "beside.py").write_text("x = 1\ny = = 2\n")
    subprocess.run([sys.executable, "-c", _CALL_ALL, json.dumps(list(map(str, folders.values())))], check=True)
    return {change: Rehearsed.from_json(Path(folder, "answer.json").read_text()) for change, folder in folders.items()}


@pytest.mark.parametrize("change", WRONG)
def test_what_is_wrong_is_found_with_its_place(called, change):
    assert WRONG[change] in called[change].problem


@pytest.mark.parametrize("change", NOT_KNOWN)
def test_what_cannot_be_known_without_spark_is_no_mistake(called, change):
    assert called[change] == Rehearsed(("exposure", "late", "rejected"))


def test_what_asks_for_a_session_is_not_called(called):
    assert called[SESSION].not_called.endswith("job.py line 6 asks for a SparkSession")


def test_k7_what_several_queries_over_one_source_cost_is_noted(called):
    (note,) = called[SEVERAL].notes
    assert note.startswith("exposure and late are queries of their own: each reads trades again, with a watermark of its own")
    assert not called[NOT_KNOWN[0]].notes
