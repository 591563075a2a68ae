"""R28: what the generator meant an event to be decides, together with the user's calls."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OutputRow
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.query import twins_of
from streamproof.prove.scenario.generate import Edge, Kind
from unit.prove.small import FILE, PLAIN, changed, check, only_finding, rows_of, with_left_by, with_rows


def made(history, trace, kind, **changes):
    """The history with an event that was made as something else."""
    events = {**history.events, trace: replace(history.events[trace], kind=kind, **changes)}
    return replace(history, offered=replace(history.offered, events=events))


def asking(history, asked, **changes):
    return replace(
        history, queries=[replace(history.queries[0], declared=replace(history.queries[0].declared, root=asked, **changes))]
    )


def rejected(history, trace, reason):
    """The history with one more row among the rejected."""
    original = history.events[trace].record.decode()
    row = OutputRow(0, FILE, {"reason": reason, "original": original})
    return with_rows(history, "rejected", [*rows_of(history, "rejected"), row])


def test_a_faultless_history_has_the_fates_that_were_meant(once, plain):
    assert check("intent", once).verdict is Verdict.PASS
    assert check("intent", plain).verdict is Verdict.PASS


def test_without_the_calls_nothing_can_be_told(once):
    assert check("intent", asking(once, None)).verdict is Verdict.UNKNOWN


def test_an_invalid_event_that_goes_on_is_found(once):
    finding = only_finding("intent", with_rows(once, "rejected", []))

    assert (finding.event, finding.what) == ("e-4", "was made invalid and was not rejected by totals")
    assert finding.expected == "rejected by: total > 0"


def test_an_invalid_event_must_name_a_requirement_of_the_user_s(once):
    row = rows_of(once, "rejected")[0]

    assert "something else" in only_finding("intent", with_rows(once, "rejected", [changed(row, reason="not parseable")])).what
    assert check("intent", with_rows(once, "rejected", [changed(row, reason="total > 0 (is null)")])).verdict is Verdict.PASS


def test_an_invalid_event_that_no_requirement_knows_is_found(once):
    finding = only_finding("intent", with_rows(asking(once, twins_of(Asked("s").then("deduplicate", key=("id",)))), "rejected", []))

    assert finding.expected == "rejected by: no requirement is there to reject it"


def test_an_invalid_event_may_be_filtered(once):
    assert check("intent", made(once, "e-7", Kind.INVALID)).verdict is Verdict.PASS


@pytest.mark.parametrize("kind", [Kind.MALFORMED, Kind.MISSING_TIME, Kind.UNPARSEABLE_TIME, Kind.FUTURE_TIME])
def test_what_nobody_can_read_and_goes_on_is_found(once, kind):
    finding = only_finding("intent", made(once, "e-6", kind))

    assert finding.what == f"was made {kind.replace('_', ' ')} and was not rejected by totals"


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (Kind.MALFORMED, "not parseable", "no event time in ts"),
        (Kind.MISSING_TIME, "no event time in ts", "event time in ts not readable"),
        (Kind.UNPARSEABLE_TIME, "event time in ts not readable", "no event time in ts"),
        (Kind.FUTURE_TIME, "event time more than 1 day in the future", "total > 0"),
    ],
)
def test_what_nobody_can_read_says_so(once, kind, right, wrong):
    history = made(once, "e-6", kind)

    assert check("intent", rejected(history, "e-6", right)).verdict is Verdict.PASS
    assert "rejected for something else" in only_finding("intent", rejected(history, "e-6", wrong)).what


def test_times_that_the_file_declares_no_limit_for_may_go_on(once):
    history = asking(made(once, "e-6", Kind.FUTURE_TIME), once.queries[0].declared.root, time=AskedTime("ts"))

    assert check("intent", history).verdict is Verdict.PASS


def test_an_ordinary_event_is_rejected_by_the_user_s_conditions_alone(once):
    assert check("intent", rejected(once, "e-6", "total > 0")).verdict is Verdict.PASS
    assert only_finding("intent", rejected(once, "e-6", "not parseable")).what == "was made ordinary and was rejected by totals"


def test_a_copy_that_counts_beside_its_event_is_found(plain):
    deduplicated = twins_of(PLAIN.asked.then("deduplicate", key=("id",)))

    finding = only_finding("intent", asking(plain, deduplicated))

    assert (finding.event, finding.what) == ("e-1+1", "is a copy of e-1, and both count in rows, which deduplicates")


def test_a_duplicate_where_nothing_deduplicates_is_found(once):
    assert (
        "does not deduplicate"
        in only_finding("intent", asking(once, twins_of(Asked("s").then("require", conditions={"p": "total > 0"})))).what
    )


@pytest.mark.parametrize(("trace", "late"), [("e-9", True), ("e-8", False)])
def test_an_event_at_an_edge_is_late_or_in_time_as_it_was_meant(once, trace, late):
    bound_us = once.queries[0].model.by_batch[2].bound_us
    right = made(once, trace, Kind.OK, edge=Edge("at the late bound", "totals", late, bound_us))
    wrong = made(once, trace, Kind.OK, edge=Edge("at the late bound", "totals", not late, bound_us))

    assert check("intent", right).verdict is Verdict.PASS
    assert only_finding("intent", wrong).what == f"was made at the late bound and is {'late' if late else 'in time'} in totals"


def test_where_the_bound_is_another_one_other_events_are_late(once):
    moved = made(once, "e-8", Kind.OK, edge=Edge("at the bound", "totals", True, 7))

    assert check("intent", moved).verdict is Verdict.PASS


def test_r14_what_another_query_rejects_by_the_clock_of_its_own_batch_is_no_mistake_of_this_one(once):
    """Both share the rejected output; the first one's batch was planned by a clock for which the event lay in the future."""
    history = rejected(once, "e-6", "event time more than 1 day in the future")
    (view,) = history.queries
    assert only_finding("intent", history).event == "e-6"

    batches = [with_left_by(outcome, "rejected", "e-6") if "e-6" in outcome.traces else outcome for outcome in view.model.batches]
    planned_before = replace(view, model=replace(view.model, batches=tuple(batches)))
    unlike = replace(view, left=replace(view.left, query="others"))

    assert check("intent", replace(history, queries=[planned_before, unlike])).verdict is Verdict.PASS
