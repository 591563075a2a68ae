"""R32: rules that are none, and tables of rules that cannot be read: the job goes on, and what it was told before stays."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from full_tables import full
from spark.small_job import Binding, dies, event
from spark.test_rules import JOB, Limits, after_each_batch, bound, hits
from streamproof import _jvm
from streamproof.core.notes import NoteCode
from streamproof.errors import JobDefinitionError

PARQUET = {"connector": "files", "path": "limits", "refresh": "0 seconds"}
CSV = {**PARQUET, "format": "csv", "schema": "rule string, condition string"}


def of_files(table=PARQUET):
    return Binding(sinks={"kept": "parquet"}, tables={"table.limits": table})


def written(job, *rules, name="all"):
    """The rules as a file of Parquet, in the place of the former one."""
    (job.folder / "limits").mkdir(exist_ok=True)
    columns = {"rule": pa.array([rule for rule, _ in rules], pa.string()), "condition": [said for _, said in rules]}
    pq.write_table(pa.table(columns), job.folder / f"limits/{name}.parquet")


def lines(job, text):
    (job.folder / "limits").mkdir(exist_ok=True)
    (job.folder / "limits/all.csv").write_text(text)


SAME_FOR_A_ROW = "it is no condition over the columns of a row that gives the same whenever it is asked"


@pytest.mark.parametrize(
    "condition",
    [
        "ts > now()",
        "ts > current_timestamp",
        "to_date(ts) = current_date",
        "ts > localtimestamp()",
        "unix_timestamp() > 1",
        "client = current_user()",
        "ts > timestamp 'now'",
        "to_date(ts) = date 'Yesterday'",
    ],
)
def test_a_condition_that_asks_the_clock_is_none(small_job, condition):
    spark = small_job(JOB, bound()).spark
    columns = spark.createDataFrame([], "id string, client string, ts timestamp").schema.json()

    asked = [condition, "ts > timestamp '2026-01-05 09:00:00'", "client = 'now'"]

    assert _jvm.problems_of_rules(spark, columns, asked) == [SAME_FOR_A_ROW, "", ""]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (CSV, lambda job: lines(job, "rule,condition\nbig,v > 5\n,v > 1\n")),
        *full((PARQUET, lambda job: written(job, ("big", "v > 5"), (None, "v > 1"), (None, None)))),
    ],
    ids=["csv", "parquet"],
)
def test_a_rule_without_a_name_is_rejected_and_the_others_count(small_job, table, says):
    job = small_job(JOB, of_files(table))
    says(job)
    job.feed([event("1", 0, v=9.0)])

    result = job.run()

    assert hits(job) == {"1": ["big"]}
    notes = [note for note in result.notes if note.code is NoteCode.RULE_REJECTED]
    assert notes
    assert all("rejects a rule without a name" in note for note in notes)


def test_whatever_a_rule_fails_with_on_a_row_it_is_named_there(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("deep", "client rlike '^(a|b)*$'")
    limits.say("parsed", "from_json(client, 'a int', map('mode', 'FAILFAST')).a > 0")
    limits.say("all", "true")
    job.feed([event("1", 0, client="ab" * 50_000)])

    (found,) = job.run().accounts

    (row,) = job.rows("kept")
    assert (row["hits"], row["hits_failed"]) == (["all"], ["deep", "parsed"])
    assert found.adds_up


def torn(job):
    written(job, ("small", "v < 5"), name="more")
    (job.folder / "limits/more.parquet").write_bytes(b"PAR1 no table")


@pytest.mark.parametrize(
    ("table", "first", "change"),
    [
        (PARQUET, lambda job: written(job, ("big", "v > 5")), torn),
        *full((CSV, lambda job: lines(job, "rule,condition\nbig,v > 5\n"), lambda job: lines(job, "rule,when\nbig,v > 1\n"))),
    ],
    ids=["torn", "header"],
)
def test_where_a_table_of_rules_cannot_be_read_again_the_former_version_stays(small_job, table, first, change):
    job = small_job(JOB, of_files(table))
    first(job)
    for number in range(3):
        job.feed([event(f"{number}", number, v=9.0)])
    heard = []

    result = job.run(listener=[after_each_batch(lambda: change(job), lambda: None), heard.append])

    assert hits(job) == {"0": ["big"], "1": ["big"], "2": ["big"]}
    (note,) = [note for note in result.notes if note.code is NoteCode.TABLE_STAYS]
    assert "[table.limits] cannot be read" in note
    assert [one.batch for one in heard if one.kind == "table-stays"] == [1, 2]
    assert result.accounts[0].adds_up


@pytest.mark.full
def test_r32_the_rules_that_a_batch_gets_are_those_that_were_checked(small_job, monkeypatch):
    job = small_job(JOB, of_files({key: value for key, value in PARQUET.items() if key != "refresh"}))
    written(job, ("big", "v > 5"))
    job.feed([event("1", 0, v=9.0)])
    check = _jvm.problems_of_rules

    def and_then_they_change(*asked):
        found = check(*asked)
        written(job, ("big", "v >"))
        return found

    monkeypatch.setattr(_jvm, "problems_of_rules", and_then_they_change)

    job.run()

    (row,) = job.rows("kept")
    assert (row["hits"], row["hits_failed"]) == (["big"], [])


def test_a_former_condition_stays_also_where_nothing_was_fixed_yet_for_the_newest_batch(small_job):
    job = small_job(JOB, of_files())
    written(job, ("big", "v > 5"))
    job.feed([event("1", 0, v=9.0)])
    job.run()
    job.feed([event("2", 1, v=9.0)])
    dies(job, "rename", "/offsets/1$", side="after")
    assert not (job.checkpoint() / "_streamproof/tables/_pinned/1").exists()
    written(job, ("big", "v >"))

    result = job.run()

    assert hits(job) == {"1": ["big"], "2": ["big"]}
    assert any("its former condition stays" in note for note in result.notes)


def test_conditions_that_are_no_text_are_refused(small_job):
    job = small_job(JOB, of_files())
    (job.folder / "limits").mkdir()
    pq.write_table(pa.table({"rule": ["big"], "condition": [True]}), job.folder / "limits/all.parquet")
    job.feed([event("1", 0, v=9.0)])

    error = job.stopped(JobDefinitionError)

    assert 'rules("limits"): the column condition of the table is boolean' in error.message
