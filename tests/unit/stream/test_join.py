"""The interval join: what is refused, and what a query says of it."""

from datetime import timedelta

import pytest

from streamproof.core.sides import LATE_OF, UNMATCHED_OF
from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, hopping, session, tumbling
from streamproof.stream.aggregates import sketch
from streamproof.stream.node import source

ORDERS, PAYMENTS, RETURNS = (Stream(source(name)) for name in ("orders", "payments", "returns"))
WITHIN = ("-10 minutes", "24 hours")


def joined(**given):
    return ORDERS.join(PAYMENTS, **{"on": "order_id", "between": WITHIN, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"between": None}, "it has no time bound"),
        ({"between": ("1 hour", "-1 hour")}, "the first bound is above the second"),
        ({"between": "1 hour"}, "is no pair of durations"),
        ({"between": ("1 hour",)}, "is no pair of durations"),
        ({"between": ("0 seconds", "soon")}, "is not a duration"),
        ({"between": ("0 seconds", timedelta(1))}, "a duration is a text"),
        ({"between": ("0 seconds", "10 microseconds")}, "is not a whole number of milliseconds"),
        ({"between": ("0 seconds", "36501 days")}, "farther than a hundred years"),
        ({"on": ()}, "has no column"),
        ({"on": 1}, "got a int"),
        ({"on": ("a", "a")}, "names a twice"),
        ({"how": "outer"}, "join(how='outer') is not known"),
        ({"how": None}, "join(how=None) is not known"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(given, said):
    with pytest.raises(JobDefinitionError) as refused:
        joined(**given)

    assert said in refused.value.message


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ORDERS.join("payments", on="order_id", between=WITHIN), "got a str"),
        (
            lambda: ORDERS.join(ORDERS.filter("true", name="all"), on="order_id", between=WITHIN),
            "of two streams of the source orders",
        ),
        (lambda: joined().join(RETURNS, on="order_id", between=WITHIN), "join() stands after join()"),
        (lambda: ORDERS.deduplicate("order_id").join(PAYMENTS, on="order_id", between=WITHIN), "join() stands after deduplicate()"),
        (lambda: RETURNS.join(joined(), on="order_id", between=WITHIN), "join() stands after join()"),
        (lambda: joined().window(tumbling("1 minute"), emit="early"), 'A window stands after join(), and has emit="early"'),
        (
            lambda: joined().transform(lambda rows: rows).window(tumbling("1 minute")),
            "transform() stands between join() and a window",
        ),
        (lambda: joined().window(hopping("2 minutes", every="1 minute")), "A window that overlaps stands after join()"),
        (lambda: joined().window(session("1 minute"), by="order_id"), "A session stands after join()"),
        (
            lambda: joined().window(tumbling("1 minute")).aggregate(n=sketch.distinct("v")),
            "is declared, and its window stands after join()",
        ),
        (lambda: joined().deduplicate("order_id", within="1 day", order_by="at", keep="last"), "deduplicate() stands after join()"),
        (lambda: joined().transform(lambda rows: rows).deduplicate("order_id"), "deduplicate() stands after join()"),
        (lambda: joined().deduplicate("order_id").deduplicate("order_id"), "deduplicate() stands after join()"),
        (lambda: joined().deduplicate("order_id").window(tumbling("1 minute"), emit="early"), "A window stands after join()"),
        (lambda: joined().latest("order_id", order_by="v", within="1 day"), "latest() stands after join()"),
        (lambda: joined().filter("true", name="all"), "filter() stands after join()"),
        (lambda: joined().union(RETURNS), "union() of a stream after join()"),
        (lambda: joined().late, "A join has no .late"),
        (lambda: ORDERS.late_left, "Only a join has .late_left"),
        (lambda: ORDERS.unmatched_right, "Only a join has .unmatched_right"),
        (lambda: joined(how="left").unmatched_left, "of a join whose how makes these rows part of the output"),
        (lambda: joined(how="full").unmatched_right, "of a join whose how makes these rows part of the output"),
    ],
)
def test_what_is_not_modelled_is_refused(call, said):
    with pytest.raises(JobDefinitionError) as refused:
        call()

    assert said in refused.value.message


def test_a_query_has_what_was_asked_for():
    both = joined(on=["order_id", "shop"], how="left").transform(lambda rows: rows)
    operator = both.node.keeping[0]

    assert (operator.key, operator.earliest, operator.latest) == (("order_id", "shop"), timedelta(minutes=-10), timedelta(days=1))
    assert both.node.sources == ("orders", "payments")
    assert both.node.together == (("orders",), ("payments",))
    assert [str(side) for side in both.node.sides] == ["late:left", "late:right", "rejected", "unmatched:right"]


def test_streams_put_together_before_it_are_one_side():
    node = ORDERS.union(RETURNS).join(PAYMENTS, on="order_id", between=WITHIN).node

    assert node.together == (("orders", "returns"), ("payments",))
    assert [branch.source for branch in node.branches] == ["orders", "returns", "payments"]


def test_side_outputs_are_of_one_side_each():
    paid = joined()
    outputs = Outputs(paid=paid, early=paid.late_left, unpaid=paid.unmatched_left, unknown=paid.unmatched_right)

    assert outputs.sides_of("paid") == {LATE_OF[0]: "early", UNMATCHED_OF[0]: "unpaid", UNMATCHED_OF[1]: "unknown"}


def test_a_column_of_the_right_stream_that_the_left_one_has_too_is_called_otherwise():
    operator = joined().node.operator

    assert operator._names(["order_id", "at", "total"], ["order_id", "AT", "method"]) == [
        ("_left_", "order_id", "order_id"),
        ("_left_", "at", "at"),
        ("_left_", "total", "total"),
        ("_right_", "AT", "AT_right"),
        ("_right_", "method", "method"),
    ]
    with pytest.raises(JobDefinitionError, match="gives two columns at_right"):
        operator._names(["order_id", "at", "at_right"], ["order_id", "at"])


def test_what_stands_after_a_join_has_no_late_rows_of_its_own_and_leaves_rows_open_in_the_join():
    node = joined().deduplicate("order_id").node

    assert {str(side) for side in node.sides} == {*map(str, (*LATE_OF, *UNMATCHED_OF)), "rejected", "duplicate"}
    assert (node.passes_on, node.open_are) == (True, "row")
    assert (joined().node.passes_on, ORDERS.deduplicate("order_id").node.passes_on) == (False, False)
