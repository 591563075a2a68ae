"""Looking rows up in a table: what is refused when the job is called, and what a query says of it."""

import pytest

from streamproof.core.sides import UNMATCHED
from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, tumbling
from streamproof.stream.looked_up import Use
from streamproof.stream.node import source

EVENTS = Stream(source("events"))
PRICED = EVENTS.lookup("prices", on="sku", columns=("price",))


@pytest.mark.parametrize(
    ("table", "given", "said"),
    [
        (None, {}, "lookup() got a NoneType for a table"),
        ("a table", {}, "lookup() got 'a table' for a table"),
        ("prices", {"on": ()}, 'lookup("prices", on=...) got ()'),
        ("prices", {"on": None}, 'lookup("prices", on=...) got a NoneType'),
        ("prices", {"on": {"sku": 1}}, 'lookup("prices", on=...) got'),
        ("prices", {"how": "outer"}, "there is no such kind"),
        ("prices", {"how": "inne"}, 'Did you mean "inner"?'),
        ("prices", {"columns": 5}, 'lookup("prices", columns=...) got a int'),
        ("prices", {"columns": ("a", "a")}, "names a twice"),
        ("prices", {"as_of": 5}, 'lookup("prices", as_of=...) got a int'),
    ],
)
def test_arguments_that_make_no_sense_are_refused(table, given, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.lookup(table, **{"on": "sku", **given})

    assert said in refused.value.message
    assert refused.value.required or refused.value.remedy


@pytest.mark.parametrize(
    ("on", "pairs"),
    [
        ("sku", {"sku": "sku"}),
        (("country", "sku"), {"country": "country", "sku": "sku"}),
        ({"product": "sku"}, {"product": "sku"}),
    ],
    ids=["one", "several", "renamed"],
)
def test_a_key_is_written_in_three_ways(on, pairs):
    operator = EVENTS.lookup("prices", on=on).node.operator

    assert operator.on == pairs
    assert EVENTS.lookup("prices", on=on).node.uses == (Use("prices", tuple(pairs.values())),)


def test_a_query_says_which_side_it_has_and_what_it_takes_from_the_table():
    asked = EVENTS.lookup("rates", on="currency", columns="rate", as_of="ts")

    assert asked.node.uses == (Use("rates", ("currency",), ("rate",), at_instant=True),)
    assert Outputs(priced=PRICED, unknown=PRICED.unmatched).sides_of("priced") == {UNMATCHED: "unknown"}
    assert UNMATCHED not in EVENTS.lookup("prices", on="sku", how="left").node.sides


def test_a_stream_without_a_lookup_that_lets_rows_go_has_no_unmatched_ones():
    with pytest.raises(JobDefinitionError, match="has no unmatched rows"):
        _ = EVENTS.lookup("prices", on="sku", how="left").unmatched
    with pytest.raises(JobDefinitionError, match="has no unmatched rows"):
        _ = EVENTS.unmatched


def test_what_a_later_requirement_rejects_can_differ_from_query_to_query():
    """Two queries read one record in two batches, with two versions of the table: each delivers what it rejects."""
    assert not PRICED.node.operator.is_same(PRICED.node.operator)


@pytest.mark.parametrize(
    "state",
    [
        EVENTS.deduplicate("id"),
        EVENTS.latest("id", order_by="v", within="1 minute"),
        EVENTS.window(tumbling("1 minute")).aggregate(n=type("C", (), {"alias": None})()),
    ],
    ids=["deduplicate", "latest", "window"],
)
def test_it_stands_before_state(state):
    with pytest.raises(JobDefinitionError, match=r"lookup\(\) stands after (deduplicate|latest|window)\(\)"):
        state.lookup("prices", on="sku")
