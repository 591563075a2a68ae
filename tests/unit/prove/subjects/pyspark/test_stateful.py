"""Which state is never freed: what grows with time or with the events is a finding, what grows with its keys alone is said."""

import pytest

from streamproof._jvm import Key, Operator
from streamproof.prove.subjects.pyspark.stateful import Stateful, never_freed, note, noted

USER, CLICK = Key("user", "string", False), Key("click", "string", False)
WINDOW, LATE_WINDOW = (Key("window", "struct<start:timestamp,end:timestamp>", bounded) for bounded in (False, True))
AT = Key("at", "timestamp", True)
FEW = ((100, 10), (100, 12), (100, 12), (100, 12), (0, 12))
EACH = ((100, 100), (100, 200), (100, 290), (100, 390), (0, 390))


def aggregation(*keys, mode="update"):
    return Operator("aggregation", keys, mode)


CERTAIN = {
    "windows without a watermark": (aggregation(WINDOW, USER), FEW),
    "windows of all time in complete mode": (aggregation(LATE_WINDOW, mode="complete"), FEW),
    "a row for each event": (aggregation(CLICK), EACH),
    "the same in complete mode": (aggregation(CLICK, mode="complete"), EACH),
    "copies for ever": (Operator("deduplication", (CLICK,)), FEW),
    "a join without a watermark": (Operator("join", sides=(False, False)), FEW),
    "a join that keeps one side": (Operator("join", sides=(True, False)), FEW),
    "groups without a timeout that grow with the events": (Operator("groups", (CLICK,), timeout="NoTimeout"), EACH),
    "a processor without timers that keeps each event": (Operator("processor", (USER,), timeout="NoTime"), EACH),
}
SAID = {
    "a total for each user": (aggregation(USER), FEW),
    "the same in complete mode": (aggregation(USER, mode="complete"), FEW),
    "groups without a timeout": (Operator("groups", (USER,), timeout="NoTimeout"), FEW),
    "a processor without timers": (Operator("processor", (USER,), timeout="NoTime"), FEW),
    "of an unknown size": (aggregation(CLICK), ()),
    "after one batch": (aggregation(CLICK), EACH[:1]),
}
FREED = {
    "a total of all": (aggregation(mode="complete"), EACH),
    "windows with a watermark": (aggregation(LATE_WINDOW, USER, mode="append"), EACH),
    "the same in update mode": (aggregation(LATE_WINDOW, USER), EACH),
    "copies with their event time": (Operator("deduplication", (CLICK, AT)), EACH),
    "copies within the watermark": (Operator("deduplication within the watermark", (CLICK,)), EACH),
    "a join with watermarks and times": (Operator("join", sides=(True, True)), EACH),
    "groups with a timeout": (Operator("groups", (USER,), timeout="ProcessingTimeTimeout"), EACH),
    "a processor with timers": (Operator("processor", (USER,), timeout="EventTime"), EACH),
    "a limit": (Operator("limit"), EACH),
}


@pytest.mark.parametrize(("operator", "counts"), CERTAIN.values(), ids=CERTAIN.keys())
def test_what_grows_for_ever_is_a_finding(operator, counts):
    assert never_freed(Stateful("out", operator, counts)).certain


@pytest.mark.parametrize(("operator", "counts"), SAID.values(), ids=SAID.keys())
def test_what_grows_with_its_keys_alone_is_said(operator, counts):
    found = never_freed(Stateful("out", operator, counts))

    assert not found.certain
    assert found.rows == (counts[-1][1] if counts else 0)


@pytest.mark.parametrize(("operator", "counts"), FREED.values(), ids=FREED.keys())
def test_what_is_freed_or_bounded_is_not_named(operator, counts):
    assert never_freed(Stateful("out", operator, counts)) is None


@pytest.mark.parametrize(
    ("operator", "drops"),
    [
        (aggregation(LATE_WINDOW, mode="append"), True),
        (aggregation(LATE_WINDOW, mode="complete"), False),
        (aggregation(USER), False),
        (Operator("join", sides=(True, True)), True),
        (Operator("groups", (USER,), timeout="EventTimeTimeout"), True),
        (Operator("groups", (USER,), timeout="NoTimeout"), False),
        (Operator("processor", (USER,), timeout="EventTime"), True),
        (Operator("limit"), False),
        (Operator("deduplication", (CLICK,)), True),
        (Operator("deduplication", (CLICK,), watermarked=False), False),
        (Operator("join", sides=(False, False), watermarked=False), False),
    ],
)
def test_which_operators_drop_late_rows(operator, drops):
    assert Stateful("out", operator).drops_late is drops


class Query:
    def __init__(self, progress):
        self.recentProgress = progress


def test_what_keeps_state_is_noted_and_read_again(tmp_path, monkeypatch):
    operator = aggregation(LATE_WINDOW, USER)
    state = {"numRowsTotal": 3, "numRowsDroppedByWatermark": 2}
    monkeypatch.setattr("streamproof.prove.subjects.pyspark.stateful.operators_of_query", lambda _: [operator])
    note(
        [("out", Query([{"numInputRows": 10, "stateOperators": [state]}, {"numInputRows": 0, "stateOperators": [state]}]))],
        tmp_path,
    )

    assert noted(tmp_path) == ((Stateful("out", operator, ((10, 3), (0, 3)), 4),), "")


def test_a_plan_that_cannot_be_read_is_said_and_stops_nothing(tmp_path):
    note([("out", Query([]))], tmp_path)

    assert noted(tmp_path) == ((), "what keeps state could not be read from Spark's plan (AttributeError)")
    assert noted(tmp_path / "elsewhere") == ((), "what keeps state was not looked at")


def test_the_page_of_a_join_is_that_of_joins_and_of_others_that_of_state():
    kept = [Operator("join", sides=(False, False)), aggregation(WINDOW), Operator("processor", (USER,), timeout="NoTime")]
    pages = [found.page for one in kept if (found := never_freed(Stateful("out", one, EACH))) is not None]

    assert pages == ["join-without-a-time-bound", "state-without-time-to-live", "state-without-time-to-live"]
