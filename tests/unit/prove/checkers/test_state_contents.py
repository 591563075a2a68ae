"""State holds what it must."""

from dataclasses import replace

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OperatorState, StateContents
from streamproof.prove.oracle.trace import Vector, hash_of
from unit.prove.small import ONCE, PLAIN, RECORDS, SECOND, check, faultless, held_by, only_finding, with_held, with_left

WINDOWS, KEYS = 0, 1
"""The operators of the state, the last one first."""


def with_state(history, **changes):
    left = history.queries[0].left
    return with_left(history, replace(left, state=replace(left.state, **changes)))


def holding(history, number, **changes):
    left = history.queries[0].left
    return with_left(history, replace(left, state=with_held(left.state, number, **changes)))


def test_an_event_that_state_has_lost_is_named(once):
    windows = dict(held_by(once.queries[0].left.state).groups)
    key = (("a",), 150 * SECOND)
    windows[key] = windows[key].minus(Vector(1, hash_of("e-8")))

    finding = only_finding("state-contents", holding(once, WINDOWS, groups=windows))

    assert (finding.event, finding.what) == ("e-8", "is missing in state")


def test_records_in_a_window_without_a_time_are_found(once):
    finding = only_finding("state-contents", with_state(once, untimed=3))

    assert (finding.what, finding.found) == ("the state of totals holds records in a window without a time", "3")


def test_a_state_that_could_not_be_read_is_unknown(once):
    assert check("state-contents", with_state(once, unread="torn")).verdict is Verdict.UNKNOWN


def test_a_window_that_is_missing_in_state_or_should_have_gone_is_found(once):
    state = once.queries[0].left.state

    assert only_finding("state-contents", holding(once, WINDOWS, groups={})).what == "is missing in state and 1 more"
    left_over = holding(once, WINDOWS, groups={**held_by(state).groups, (("a",), 90 * SECOND): Vector(1, 1)})
    assert only_finding("state-contents", left_over).what == "a window is still in state though it was due"


def test_r12_a_key_that_is_forgotten_too_early_kept_too_long_or_for_another_time_is_found(once):
    remembered = dict(held_by(once.queries[0].left.state, KEYS).keys)
    assert remembered == {("e-5",): 140 * SECOND, ("e-8",): 141 * SECOND}

    def finding(keys):
        return only_finding("state-contents", holding(once, KEYS, keys=keys)).what

    assert "has forgotten e-8 too early" in finding({("e-5",): 140 * SECOND})
    assert "remembers e-1, which it should not" in finding({**remembered, ("e-1",): 71 * SECOND})
    assert "remembers e-8 for another time" in finding({**remembered, ("e-8",): 1})
    assert "holds the key e-8 twice" in only_finding("state-contents", with_state(once, repeated=("key e-8",))).what


def test_r12_a_key_is_compared_by_the_names_of_its_columns():
    """Whatever order Spark keeps them in."""
    once = faultless(replace(ONCE, deduplicate=("id", "client")), RECORDS, no_data=1)
    keys = {key[::-1]: expiry for key, expiry in held_by(once.queries[0].left.state, KEYS).keys.items()}
    assert keys

    assert check("state-contents", holding(once, KEYS, keys=keys, columns=("client", "id"))).verdict is Verdict.PASS
    assert check("state-contents", holding(once, KEYS, keys=keys, columns=("client", "other"))).verdict is Verdict.FAIL


def test_state_that_was_not_read_is_unknown(once):
    assert check("state-contents", with_left(once, replace(once.queries[0].left, state=None))).verdict is Verdict.UNKNOWN


def test_an_operator_that_nobody_asked_for_is_no_state_to_pass_by(once):
    state = once.queries[0].left.state
    unknown = replace(
        once.queries[0].left, state=replace(state, operators=(*state.operators, replace(held_by(state), holds="row")))
    )

    assert check("state-contents", with_left(once, unknown)).verdict is Verdict.UNKNOWN


def test_state_of_a_kind_that_is_there_once_too_often_is_found(once):
    state = once.queries[0].left.state
    twice = replace(once.queries[0].left, state=replace(state, operators=(*state.operators, held_by(state))))

    found = check("state-contents", with_left(once, twice)).findings
    assert {finding.what for finding in found} == {"a window is in state that no event is in"}


def test_state_of_a_query_that_keeps_none_is_no_state_to_pass_by():
    history = faultless(PLAIN, RECORDS)
    some = history.queries[0].model.places["input"]
    states = {
        "none": StateContents(),
        "of windows": StateContents((OperatorState("window", {((), 1): some}),)),
        "unread": StateContents(unread="the operator 0 is dedupe, whose state Streamproof does not read"),
    }

    results = {
        name: check("state-contents", with_left(history, replace(history.queries[0].left, state=state)))
        for name, state in states.items()
    }

    assert {name: result.verdict for name, result in results.items()} == {
        "none": Verdict.PASS,
        "of windows": Verdict.UNKNOWN,
        "unread": Verdict.UNKNOWN,
    }
    assert "whose state Streamproof does not read" in results["unread"].problem
