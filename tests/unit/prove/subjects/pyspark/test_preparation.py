"""What is wrong with a target, a sample or an option is said before Spark starts, with what to do."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException

import streamproof as sp
from streamproof.config.entry import is_plain_pyspark
from streamproof.errors import ScenarioError
from streamproof.prove.process.task import ChildTask
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.subjects.named import words_of
from streamproof.prove.subjects.pyspark.child import spark_of
from streamproof.prove.subjects.pyspark.preparation import PysparkPreparation, Wanted
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.redirect import _Builder
from streamproof.prove.subjects.pyspark.told import Told

JOB = "import streamproof as sp\n@sp.job\ndef ours(trades):\n    pass\ndef plain(trades):\n    pass\n"


@pytest.fixture
def job(tmp_path: Path) -> str:
    (tmp_path / "job.py").write_text("def plain(clicks):\n    return clicks\n")
    (tmp_path / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "at": n}) + "\n" for n in range(40)))
    return f"{tmp_path / 'job.py'}:plain"


def prepared(target: str, tmp_path: Path, **more: object) -> PysparkPreparation:
    return PysparkPreparation(Wanted(target, {"clicks": str(tmp_path / "clicks.jsonl")}, **more))  # type: ignore[arg-type]


def test_a_job_and_its_sample_are_made_ready_without_spark(job, tmp_path):
    preparation = prepared(job, tmp_path)
    preparation.make()

    assert (preparation.noun, preparation.batches, preparation.services) == ("clicks", 5, ())
    assert preparation.events > 40, "copies and cut lines are added"


def test_what_cannot_be_expected_is_said_before_spark_starts(job, tmp_path):
    with pytest.raises(ScenarioError, match="--expect lates=9 is not known"):
        prepared(job, tmp_path, expect=("lates=9",))


def test_a_sample_as_it_is_has_no_more_and_no_less(job, tmp_path):
    preparation = prepared(job, tmp_path, as_is=True)
    preparation.make()

    assert preparation.events == 40


@pytest.mark.parametrize(
    ("target", "inputs", "said"),
    [
        ("nowhere.py:plain", {"clicks": "clicks.jsonl"}, "There is no"),
        ("job.py:other", {"clicks": "clicks.jsonl"}, "has no function other.\nIt has plain"),
        ("job.py:plain", {}, "there are no events for it"),
        ("job.py:plain", {"clicks": "few.jsonl"}, "has 3 records.\n5 batches of 2 files need 10"),
        ("job.py:plain", {"clicks": "none.jsonl"}, "none.jsonl"),
    ],
    ids=["no file", "no function", "no sample", "too few records", "no such sample"],
)
def test_what_is_wrong_is_said(target, inputs, said, job, tmp_path):
    (tmp_path / "few.jsonl").write_text('{"id": 1}\n{"id": 2}\n{"id": 3}\n')
    place = str(tmp_path / target)

    with pytest.raises(ScenarioError) as problem:
        PysparkPreparation(Wanted(place, {name: str(tmp_path / file) for name, file in inputs.items()}))

    assert said in str(problem.value)


def test_a_file_without_a_job_of_ours_is_plain_pyspark(tmp_path):
    mixed, plain = tmp_path / "mixed.py", tmp_path / "plain.py"
    mixed.write_text(JOB)
    plain.write_text("def plain(clicks):\n    pass\n")

    assert is_plain_pyspark(f"{plain}:plain")
    assert is_plain_pyspark(str(plain))
    assert is_plain_pyspark(f"{mixed}:plain")
    assert not is_plain_pyspark(f"{mixed}:ours")
    assert not is_plain_pyspark(str(mixed))
    assert not is_plain_pyspark(str(tmp_path))


def test_a_replay_names_all_that_the_job_was_given():
    wanted = Wanted(
        "job.py",
        {"a": "a.csv"},
        {"db": "{folder}/x"},
        ("50",),
        {"E": "1"},
        {"out": "update"},
        {"t": "t.csv"},
        ("o=m:f",),
        True,
        expect=("late=9",),
    )

    assert " ".join(words_of(wanted)) == (
        "--input a=a.csv --table t=t.csv --set db={folder}/x --env E=1 --mode out=update --argument 50 --read o=m:f --expect late=9 --as-is"
    )


def test_a_schema_types_the_sample_and_a_replay_names_it(job, tmp_path):
    (tmp_path / "clicks.jsonl").write_text("".join(f'{{"id": {n}, "at": "2026-03-01T09:00:{n:02}Z"}}\n' for n in range(40)))
    wanted = Wanted.of(job, {"clicks": sp.sample(tmp_path / "clicks.jsonl", schema="id int, at timestamp")})

    assert PysparkPreparation(wanted)._samples["clicks"].schema == "id int, at timestamp"
    assert words_of(wanted) == ("--input", f"clicks={tmp_path / 'clicks.jsonl'}", "--schema", "clicks=id int, at timestamp")


@pytest.mark.parametrize(
    ("schemas", "place", "said"),
    [
        ({"click": "id int"}, "", 'there is no input click. Did you mean "clicks"?'),
        ({"clicks": "id int"}, "kafka:", "has Kafka's columns"),
        ({"clicks": "at timestamp"}, "", "38 of 40 values of at"),
        ({"clicks": "user string"}, "", 'has the column "user", and none of the 40 records'),
    ],
)
def test_a_schema_that_does_not_fit_is_said(schemas, place, said, job, tmp_path):
    times = [*range(38), 1_767_225_600, 1_767_225_601]
    (tmp_path / "clicks.jsonl").write_text("".join(f'{{"id": 1, "at": {at}}}\n' for at in times))

    with pytest.raises(ScenarioError) as problem:
        PysparkPreparation(Wanted(job, {"clicks": f"{place}{tmp_path / 'clicks.jsonl'}"}, schemas=schemas))

    assert said in str(problem.value)


@pytest.mark.parametrize("text", ["totals", "totals=module", "=module:function", "totals=nowhere:rows"])
def test_a_read_that_is_none_is_refused(text, tmp_path):
    with pytest.raises(ScenarioError, match="--read"):
        ReadBack.parse(text, tmp_path)


def test_rows_are_read_back_by_the_arguments_that_the_function_names(tmp_path):
    (tmp_path / "checks.py").write_text("def rows(database, folder):\n    return [(database, folder), {'n': 1}]\n")

    rows = ReadBack.parse("totals=checks:rows", tmp_path).rows({"database": "{folder}/x.db", "other": "1"}, {}, Path("/s"))

    assert rows == [{"column 1": "/s/x.db", "column 2": "/s"}, {"n": 1}]


def test_a_function_that_raises_is_named_with_its_line(tmp_path):
    (tmp_path / "checks.py").write_text("def rows():\n    return 1 / 0\n")

    with pytest.raises(ScenarioError, match=r"checks.py line 2, in rows: ZeroDivisionError"):
        ReadBack.parse("totals=checks:rows", tmp_path).rows({}, {}, tmp_path)


def test_a_function_finds_the_jobs_environment_and_the_proof_keeps_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "mine")
    monkeypatch.delenv("DATABASE", raising=False)
    (tmp_path / "checks.py").write_text(
        "import os\nAT = os.environ['DATABASE']\ndef rows():\n    return [(AT, os.environ['PLACE'])]\n"
    )

    rows = ReadBack.parse("totals=checks:rows", tmp_path).rows({}, {"DATABASE": "{folder}/x.db", "PLACE": "its"}, Path("/s"))

    assert rows == [{"column 1": "/s/x.db", "column 2": "its"}]
    assert ("DATABASE" in os.environ, os.environ["PLACE"]) == (False, "mine")


@pytest.mark.parametrize("where", ["arguments", "words", "environment"])
def test_a_job_that_is_given_a_folder_may_keep_something_there(where):
    given = ["{folder}/x"] if where == "words" else {"db": "{folder}/x"}

    assert Told("job.py", **{where: given}).keeps_elsewhere  # type: ignore[arg-type]
    assert not Told("job.py", arguments={"db": "/x"}, words=["/x"], environment={"db": "/x"}).keeps_elsewhere


def test_settings_of_the_user_reach_the_jvm_the_child_and_the_command_of_a_replay(job, tmp_path):
    settings = {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.1"}
    wanted = Wanted(job, {"clicks": str(tmp_path / "clicks.jsonl")}, conf=settings)

    told = Told(job, conf=PysparkPreparation(wanted).spark).as_dict()

    assert spark_of(ChildTask("a", told, ScenarioBinding("", tmp_path, {}, None), "")) == (settings, ())
    assert words_of(wanted)[-2:] == ("--conf", "spark.jars.packages=io.delta:delta-spark_2.13:4.0.1")


class Conf(dict):
    """The settings of a session: what is static cannot be set any more."""

    def set(self, key: str, value: str) -> None:
        if key != "spark.sql.ansi.enabled":
            raise AnalysisException(f"{key} is static")
        self[key] = value


def test_what_a_job_sets_where_it_makes_its_session_is_taken_up_or_noted_with_the_option_that_does_it():
    session = SimpleNamespace(conf=Conf({"spark.sql.extensions": "there.Already"}))
    notes = []
    builder = _Builder(session, notes).config("spark.sql.ansi.enabled", "false").config("spark.sql.extensions", "there.Already")

    assert builder.config("spark.jars.packages", "io.delta:x:1").config("spark.executor.cores", 4).getOrCreate() is session

    assert session.conf["spark.sql.ansi.enabled"] == "false"
    assert [note.rpartition("by ")[2] for note in notes] == ["--conf spark.jars.packages=io.delta:x:1"]
