"""What differs from run to run on purpose is left out by its name; the finding offers the very option, and names the line that makes it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from streamproof.errors import ScenarioError
from streamproof.proof import prove
from streamproof.prove.subjects.named import words_of
from streamproof.prove.subjects.pyspark.differences import differs_without_fault
from streamproof.prove.subjects.pyspark.ignored import Ignored, differing_columns
from streamproof.prove.subjects.pyspark.preparation import Wanted
from streamproof.prove.subjects.pyspark.reading import Left, Output
from streamproof.prove.subjects.pyspark.told import Told


def left(*rows: Mapping[str, Any], name: str = "out") -> Left:
    return Left({}, (Output(name, None, {0: rows}),), ())


def rows_of(found: Left) -> Sequence[Mapping[str, Any]]:
    return found.outputs[0].rows[0]


ONE = ({"id": 1, "at": "09:00", "of": {"run": "a", "n": 1}, "json": '{"id": 1, "run": "a"}'},)
OTHER = ({"id": 1, "at": "09:05", "of": {"run": "b", "n": 1}, "json": '{"id": 1, "run": "b"}'},)


def test_columns_and_fields_that_differ_are_found_and_left_out() -> None:
    columns = differing_columns(ONE, OTHER)

    assert columns == ["at", "of.run", "json.run"]
    ignored = Ignored.parse([f"out.{column}" for column in columns])
    assert (
        rows_of(ignored.without(left(*ONE)))
        == rows_of(ignored.without(left(*OTHER)))
        == [{"id": 1, "of": {"n": 1}, "json": {"id": 1}}]
    )
    assert rows_of(ignored.without(left(*ONE, name="output"))) == ONE, "another output keeps its columns"


def test_a_column_is_not_offered_where_more_than_it_differs() -> None:
    assert differing_columns(({"id": 1, "at": 1}, {"id": 2, "at": 2}), ({"id": 1, "at": 3},)) == []
    assert differing_columns(({"at": 1},), ({"at": 2},)) == [], "nothing would be left to compare"
    assert differing_columns(({"id": 1, "x": 0.1 + 0.2, "at": 1},), ({"id": 1, "x": 0.3, "at": 2},)) == ["at"]


@pytest.mark.parametrize(
    ("text", "said", "required"),
    [
        ("loaded_at", "--ignore loaded_at is not OUTPUT.COLUMN", ""),
        (".at", "is not OUTPUT.COLUMN", ""),
        ("outs.at", "--ignore outs.at names no output", "Its outputs are out"),
        ("out.loaded", "the output out has no such column", "It has id, at, of, json"),
        ("out.of.rum", "the output out has no such column", ""),
    ],
)
def test_a_name_that_no_output_has_is_refused(text: str, said: str, required: str) -> None:
    with pytest.raises(ScenarioError) as problem:
        Ignored.parse([text]).require_there(left(*ONE))

    assert said in problem.value.message
    assert required in problem.value.required


def test_an_output_whose_name_has_dots_is_told_from_one_that_it_begins_with() -> None:
    two = Left({}, (*left({"id": 1}, name="lake").outputs, *left({"id": 1, "at": 1}, name="lake.v2/out").outputs), ())

    Ignored.parse(["lake.v2/out.at"]).require_there(two)

    assert [dict(one.rows[0][0]) for one in Ignored.parse(["lake.v2/out.at"]).without(two).outputs] == [{"id": 1}, {"id": 1}]


def test_not_every_column_can_be_left_out_and_of_an_output_without_rows_none_is_known() -> None:
    with pytest.raises(ScenarioError, match="leaves out every column"):
        Ignored.parse(["out.at"]).require_there(left({"at": 1}))
    Ignored.parse(["out.at"]).require_there(left())


JOBS = {
    "with a column": ("    return c.withColumn('at', F.current_timestamp())\n", 3, "wall clock"),
    "by an alias": ("    x = F.rand()\n    return c.select('id', F.current_timestamp().alias('at'), x)\n", 4, "wall clock"),
    "by a keyword": ("    return c.withColumns(dict(b=F.lit(1), at=F.uuid()))\n", 3, "random numbers"),
    "of several the one that makes it": (
        "    c = c.withColumn('x', F.current_timestamp())\n    return c.drop('x').withColumn('at', F.uuid())\n",
        4,
        "random numbers",
    ),
    "in SQL": ("    t = F.unix_timestamp('ts')\n    return c.selectExpr('id', 'current_timestamp() AS at')\n", 4, "wall clock"),
    "in SQL without brackets": ("    return c.withColumn('at', F.expr('current_timestamp'))\n", 3, "wall clock"),
    "dice in SQL": ("    return c.withColumn('at', F.expr('uuid()'))\n", 3, "random numbers"),
}


@pytest.mark.parametrize(("text", "line", "cause"), JOBS.values(), ids=JOBS.keys())
def test_the_line_that_makes_the_column_is_named_with_the_option(tmp_path: Path, text: str, line: int, cause: str) -> None:
    (tmp_path / "job.py").write_text(
        f"from pyspark.sql import functions as F\ndef job(c):\n{text}def other(c):\n    return F.now()\n"
    )

    (finding,) = differs_without_fault(
        left({"id": 1, "at": 1}), left({"id": 1, "at": 2}), Told(f"{tmp_path}/job.py", "job"), masked=True
    )

    assert cause in finding.what
    assert "in at alone" in finding.what
    assert f"job.py line {line};" in (finding.how or "")
    assert (finding.how or "").endswith("leave it out of the comparison: --ignore out.at")


def test_a_line_of_a_second_module_is_named_and_one_that_is_not_reached_is_not(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "import time\nfrom bronze import stamped\ndef job(c):\n    return stamped(c)\ndef other():\n    time.time()\n"
    )
    (tmp_path / "bronze.py").write_text(
        "def noise():\n    return rand()\ndef stamped(c):\n    return c.withColumn('at', F.uuid())\n"
    )

    (finding,) = differs_without_fault(
        left({"id": 1, "at": 1}), left({"id": 1, "at": 2}), Told(f"{tmp_path}/job.py", "job"), masked=True
    )

    assert finding.code == "depends-on-random-numbers"
    assert "uuid() in" in (finding.how or "")
    assert "bronze.py line 4" in (finding.how or "")


def test_where_no_column_alone_differs_none_is_offered(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("def job(c):\n    return c\n")

    (finding,) = differs_without_fault(left({"id": 1, "at": 1}), left(), Told(f"{tmp_path}/job.py", "job"), masked=True)

    assert (finding.code, "--ignore" in (finding.how or "")) == ("not-repeatable", False)


def test_a_replay_says_it_and_a_job_of_ours_is_refused(tmp_path: Path) -> None:
    assert words_of(Wanted("job.py", {"a": "a.csv"}, ignore=("out.at",)))[-2:] == ("--ignore", "out.at")
    with pytest.raises(ScenarioError, match=r"is no plain PySpark job, and out\.at is to be left out"):
        prove(tmp_path, ignore=["out.at"])
