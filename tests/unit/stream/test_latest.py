"""The newest row of each key: what is refused, and what a query says of it."""

from datetime import timedelta

import pytest

from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, tumbling
from streamproof.stream.aggregates import sketch
from streamproof.stream.node import source

EVENTS = Stream(source("events"))
OTHERS = Stream(source("others"))
NEWEST = EVENTS.latest("client", order_by="version", within="1 minute")
SUMS = EVENTS.window(tumbling("1 minute"), by="client").aggregate(n=sketch.distinct("id"))
ONCE_AND_SUMS = EVENTS.deduplicate("id").window(tumbling("1 minute"), by="client").aggregate(n=sketch.distinct("id"))


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ((), {}, "latest() needs the columns of the key"),
        ((1,), {}, "latest() got a int"),
        (("a",), {"order_by": None}, "latest(order_by=...) got a NoneType"),
        (("a",), {"within": "0 seconds"}, "a horizon of nothing"),
        (("a",), {"within": "36501 days"}, "longer than a hundred years"),
        (("a",), {"within": "10"}, "is not a duration"),
        (("a",), {"within": timedelta(1)}, "a duration is a text"),
        (("a",), {"within": "10 microseconds"}, "is not a whole number of milliseconds"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(key, given, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.latest(*key, **{"order_by": "version", "within": "1 minute", **given})

    assert said in refused.value.message


def test_a_query_has_what_was_asked_for():
    operator = NEWEST.node.operator

    assert (operator.key, operator.order_by, operator.within) == (("client",), "version", timedelta(minutes=1))
    assert (NEWEST.node.emission.output_mode, NEWEST.node.emission.revised) == ("update", False)
    assert [str(side) for side in NEWEST.node.operator.sides] == ["late", "superseded"]
    assert Outputs(newest=NEWEST, late=NEWEST.late).sides_of("newest") == {NEWEST.late.side: "late"}


@pytest.mark.parametrize(
    "call",
    [
        lambda: NEWEST.window(tumbling("1 minute")),
        lambda: NEWEST.transform(lambda rows: rows),
        lambda: NEWEST.deduplicate("id"),
        lambda: NEWEST.filter("true", name="all"),
        lambda: NEWEST.latest("client", order_by="version", within="1 minute"),
        lambda: EVENTS.deduplicate("id").latest("client", order_by="version", within="1 minute"),
    ],
)
def test_nothing_stands_after_it_and_no_state_before_it(call):
    with pytest.raises(JobDefinitionError, match=r"stands (after|behind)"):
        call()


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: NEWEST.filter("true", name="all"), "Put filter() before latest()."),
        (lambda: NEWEST.require(v="v > 0"), "Put require() before latest()."),
        (lambda: EVENTS.deduplicate("id").latest("client", order_by="version", within="1 minute"), "Take one of the two;"),
        (lambda: NEWEST.deduplicate("id"), "Take one of the two;"),
        (lambda: SUMS.latest("client", order_by="n", within="1 minute"), "Take one of the two;"),
        (lambda: OTHERS.union(NEWEST), "let latest() stand after union()"),
    ],
    ids=["filter", "require", "after deduplicate", "before deduplicate", "after a window", "union"],
)
def test_a_refusal_names_what_stands_there_and_a_way_that_is_there(call, remedy):
    with pytest.raises(JobDefinitionError) as refused:
        call()

    assert remedy in refused.value.remedy
    assert "mark the rows" not in refused.value.remedy


def test_what_stands_after_a_window_marks_rows_and_goes_before_the_first_state():
    with pytest.raises(JobDefinitionError) as refused:
        ONCE_AND_SUMS.filter("n > 1", name="some")

    assert refused.value.message == "filter() stands after window()."
    assert refused.value.remedy.startswith("Put filter() before deduplicate(). What goes by an aggregate: mark the rows")


def test_late_rows_are_those_of_three_calls():
    with pytest.raises(JobDefinitionError) as refused:
        str(EVENTS.late)

    assert (
        refused.value.message
        == "A stream without deduplicate(), latest() or window() has no late rows: nothing is dropped by time."
    )
    assert NEWEST.late
