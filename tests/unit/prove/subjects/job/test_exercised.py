"""R29: what was not exercised is not proved; it is named, by what the scenario may let be."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.config.sources import EventTime
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove.artifacts.history import AsTable, Bounded
from streamproof.prove.assembling import verdict_of
from streamproof.prove.oracle.facts import Facts
from streamproof.prove.subjects.job.exercised import Code, exercises, is_allowed, not_exercised, require_known
from streamproof.stream.node import source
from streamproof.stream.outputs import Outputs
from unit.prove.small import DEDUPLICATED, ONCE, PLAIN, RECORDS, WINDOW, at, faultless, with_rows

EVENT_TIME = EventTime(column="ts", unit="milliseconds", lag="10 seconds")
SOUND = [at("e-1", 61), at("e-2", 62)]


def totals(stream):
    """The job that WINDOW and ONCE are the shapes of; `total` stands for an aggregate."""
    return stream.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(
        total=SimpleNamespace(alias=None)
    )


def trades():
    return sp.Stream(source("trades"))


def wanted(*, event_time=EVENT_TIME, **outputs):
    return exercises(Outputs(**outputs), {"trades": event_time})


def missing(history, exercises_of_job):
    return [(str(one.code), one.name) for one in not_exercised(history, exercises_of_job)]


def test_a_run_that_has_seen_everything_misses_nothing():
    job = totals(trades().filter("total > 0", name="total > 0").require(total="total > 0").deduplicate("id"))
    records = [[*RECORDS[0]], [*RECORDS[1]], [*RECORDS[2]]]
    history = faultless(ONCE, records, no_data=1)
    all_of_it = [one for one in wanted(totals=job, late=job.late, rejected=job.rejected) if one.code is not Code.FILTER]

    assert history.queries[0].model.account.late
    assert missing(history, all_of_it) == []


def test_each_thing_that_never_happened_is_named_once():
    once = trades().require(total="total > 0").filter("total > 1", name="small").deduplicate("id")
    job = totals(once)
    found = missing(faultless(ONCE, [SOUND]), wanted(totals=job, late_trades=job.late, rejected=job.rejected))

    assert found == [
        ("output-without-row", "totals"),
        ("late-not-exercised", "late_trades"),
        ("rejected-not-exercised", "rejected"),
        ("filter-not-exercised", "filtered.small"),
        ("duplicate-not-exercised", "duplicate"),
    ]


def test_a_pass_in_which_all_records_were_filtered_is_vacuous():
    """Issue 19: `emitted 0 · filtered 300` passed."""
    gone = [[at(f"e-{number}", 61, fate="filtered") for number in range(300)]]
    history = faultless(PLAIN, gone)
    rows = wanted(rows=trades().filter("total > 0", name="small"), event_time=None)

    assert history.queries[0].model.account.filtered == 300
    assert missing(history, rows) == [("output-without-row", "rows")]


def test_a_filter_is_exercised_by_what_it_left_out_itself():
    job = trades().filter("total > 0", name="small").filter("total < 9", name="large")

    assert missing(faultless(PLAIN, [[at("e-1", 61), at("e-2", 62, fate="filtered")]]), wanted(rows=job, event_time=None)) == [
        ("filter-not-exercised", "filtered.large")
    ]


def test_what_a_job_cannot_do_is_not_asked_for():
    assert missing(faultless(PLAIN, [SOUND]), wanted(rows=trades(), event_time=None)) == []
    assert missing(faultless(DEDUPLICATED, [SOUND]), wanted(totals=trades().deduplicate("id"))) == [
        ("late-not-exercised", "late"),
        ("rejected-not-exercised", "rejected"),
        ("duplicate-not-exercised", "duplicate"),
    ]


@pytest.mark.parametrize(("versions", "found"), [((1, 2), [("older-fact-not-exercised", "rows.older")]), ((2, 1), [])])
def test_a_table_of_facts_must_have_seen_an_older_one_behind_a_newer(versions, found):
    rows = {f"e-{number}": {"account": "a", "version": version} for number, version in enumerate(versions, 1)}
    history = faultless(PLAIN, [[at("e-1", 61)], [at("e-2", 62)]])
    view = replace(history.queries[0], table=AsTable(one_of_key=Facts(("account",), "version")), bounded=Bounded(rows=rows))
    asked = exercises(Outputs(rows=trades()), {"trades": None}, ["rows"])

    assert missing(replace(history, queries=[view]), asked) == found


def test_rows_of_the_late_output_count_where_the_model_knows_nobody_who_was_late():
    job = totals(trades())
    late = [one for one in wanted(totals=job, late=job.late) if one.code is Code.LATE]
    history = faultless(WINDOW, [SOUND])
    row = history.queries[0].left.outputs["late"]

    assert missing(history, late) == [("late-not-exercised", "late")]
    other = faultless(WINDOW, RECORDS, no_data=1).queries[0].left.outputs["late"].rows
    assert other
    assert not row.rows
    assert missing(with_rows(history, "late", other), late) == []


def test_several_queries_miss_a_thing_of_one_name_once():
    history = faultless(PLAIN, [SOUND])
    both = replace(
        history, queries=[history.queries[0], replace(history.queries[0], left=replace(history.queries[0].left, query="more"))]
    )
    checked = trades().require(total="total > 0")

    assert missing(both, wanted(rows=checked, more=checked, rejected=checked.rejected)) == [
        ("rejected-not-exercised", "rejected"),
        ("output-without-row", "more"),  # its rows are those of an output called rows
    ]


def test_the_sentence_says_how_it_happens_and_how_it_may_be_left():
    job = totals(trades())
    (late,) = [one for one in wanted(totals=job) if one.code is Code.LATE]

    assert late.as_dict() == {
        "code": "late-not-exercised",
        "name": "late",
        "says": (
            "No record came late to totals. Let some come late: [source.trades.disorder] delayed = 0.02, delayed_by longer than "
            '30 seconds, three batches or more; or let it be: [expect] may_be_unexercised = ["late"]'
        ),
    }


def test_the_scenario_may_call_a_door_by_its_output_or_by_its_word():
    job = totals(trades())
    (late,) = [one for one in wanted(totals=job, late_trades=job.late) if one.code is Code.LATE]

    assert is_allowed(late, ["late"])
    assert is_allowed(late, ["late_trades"])
    assert not is_allowed(late, ["totals", "duplicate"])


def test_a_name_that_the_job_does_not_have_is_refused():
    job = totals(trades().filter("total > 0", name="small"))
    all_of_it = wanted(totals=job)

    require_known(["late", "totals", "rejected", "filtered.small"], all_of_it)
    with pytest.raises(ScenarioError, match=r'may_be_unexercised names "filtered.smal".*Did you mean "filtered.small"\?'):
        require_known(["filtered.smal"], all_of_it)
    with pytest.raises(ScenarioError, match=r'names "duplicate", which is nothing that this job does'):
        require_known(["duplicate"], all_of_it)


def test_what_was_not_exercised_makes_a_pass_unknown_and_a_failure_no_better():
    assert verdict_of([Verdict.PASS], whole=True) is Verdict.PASS
    assert verdict_of([Verdict.PASS], whole=False) is Verdict.UNKNOWN
    assert verdict_of([Verdict.PASS, Verdict.FAIL], whole=False) is Verdict.FAIL
    assert EVENT_TIME.lag == timedelta(seconds=10)
