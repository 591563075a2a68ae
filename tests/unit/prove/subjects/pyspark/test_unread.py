"""What a function of the job writes where no proof looks is no pass, and the whole way out is said."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.subjects.pyspark.checks import Evidence, checks_of
from streamproof.prove.subjects.pyspark.reading import Batch, Left, Output
from streamproof.prove.subjects.pyspark.told import Query, Told
from streamproof.prove.subjects.pyspark.unread import not_looked_at, unread
from streamproof.prove.subjects.pyspark.wrote import Written

ROWS = Query("rows", "append", "batches", "parquet", "console")
OUT = Query("out", "append", "function", "", "foreachBatch")
EACH = Query("each", "update", "function", "", "foreach")
BOUND = replace(OUT, wrote=("lake/out",))
BATCHES = (Batch(0, {"clicks": ("a",)}, 0),)


def told(tmp_path, text="", function="job", **given):
    (tmp_path / "job.py").write_text(text)
    return Told(str(tmp_path / "job.py"), function, **given)


@pytest.mark.parametrize(
    ("queries", "readers", "names"),
    [
        ([OUT], [], ["out"]),
        ([EACH], [], ["each"]),
        ([ROWS], [], []),
        ([BOUND], [], []),
        ([OUT], ["out"], []),
        ([OUT], ["totals"], []),
        ([ROWS, OUT], [], ["out"]),
        ([OUT, EACH], ["out"], ["each"]),
        ([OUT, EACH], ["each"], ["out"]),
        ([OUT, EACH], ["totals"], ["out", "each"]),
        ([OUT, EACH], ["totals", "alerts"], []),
        ([BOUND, EACH], ["alerts"], []),
    ],
)
def test_a_function_is_looked_at_where_a_reader_or_a_bound_writer_is(queries, readers, names):
    assert [query.name for query in unread(queries, readers)] == names


def test_a_scenario_without_a_look_at_one_of_its_outputs_is_unknown_by_name():
    left = Left({"rows": BATCHES, "out": BATCHES}, (Output("rows", ROWS, {0: [{"n": 1}]}),), (ROWS, OUT))
    evidence = Evidence(left, lambda *_: left, {"clicks": ("a",)}, unread=(OUT,))
    (check,) = [one for one in checks_of(evidence) if one.name == "exactly-once"]

    assert check.verdict is Verdict.UNKNOWN
    assert "out was not read back" in check.problem


WRITES = {
    "a parameter": (
        "def job(clicks, path='/data/out.csv'):\n    rows.toPandas().to_csv(path, mode='a')\n",
        {},
        "--set 'path={folder}/out.csv' --read out=job:read_out",
        ["def read_out(path):", "    import pandas as pd", "    return pd.read_csv(path).to_dict('records')"],
    ),
    "a place that is given": (
        "import sqlite3\ndef job(clicks, database):\n    pass\n",
        {"arguments": {"database": "{folder}/x.db"}},
        "--read out=job:read_out",
        [
            "def read_out(database):",
            "    import sqlite3",
            "    return list(sqlite3.connect(database).execute('SELECT * FROM ...'))",
        ],
    ),
    "the environment": (
        "import os\ndef job(clicks):\n    open(os.environ['OUT_DIR'])\n",
        {},
        "--env 'OUT_DIR={folder}/out' --read out=job:read_out",
        ["def read_out():", "    import os", "    return [...]  # the rows at os.environ['OUT_DIR']: dicts or tuples"],
    ),
    "fixed in the code": (
        "def job(clicks):\n    rows.toPandas().to_parquet('/data/x')\n",
        {},
        "--set 'place={folder}/out' --read out=job:read_out",
        ["def read_out(place):", "    import pandas as pd", "    return pd.read_parquet(place).to_dict('records')"],
    ),
    "a script": (
        "open('/data/x', 'a')\n",
        {"function": ""},
        "--argument '{folder}/out' --read out=readback:read_out",
        ["def read_out(folder):", "    return [...]  # the rows at f'{folder}/out': dicts or tuples"],
    ),
    "no Python": ("def job(:\n", {}, "--set 'place={folder}/out' --read out=job:read_out", ["def read_out(place):"]),
}


@pytest.mark.parametrize(("text", "given", "add", "sketch"), WRITES.values(), ids=WRITES.keys())
def test_the_way_out_is_a_command_and_a_function_to_begin_with(text, given, add, sketch, tmp_path):
    (remark,) = not_looked_at(told(tmp_path, text, **given), None, [], [OUT])

    assert (remark["code"], remark["name"], remark["add"]) == ("output-not-read", "out", add)
    assert remark["sketch"][1 : 1 + len(sketch)] == sketch
    assert remark["says"].endswith(add[add.index("--read") :])


def test_a_place_that_a_function_was_bound_to_and_that_never_got_a_row_proves_nothing(tmp_path):
    query = replace(OUT, wrote=("lake/out", "lake/alerts"))
    left = Left({"out": BATCHES}, (Output("lake/out", None, {None: [{"n": 1}]}),), (query,))
    (remark,) = not_looked_at(told(tmp_path), left, [], [query])

    assert (remark["code"], remark["name"]) == ("output-without-row", "lake/alerts")
    assert "add" not in remark


def test_a_folder_for_each_batch_is_one_output(tmp_path):
    query = replace(OUT, wrote=("lake/out/0", "lake/out/1", "lake/out/2"))
    outputs = (Output("lake/out/0", None, {None: [{"n": 1}]}), Output("lake/out/1", None, {None: []}))

    assert not list(not_looked_at(told(tmp_path), Left({"out": BATCHES}, outputs, (query,)), [], [query]))


def test_what_is_written_is_that_of_the_function_that_runs():
    written = Written()
    written.note("before")
    with written.by("a"):
        written.note("x")
        written.note("x")
    with written.by("b"):
        written.note("y")

    assert (written.of("a"), written.of("b"), written.of("c")) == (("x",), ("y",), ())


def test_what_a_pool_of_a_function_writes_is_that_of_all_that_run():
    from concurrent.futures import ThreadPoolExecutor

    written = Written()
    with written.by("a"), ThreadPoolExecutor(1) as pool:
        pool.submit(written.note, "x").result()

    assert written.of("a") == ("x",)
