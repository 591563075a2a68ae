"""What is held against a PySpark job: every way in which its outputs can differ from those of a run without a fault."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.subjects.pyspark.checks import EARLY, Evidence, checks_of, intake
from streamproof.prove.subjects.pyspark.identity import Left as Why
from streamproof.prove.subjects.pyspark.reading import Abandoned, Batch, Left, Output
from streamproof.prove.subjects.pyspark.reference import NoReference
from streamproof.prove.subjects.pyspark.told import Query

OUT = Query("out", "append", "batches", "parquet", "kafka")
BATCHES = (Batch(0, {"clicks": ("a",)}, 0), Batch(1, {"clicks": ("b",)}, 0))
RIGHT = {0: [{"k": "x", "n": 1}], 1: [{"k": "y", "n": 2}, {"k": "z", "n": 3}]}


def left(rows, batches=BATCHES, damaged=()):
    return Left({"out": batches}, (Output("out", OUT, rows, damaged),), (OUT,))


def found(rows, expected=RIGHT, batches=BATCHES, damaged=(), masked=False, kept=""):
    evidence = Evidence(left(rows, batches, damaged), lambda *_: left(expected), {"clicks": ("a", "b")}, masked=masked, kept=kept)
    return {check.name: check for check in checks_of(evidence)}


def test_the_same_rows_in_any_order_pass():
    checks = found({0: RIGHT[0], 1: RIGHT[1][::-1]})

    assert [check.verdict for check in checks.values()] == [Verdict.PASS, Verdict.PASS]


def test_floats_may_differ_in_their_last_digits():
    assert found({0: [{"n": 0.1 + 0.2}]}, {0: [{"n": 0.3}]})["exactly-once"].verdict is Verdict.PASS
    assert found({0: [{"n": 0.31}]}, {0: [{"n": 0.3}]})["exactly-once"].verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("rows", "code", "batch"),
    [
        ({0: RIGHT[0] * 2, 1: RIGHT[1]}, "published-again", 0),
        ({0: RIGHT[0], 1: RIGHT[1][:1]}, "lost", 1),
        ({0: RIGHT[0], 1: [RIGHT[1][0], {"k": "z", "n": 4}]}, "other-value", 1),
        ({0: RIGHT[0], 1: [*RIGHT[1], {"k": "q", "n": 9}]}, "unexpected", 1),
        ({0: RIGHT[0], 1: RIGHT[1], 2: RIGHT[0]}, "unexpected", 2),
        ({0: [*RIGHT[0], *RIGHT[1]]}, "unexpected", 0),
    ],
    ids=["twice", "lost", "another value", "too many", "another batch", "in the wrong batch"],
)
def test_each_difference_has_its_code_and_its_batch(rows, code, batch):
    check = found(rows)["exactly-once"]

    assert check.verdict is Verdict.FAIL
    assert (check.findings[0].code, check.findings[0].batch) == (code, batch)


@pytest.mark.parametrize("column", ["original", "_trace", "_records"])
def test_no_column_of_somebody_elses_job_is_left_aside(column):
    assert found({0: [{"k": "x", column: "a"}]}, {0: [{"k": "x", column: "b"}]})["exactly-once"].findings[0].code == "other-value"


@pytest.mark.parametrize(("value", "rounded"), [(23.281487, True), (24.5, False), (None, False), ("x", False)])
def test_another_value_says_whether_rounding_alone_may_be_the_cause(value, rounded):
    (finding,) = found({0: [{"k": "x", "v": value}]}, {0: [{"k": "x", "v": 23.281488}]})["exactly-once"].findings

    assert (finding.code, finding.rounded) == ("other-value", rounded)


def test_what_is_left_out_of_many_differences_is_counted():
    codes = [
        finding.code
        for finding in found({0: RIGHT[0]}, {0: [*RIGHT[0], *({"k": f"r{n}"} for n in range(9))]})["exactly-once"].findings
    ]

    assert codes == ["lost"] * 5 + ["more-of-them"]


def test_an_output_without_batches_is_compared_as_a_whole():
    everything = [row for rows in RIGHT.values() for row in rows]

    assert found({None: everything})["exactly-once"].verdict is Verdict.PASS
    assert found({None: everything[1:]})["exactly-once"].findings[0].code == "lost"


def test_an_output_that_is_not_there_at_all_is_said():
    evidence = Evidence(Left({"out": BATCHES}, (), (OUT,)), lambda *_: left(RIGHT), {"clicks": ("a", "b")})

    assert [finding.code for finding in checks_of(evidence)[1].findings] == ["no-row"]


def test_without_a_reference_nothing_is_known():
    def none(*_):
        raise NoReference("a batch without data lies between others")

    check = checks_of(Evidence(left(RIGHT), none, {"clicks": ("a", "b")}))[1]

    assert check.verdict is Verdict.UNKNOWN
    assert "a batch without data" in str(check.problem)


@pytest.mark.parametrize(
    ("batches", "code"),
    [(BATCHES[:1], "not-offered"), ((*BATCHES, Batch(2, {"clicks": ("a",)}, 0)), "offered-again")],
    ids=["a file that is in no batch", "one that is in two"],
)
def test_r22_every_file_is_in_one_batch(batches, code):
    check = found(RIGHT, batches=batches)["intake"]

    assert check.verdict is Verdict.FAIL
    assert check.findings[0].code in (code, "offered-again", "not-offered")


def test_r22_two_sources_that_read_one_input_are_held_against_it_each():
    both = Batch(0, {"clicks": ("a", "b"), "clicks#2": ("a", "b")}, 0)
    half = Batch(0, {"clicks": ("a", "b"), "clicks#2": ("a",)}, 0)

    assert found(RIGHT, batches=(both,))["intake"].verdict is Verdict.PASS
    assert found(RIGHT, batches=(half,))["intake"].findings[0].code == "not-offered"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"clicks": ("a", "b")}, "no file of the input clicks is"),
        ({"clicks": ("a", "b"), "payments": ("p",)}, "no file of the input payments is"),
        ({"clicks": ("a", "b"), "payments": ("p",), "trades": ("t",)}, "no file of the input payments or trades is"),
    ],
)
def test_r22_a_source_that_has_read_nothing_is_a_finding(files, says):
    both = Batch(0, {"clicks": ("a", "b"), "source 1": ()}, 0)

    check = checks_of(Evidence(left(RIGHT, (both,)), lambda *_: left(RIGHT), files))[0]

    assert (check.verdict, check.problem) == (Verdict.FAIL, None)
    assert [finding.code for finding in check.findings] == ["not-offered"]
    assert says in check.findings[0].what


def test_r22_a_source_of_an_input_without_files_has_nothing_to_read():
    both = Batch(0, {"clicks": ("a", "b"), "source 1": ()}, 0)

    check = checks_of(Evidence(left(RIGHT, (both,)), lambda *_: left(RIGHT), {"clicks": ("a", "b"), "payments": ()}))[0]

    assert check.verdict is Verdict.PASS


def test_an_output_that_is_not_read_here_is_unknown_by_name_and_hides_no_other_difference():
    table = Output("lake/spending", None, {None: []}, unread="it has deletion vectors")
    out = Output("out", OUT, RIGHT)
    for rows, verdict in ((RIGHT, Verdict.UNKNOWN), ({0: RIGHT[0]}, Verdict.FAIL)):
        its = Left({"out": BATCHES}, (table, Output("out", OUT, rows)), (OUT,))
        reference = Left({"out": BATCHES}, (table, out), (OUT,))
        check = checks_of(Evidence(its, lambda *_, left=reference: left, {"clicks": ("a", "b")}))[1]

        assert check.verdict is verdict
        assert check.problem == "The output lake/spending is not read here: it has deletion vectors."


def test_what_a_job_keeps_in_memory_is_named_with_the_first_difference():
    findings = found({0: RIGHT[0]}, kept="perhaps because of totals")["exactly-once"].findings

    assert [finding.how for finding in findings] == ["perhaps because of totals", None]
    assert [finding.page for finding in findings] == ["state-in-a-python-dict", EARLY]
    assert found(RIGHT, kept="perhaps because of totals")["exactly-once"].verdict is Verdict.PASS


def test_rows_that_never_come_name_the_page_of_progress_that_is_stored_too_early():
    lost = found({0: RIGHT[0]})["exactly-once"].findings
    again = found({0: RIGHT[0] * 2, 1: RIGHT[1]})["exactly-once"].findings

    assert {finding.page for finding in lost} == {EARLY} == {"offsets-before-the-write"}
    assert {finding.page for finding in again} == {""}


def test_values_are_masked():
    finding = found({0: RIGHT[0], 1: RIGHT[1][:1]}, masked=True)["exactly-once"].findings[0]

    assert "z" not in f"{finding.expected}{finding.found}".replace("masked", "")
    assert "k, n" in str(finding.expected)


@pytest.mark.parametrize(
    ("why", "code", "said"),
    [
        (Why.CHANGED, "checkpoint-changes", "was /lake/1 before the crash, and is /lake/2 after it"),
        (Why.NONE, "checkpoint-missing", "it names no checkpoint"),
        (Why.DELETED, "checkpoint-deleted", "deletes its checkpoint /lake/1"),
    ],
)
def test_a_query_that_begins_from_nothing_after_a_crash_is_a_finding_with_its_cause(why, code, said):
    abandoned = (Abandoned("out", why, "/lake/1", "/lake/2", {"clicks": frozenset({"a"})}),)
    evidence = Evidence(replace(left(RIGHT), abandoned=abandoned), lambda *_: left(RIGHT), {"clicks": ("a", "b")})

    (finding,) = intake(evidence)

    assert finding.code == code
    assert said in finding.found
    assert "reads 1 file again" in finding.what


def test_a_checkpoint_that_was_left_before_anything_was_committed_is_no_finding():
    abandoned = (Abandoned("out", Why.NONE, None, None, {}),)
    evidence = Evidence(replace(left(RIGHT), abandoned=abandoned), lambda *_: left(RIGHT), {"clicks": ("a", "b")})

    assert not list(intake(evidence))


def test_a_shared_checkpoint_is_a_finding():
    evidence = Evidence(replace(left(RIGHT), sharing=(("out", "more", "/cp"),)), lambda *_: left(RIGHT), {"clicks": ("a", "b")})

    assert [finding.code for finding in intake(evidence)] == ["checkpoint-shared"]


@pytest.mark.parametrize(
    ("rows", "with_spoilt", "codes"),
    [
        (300, True, []),
        (298, True, []),
        (298, False, []),
        (299, False, ["rows-too-many"]),
        (304, True, ["rows-too-many"]),
        (4, True, ["rows-missing"]),
    ],
)
def test_as_many_rows_reach_the_job_as_there_are_events(rows, with_spoilt, codes):
    one = replace(left(RIGHT), rows_in={"clicks": (rows, with_spoilt)})
    evidence = Evidence(one, lambda *_: left(RIGHT), {"clicks": ("a", "b")}, events={"clicks": (300, 2)})

    assert [finding.code for finding in intake(evidence)] == codes
