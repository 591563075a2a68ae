"""Declared state of a key: what is refused before Spark runs, and what a query says of it."""

from datetime import timedelta

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, tumbling
from streamproof.stream.keyed.types import problems
from streamproof.stream.node import source

EVENTS = Stream(source("events"))
COUNT = {"n": "0L"}
GIVES = sp.step(set={"n": "n + 1"}, emit=sp.emit("card", "n"))
GIVEN = {"state": COUNT, "on_row": GIVES, "ttl": "1 hour"}


def keyed(*key, **given):
    return EVENTS.keyed(*(key or ("card",)), **{**GIVEN, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"state": {}}, "keyed(state=...) is empty"),
        ({"state": [1]}, "keyed(state=...) is a list"),
        ({"state": {"n": 0}}, "n is a int"),
        ({"state": {"before": "0L"}, "on_row": sp.step(emit=sp.emit("card"))}, "cannot be called before"),
        ({"state": {"card": "0L"}, "on_row": sp.step(emit=sp.emit("card"))}, "the field card has the name of a column of the key"),
        ({"state": {"a b": "0L"}}, "is no name of a field"),
        ({"on_row": {"n": "n + 1"}}, "keyed(on_row) is a dict"),
        ({"on_row": sp.step(set={"m": "1"}, emit=sp.emit("n"))}, "on_row sets m, which is no field"),
        ({"on_row": sp.step(set={"n[]": "1"}, emit=sp.emit("n"))}, "on_row sets n[]"),
        ({"on_row": sp.step(set={"n": "n + 1"})}, "keyed() gives no row"),
        ({"on_row": sp.step(emit=sp.emit("n", to="x"))}, "each emit() names another by to="),
        ({"on_row": sp.step(emit=[sp.emit("n"), sp.emit("card")])}, "gives the main output the columns card"),
        ({"on_row": sp.step(emit=sp.emit("n AS _trace"))}, "emits a column _trace, which is a name of Streamproof's own"),
        ({"on_timer": {"n": GIVES}}, "a timer cannot be called n"),
        ({"on_timer": {"t": "n"}}, "keyed(on_timer t) is a str"),
        ({"order_by": 1}, "keyed(order_by=...) got a int"),
        ({"initial": "balances"}, "keyed(initial=...) is a str"),
        ({"initial": sp.initial("balances")}, "it is not known from when the time to live of these keys counts"),
        ({"ttl": None}, "does not say how long a key is remembered"),
        ({"ttl": "0 seconds"}, "a key is remembered for nothing"),
        ({"ttl": "soon"}, "is not a duration"),
        ({"ttl": timedelta(1)}, "a duration is a text"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(given, said):
    with pytest.raises(JobDefinitionError) as refused:
        keyed(**given)

    assert said in refused.value.message


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sp.initial("my balances"), "initial() got 'my balances'"),
        (lambda: sp.initial("balances", at=1), "initial(at=...) got 1"),
        (lambda: sp.list_of("double", at_most=0), "list_of(at_most=0) is no bound"),
        (lambda: sp.list_of("double", at_most=None), "list_of(at_most=None) is no bound"),
        (lambda: sp.map_of("string", "double", at_most=10**6), "is no bound"),
        (lambda: sp.list_of("", at_most=1), "list_of() is empty"),
        (sp.emit, "emit() needs columns"),
        (lambda: sp.emit("n + 1"), '"n + 1" has no name'),
        (lambda: sp.emit("n", "m AS N"), "emit() has two columns N"),
        (lambda: sp.emit("n", to="to it"), "is no word"),
        (lambda: sp.emit("n", when=lambda row: True), "emit(when=...) is a Python function"),
        (sp.step, "step() does nothing"),
        (lambda: sp.step(set={"n": lambda n: n}), "is a Python function"),
        (lambda: sp.step(set={"n +": "1"}), "is no field"),
        (lambda: sp.step(emit="n"), "step(emit=...) is no emission"),
    ],
)
def test_a_part_that_makes_no_sense_is_refused_where_it_is_written(make, said):
    with pytest.raises(JobDefinitionError) as refused:
        make()

    assert said in refused.value.message


@pytest.mark.parametrize(
    ("item", "name", "expression"),
    [
        ("card", "card", "card"),
        ("before.n", "n", "before.n"),
        ("n + 1 AS m", "m", "n + 1"),
        ("struct(ts AS at) as last", "last", "struct(ts AS at)"),
        ("n\nAS\nm", "m", "n"),
    ],
)
def test_a_column_is_written_as_in_select(item, name, expression):
    assert sp.emit(item).columns == {name: expression}


def test_a_query_has_what_was_asked_for():
    rules = {"state": {**COUNT, "seen": sp.list_of("string", at_most=3)}, "on_timer": {"t": sp.step(emit=sp.emit("card", "n"))}}
    stream = keyed(
        **rules, on_row=sp.step(set={"seen[]": "id"}, emit=[sp.emit("card", "n"), sp.emit("id", to="alerts", when="n > 1")])
    )
    operator = stream.node.operator

    assert [str(side) for side in operator.sides] == ["late", "absorbed", "tagged", "tag:alerts", "overflow:seen"]
    assert list(operator.rules.state) == ["n", "seen", "t"]
    assert (operator.emission.output_mode, operator.emission.revised) == ("update", False)
    found = Outputs(rows=stream, alerts=stream.tagged("alerts"), full=stream.overflow("seen")).sides_of("rows")
    assert {str(side): name for side, name in found.items()} == {"tag:alerts": "alerts", "overflow:seen": "full"}


@pytest.mark.parametrize("call", [lambda one: one.tagged("alerts"), lambda one: one.overflow("n"), lambda one: EVENTS.tagged("x")])
def test_a_side_output_that_no_step_names_is_refused(call):
    with pytest.raises(JobDefinitionError, match=r"has no (tag|overflow) output"):
        call(keyed())


@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.window(tumbling("1 minute")),
        lambda one: one.transform(lambda rows: rows),
        lambda one: one.deduplicate("id"),
        lambda one: one.filter("true", name="all"),
        lambda one: EVENTS.deduplicate("id").keyed("card", **GIVEN),
    ],
)
def test_nothing_stands_after_it_and_no_state_before_it(call):
    with pytest.raises(JobDefinitionError, match=r"stands (after|behind)"):
        call(keyed())


TYPED = {"id": "string", "v": "double", "ts": "timestamp"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, None),
        ({"on_row": sp.step(set={"n": "n + v"}, emit=sp.emit("n"))}, '"n + v", is double, and the field is bigint'),
        ({"on_row": sp.step(set={"n": "id"}, emit=sp.emit("n"))}, '"id", is string, and the field is bigint'),
        ({"on_row": sp.step(set={"n": "ts"}, emit=sp.emit("n"))}, '"ts", is timestamp, and the field is bigint'),
        ({"on_row": sp.step(set={"n": "n + w"}, emit=sp.emit("n"))}, None),
        ({"on_row": sp.step(set={"n": "CAST(v AS INT)"}, emit=sp.emit("n"))}, None),
        ({"on_row": sp.step(set={"n": "n + 1"}, emit=sp.emit("n", when="n"))}, 'emit(when="n") is bigint'),
        ({"on_row": sp.step(set={"n": "n + 1"}, emit=sp.emit("n", when="n > before.n"))}, None),
        ({"on_row": sp.step(set={"n": "n + CAST(rand() * 2 AS BIGINT)"}, emit=sp.emit("n"))}, "rand() is not deterministic"),
        ({"on_row": sp.step(emit=sp.emit("n", "now() AS at"))}, "now() is not deterministic"),
        ({"on_timer": {"t": sp.step(set={"n": "timer"})}}, '"timer", is timestamp, and the field is bigint'),
        (
            {
                "state": {"n": "0L", "s": sp.list_of("double", at_most=2)},
                "on_row": sp.step(set={"s[]": "v", "n": "size(s)"}, emit=sp.emit("n")),
            },
            None,
        ),
    ],
)
def test_types_are_looked_at_without_spark(given, said):
    found = [one.message for one in problems(keyed(**given).node.operator.rules, TYPED)]

    assert len(found) == (said is not None)
    assert said is None or said in found[0]


@pytest.mark.parametrize(
    ("given", "always"),
    [
        ({}, True),
        ({"each": "array(n, n)"}, True),
        ({"each": "array()"}, False),
        ({"each": "held"}, False),
        ({"when": "n > 1"}, False),
    ],
)
def test_a_proof_looks_for_absorbed_records_where_a_step_can_give_no_row(given, always):
    stream = keyed(on_row=sp.step(set={"n": "n + 1"}, emit=sp.emit("n", **given)))

    assert (stream.node.operator.exercises() == ()) is always
