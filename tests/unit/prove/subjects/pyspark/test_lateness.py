"""Late rows are worked out from what reached the state and the watermarks; which were meant to be late is told by their time."""

from pathlib import Path

import pytest

from streamproof._jvm import Key, Operator
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.perturb import SampleEvent
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_records import Record
from streamproof.prove.scenario.sample_time import TimeColumn
from streamproof.prove.subjects.pyspark.before_state import Reached
from streamproof.prove.subjects.pyspark.events import Offered
from streamproof.prove.subjects.pyspark.expected import Expected
from streamproof.prove.subjects.pyspark.fault_free import FaultFree
from streamproof.prove.subjects.pyspark.lateness import Lateness, lateness_of
from streamproof.prove.subjects.pyspark.reading import Batch
from streamproof.prove.subjects.pyspark.stateful import NeverFreed, Stateful

START_US = 1_767_225_600_000_000
SECOND = 1_000_000
WINDOWS = Operator("aggregation", (Key("window", "struct<start:timestamp,end:timestamp>", True),), "update")
JOIN = Operator("join", sides=(True, True))


def offered(kinds):
    """One event a second from 0 on, one in each file, of the kinds given."""
    records = [Record(None, {"at": (START_US + second * SECOND) // 1_000}) for second in range(len(kinds))]
    sample = Sample(
        "clicks", Path("x.json"), "json", "at bigint", records, TimeColumn("at", "milliseconds"), None, {"at": "bigint"}
    )
    return {
        "clicks": Offered(
            sample,
            {
                f"f{n}": [SampleEvent(f"clicks-{n:06d}", kind, record)]
                for n, (kind, record) in enumerate(zip(kinds, records, strict=True))
            },
            {},
        )
    }


def batches(*files, marks):
    return tuple(
        Batch(number, {"clicks": its}, START_US // 1_000 + mark * 1_000 if mark is not None else 0)
        for number, (its, mark) in enumerate(zip(files, marks, strict=True))
    )


def rows(*seconds, width=0):
    return tuple((START_US + (second + width) * SECOND, START_US + second * SECOND) for second in seconds)


CUT = batches(("f5",), ("f9",), ("f1", "f2"), (), marks=(None, 5, 9, 9))
KINDS = ["plain"] * 10


REACHED = ((0, rows(5)), (1, rows(9)), (2, rows(1, 2)))


def found(reached=REACHED, kinds=KINDS, looked=CUT, counted=1, operator=WINDOWS, delay_ms=0):
    return lateness_of(
        "out", [Stateful("out", operator, (), counted)], CUT, (Reached(delay_ms, tuple(reached)), looked), offered(kinds)
    )


def test_a_row_is_late_that_is_not_after_the_watermark_of_the_batch_before():
    lateness = found()

    assert (lateness.worked_out, lateness.own, lateness.counted, lateness.longest_us) == (2, 2, 1, 4 * SECOND)
    assert found(((2, rows(5, 6)),)).worked_out == 1, "the bound itself is late, what is after it is not"


def test_windows_are_late_by_their_end():
    assert found(((2, rows(1, 2, width=4)),)).worked_out == 1
    assert found(((2, rows(1, width=3)),)).own == 1, "told by the time of the event"


def test_what_was_meant_to_be_late_and_copies_are_not_the_jobs_own():
    assert found(kinds=["plain", "late", "plain", *KINDS[3:]]).own == 1
    assert found(kinds=["plain", "late", "duplicate", *KINDS[3:]]).own == 0
    assert found(kinds=["plain", "delayed", "late", *KINDS[3:]]).own == 1


def test_a_row_with_several_windows_is_late_once_for_each():
    lateness = found(((2, (*rows(1), *rows(1, width=2), *rows(2))),), kinds=["plain", "plain", "late", *KINDS[3:]])

    assert (lateness.worked_out, lateness.own) == (3, 2)


def test_a_time_that_no_event_has_is_the_jobs_own_only_where_nothing_was_meant_to_be_late():
    strange = ((2, ((START_US + SECOND, START_US + 100),)),)

    assert found(strange).own == 1
    assert found(strange, kinds=["late", *KINDS[1:]]).own == 0


def test_a_time_that_was_cut_to_seconds_is_known():
    kinds = ["plain", "late", *KINDS[2:]]
    one = offered(kinds)["clicks"]
    one.sample.records[1].values["at"] += 417  # type: ignore[index]

    lateness = lateness_of("out", [Stateful("out", WINDOWS, (), 1)], CUT, (Reached(0, ((2, rows(1, 2)),)), CUT), {"clicks": one})

    assert (lateness.worked_out, lateness.own) == (2, 1)


def test_a_row_without_event_time_is_not_late():
    assert found(((2, ((None, None),)),), counted=0).worked_out == 0


@pytest.mark.parametrize(
    ("operator", "kinds", "own"),
    [
        (JOIN, KINDS, 7),
        (JOIN, ["late", "duplicate", *KINDS[2:]], 5),
        (JOIN, ["late"] * 10, 0),
        (WINDOWS, KINDS, 7),
        (WINDOWS, ["late", *KINDS[1:]], 0),
    ],
)
def test_where_it_cannot_be_worked_out_sparks_count_bounds_it_from_below_or_says_nothing(operator, kinds, own):
    states = [Stateful("out", operator, (), 7)]
    lateness = lateness_of("out", states, CUT, (Reached(why_not="it joins streams"), ()), offered(kinds))

    assert (lateness.worked_out, lateness.own, lateness.why_not) == (None, own, "it joins streams")


@pytest.mark.parametrize(
    ("operator", "counted", "worked_out"),
    [(WINDOWS, 2, 2), (WINDOWS, 1, 2), (WINDOWS, 0, None), (WINDOWS, 3, None), (JOIN, 2, 2), (JOIN, 1, None)],
)
def test_a_number_that_does_not_go_with_sparks_count_is_not_said(operator, counted, worked_out):
    lateness = found(operator=operator, counted=counted)

    assert lateness.worked_out == worked_out
    assert bool(lateness.why_not) is (worked_out is None)


def test_other_batches_are_not_compared():
    lateness = found(looked=batches(("f5", "f9"), ("f1", "f2"), marks=(None, 9)))

    assert (lateness.worked_out, lateness.why_not) == (None, "its batches were others in the run that looked at them")


LOST = Lateness("out", 3, 7, 5, 0, 4_200_000)
KEPT = NeverFreed("out", "it keeps all", "mend it", True, 12)


def verdicts(**given):
    return {check.name: check.verdict for check in FaultFree(**given).checks()}


def test_rows_that_nobody_meant_to_be_late_are_a_finding_with_both_counts_and_the_way_out():
    shown = FaultFree(late=(LOST,))
    (finding,) = shown.checks()[0].findings

    assert verdicts(late=(LOST,)) == {"late-rows": Verdict.FAIL, "bounded-state": Verdict.PASS}
    assert (finding.code, finding.found) == ("dropped-as-late", "7 dropped, 5 of them the job's own; Spark's own count says 3")
    assert finding.how == 'its watermark waits 0 s; one of 5 s would have kept them; --expect "late=5" lets them be'


def test_what_is_expected_is_let_be_by_name_and_said():
    assert verdicts(late=(LOST,), expected=Expected.parse(["late=5"]))["late-rows"] is Verdict.PASS
    assert verdicts(late=(LOST,), expected=Expected.parse(["late=4"]))["late-rows"] is Verdict.FAIL
    assert verdicts(kept=(KEPT,))["bounded-state"] is Verdict.FAIL
    assert verdicts(kept=(KEPT,), expected=Expected.parse(["late = 4, unbounded-state"]))["bounded-state"] is Verdict.PASS
    said = list(FaultFree(late=(LOST,), kept=(KEPT,), expected=Expected.parse(["late=5", "unbounded-state"])).notes())
    assert said == ["Let be, by --expect: late=5 (5 rows of the job's own dropped as late), unbounded-state (out: it keeps all)."]


@pytest.mark.parametrize("word", ["lates=9", "late", "late=x", "late=-1", "", "unbounded"])
def test_what_cannot_be_expected_is_refused(word):
    with pytest.raises(ScenarioError, match="is not known") as problem:
        Expected.parse([word])

    assert "late=N" in str(problem.value)


def test_the_report_says_what_is_known_and_never_a_wrong_number():
    assert (
        FaultFree(late=(LOST,))
        .about_late_rows()
        .endswith("out lost 7, 5 of them the job's own, by events and watermarks; Spark's own count says 3")
    )
    unknown = Lateness("out", 3, why_not="it joins streams")
    assert (
        "how many out lost cannot be worked out (it joins streams); Spark's own count says 3"
        in FaultFree(late=(unknown,)).about_late_rows()
    )
    assert "none can be" in FaultFree().about_late_rows()
    assert "not looked at" in FaultFree(problem="what keeps state was not looked at").about_late_rows()
