"""R32: rules are data. They change with the batches, one that is wrong is rejected, and one that fails on a row holds up nothing."""

import json

import pytest

from full_tables import full
from spark.small_job import Binding, dies, event
from streamproof.config import load
from streamproof.core.notes import NoteCode
from streamproof.errors import JobDefinitionError
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.rules("limits", rule="rule", when="condition", into="hits"))
"""
CHANGES = {
    "connector": "changes",
    "path": "limits",
    "schema": "rule string, condition string, version long, gone boolean",
    "key": "rule",
    "order_by": "version",
    "deleted": "gone",
    "refresh": "0 seconds",
}


def bound(**table):
    return Binding(sinks={"kept": "parquet"}, tables={"table.limits": {**CHANGES, **table}})


class Limits:
    """The stream of rules of a job, a record in a file of its own."""

    def __init__(self, job):
        self.folder, self.number = job.folder / "limits", 0
        self.folder.mkdir(exist_ok=True)

    def say(self, rule, condition=None, *, gone=False):
        self.number += 1
        self.line(json.dumps({"rule": rule, "condition": condition, "version": self.number, "gone": gone}))

    def line(self, text):
        (self.folder / f"{len(list(self.folder.iterdir())):03d}.json").write_text(text + "\n")


def hits(job):
    return {row["id"]: row["hits"] for row in job.rows("kept")}


def after_each_batch(*changes):
    left = list(changes)

    def hear(event):
        if event.kind == "batch-staged" and left:
            left.pop(0)()

    return hear


def test_rules_change_between_batches_and_a_tombstone_takes_one_away(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    limits.say("of_a", "client = 'a'")
    for number in range(4):
        job.feed([event(f"{number}", number, v=4.0), event(f"b{number}", number, v=9.0, client="b")])
    heard = []

    result = job.run(
        listener=[
            after_each_batch(lambda: limits.say("big", "v > 3"), lambda: limits.say("of_a", gone=True), lambda: None),
            heard.append,
        ]
    )

    assert hits(job) == {
        "0": ["of_a"], "b0": ["big"], "1": ["big", "of_a"], "b1": ["big"], "2": ["big"], "b2": ["big"], "3": ["big"], "b3": ["big"],
    }  # fmt: skip
    assert [(one.batch, one.rows) for one in heard if one.kind == "table-read"] == [(0, 2), (1, 2), (2, 1)]
    assert len({job.manifest(batch).fingerprint.tables["limits"] for batch in range(4)}) == 3
    assert result.accounts[0].adds_up


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("v >", "Syntax error"),
        *full(
            ("volume > 3", "volume"),
            ("v + 1", "is not a boolean"),
            ("rand() > 0.5", "gives the same whenever it is asked"),
            ("v > (select 1)", ""),
            ("sum(v) > 3", ""),
            (None, "has no condition"),
        ),
    ],
    ids=["syntax", "column", "type", "chance", "subquery", "aggregate", "none"],
)
def test_a_rule_that_is_none_is_rejected_and_the_former_one_stays(small_job, condition, why):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    for number in range(3):
        job.feed([event(f"{number}", number, v=9.0)])
    heard = []

    result = job.run(
        listener=[after_each_batch(lambda: (limits.say("big", condition), limits.say("new", condition))), heard.append]
    )

    assert hits(job) == {"0": ["big"], "1": ["big"], "2": ["big"]}
    notes = [note for note in result.notes if note.code is NoteCode.RULE_REJECTED]
    assert len(notes) == 2, notes
    assert all(why in note for note in notes)
    assert "rejects the rule big" in notes[0]
    assert "its former condition stays" in notes[0]
    assert "rejects the rule new" in notes[1]
    assert "holds for no row until it is mended" in notes[1]
    assert [(one.rule, one.stays, one.batch) for one in heard if one.kind == "rule-rejected"] == [
        ("big", True, 1),
        ("new", False, 1),
    ]


@pytest.mark.full
def test_at_a_start_too_the_newest_rule_that_can_be_read_counts(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    limits.say("big", "v >")
    job.feed([event("1", 0, v=9.0)])

    job.run()

    assert hits(job) == {"1": ["big"]}


def test_a_record_that_is_no_json_is_left_out_and_counted(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    limits.line("no json")
    limits.line('{"condition": "v > 1", "version": 9}')
    job.feed([event("1", 0, v=9.0)])

    result = job.run()

    assert hits(job) == {"1": ["big"]}
    assert any("has 2 records that cannot be read" in note for note in result.notes)


def test_a_rule_that_fails_on_a_row_is_named_there_and_the_batch_goes_on(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("ratio", "1 / cast(v as int) >= 1")
    limits.say("number", "cast(client as int) > 0")
    limits.say("unknown", "null")
    limits.say("all", "true")
    job.feed([event("1", 0, v=0.0), event("2", 1, v=1.0, client="7"), event("3", 2, v=None, client=None)])

    (found,) = job.run().accounts

    assert {row["id"]: (row["hits"], row["hits_failed"]) for row in job.rows("kept")} == {
        "1": (["all"], ["number", "ratio"]),
        "2": (["all", "number", "ratio"], []),
        "3": (["all"], []),
    }
    assert (found.adds_up, found.account.emitted) == (True, 3)


def test_r32_a_batch_that_is_done_again_has_its_own_rules(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    job.feed([event("1", 0, v=9.0)])
    dies(job, "rename", "/manifests/0$")
    limits.say("big", gone=True)
    job.feed([event("2", 1, v=9.0)])

    job.run()

    assert hits(job) == {"1": ["big"], "2": []}


@pytest.mark.full
def test_rules_of_a_table_and_of_a_bounded_run(small_job):
    job = small_job(JOB, bound())
    limits = Limits(job)
    limits.say("big", "v > 5")
    limits.say("wrong", "v >")
    job.feed([event("1", 0, v=9.0), event("2", 1, v=1.0)])

    result = run_bounded(load(job.folder), spark=job.spark)

    assert (result.account.emitted, result.accounts[0].adds_up) == (2, True)


@pytest.mark.full
def test_columns_that_are_there_already_or_not_at_all_are_refused(small_job):
    taken = small_job(JOB.replace('into="hits"', 'into="client"'), bound(), folder="taken")
    missing = small_job(JOB.replace('when="condition"', 'when="rule_text"'), bound(), folder="missing")
    for job in (taken, missing):
        Limits(job).say("big", "v > 5")
        job.feed([event("1", 0)])

    assert "adds the column client, which the stream has already" in taken.stopped(JobDefinitionError).message
    assert 'needs the column "rule_text"' in missing.stopped(JobDefinitionError).message
