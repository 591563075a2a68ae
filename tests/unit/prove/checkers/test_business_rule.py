"""The hand-written model takes every event, and says where it must go by itself."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import Handwritten
from unit.prove.small import check, only_finding

RIGHT = {"e-1": "kept", "e-1+1": "kept", "e-4": "rejected", "e-7": "filtered", "e-8": "kept", "e-9": "kept"}
"""Of those that are kept one is a duplicate, one in an open window, one late."""


def intending(history, fates):
    return replace(history, queries=[replace(history.queries[0], handwritten=Handwritten(fates=fates))])


def test_where_every_event_goes_as_the_model_says_nothing_is_found(once):
    assert check("business-rule", intending(once, RIGHT)).verdict is Verdict.PASS
    assert check("business-rule", once).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("trace", "meant", "went"), [("e-4", "kept", "rejected"), ("e-7", "kept", "filtered"), ("e-2", "rejected", "kept")]
)
def test_an_event_that_goes_elsewhere_is_found(once, trace, meant, went):
    finding = only_finding("business-rule", intending(once, RIGHT | {trace: meant}))

    assert (finding.event, finding.expected, finding.found) == (trace, meant, went)
    assert finding.what == f"is {went} by totals, and the hand-written model says otherwise"


def test_a_rejection_says_its_reason(once):
    assert "rejected because: total > 0" in only_finding("business-rule", intending(once, {"e-4": "kept"})).how


def test_an_event_that_only_the_clock_of_its_batch_takes_for_a_future_one_is_left_aside(once):
    view = once.queries[0]
    arrived = {**view.arrived, "e-4": replace(view.arrived["e-4"], fate="passed")}
    there = replace(once, queries=[replace(view, arrived=arrived, handwritten=Handwritten(fates=RIGHT | {"e-4": "kept"}))])

    assert check("business-rule", there).verdict is Verdict.PASS
