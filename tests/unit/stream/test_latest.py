"""The newest row of each key: what is refused, and what a query says of it."""

from datetime import timedelta

import pytest

from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, tumbling
from streamproof.stream.node import source

EVENTS = Stream(source("events"))
NEWEST = EVENTS.latest("client", order_by="version", within="1 minute")


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ((), {}, "latest() needs the columns of the key"),
        ((1,), {}, "latest() got a int"),
        (("a",), {"order_by": None}, "latest(order_by=...) got a NoneType"),
        (("a",), {"within": "0 seconds"}, "the horizon is nothing"),
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
