"""The horizon of a deduplication: what is refused, and how a query has it."""

from datetime import timedelta

import pytest

from streamproof.core.sides import DUPLICATE
from streamproof.errors import JobDefinitionError
from streamproof.stream import Outputs, Stream, tumbling
from streamproof.stream.node import source


class Aggregate:
    """Stands for a PySpark aggregate, of which a query only asks that it can be named."""

    def alias(self, name):
        return self


EVENTS = Stream(source("events"))


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ("0 seconds", "a horizon of nothing forgets every key at once"),
        ("-1 seconds", "is not a duration"),
        ("", "an empty text is not a duration"),
        ("10", "is not a duration"),
        ("5 lightyears", "is not a duration"),
        ("10 microseconds", "is not a whole number of milliseconds"),
        ("1.5 ms", "is not a whole number of milliseconds"),
        (30, "a duration is a text"),
        (timedelta(minutes=10), "a duration is a text"),
        (("10 minutes",), "a duration is a text"),
        ("36501 days", "longer than a hundred years"),
        ("9" * 30 + " days", "longer than any duration can be"),
    ],
)
def test_r12_a_horizon_that_makes_no_sense_is_refused_with_its_call(within, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.deduplicate("id", within=within)

    assert said in refused.value.message
    assert refused.value.message.startswith(f"deduplicate(within={within!r}): ")


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: EVENTS.deduplicate("id", "client", "id"), "deduplicate()"),
        (lambda: EVENTS.deduplicate("id", "id", within="1 minute", order_by="v", keep="last"), "deduplicate()"),
        (lambda: EVENTS.latest("id", "id", order_by="v", within="1 day"), "latest()"),
        (lambda: EVENTS.window(tumbling("1 minute"), by=["id", "client", "id"]), "window(by=...)"),
    ],
    ids=["deduplicate", "by an order", "latest", "window"],
)
def test_a_column_that_is_named_twice_is_refused(call, where):
    """State has it once: a proof would compare keys of another length."""
    with pytest.raises(JobDefinitionError) as refused:
        call()

    assert refused.value.message == f'{where} names the column "id" twice.'


@pytest.mark.parametrize(
    ("within", "horizon"), [(None, None), ("1 ms", timedelta(milliseconds=1)), ("36500 days", timedelta(36_500))]
)
def test_a_query_has_the_horizon_that_was_asked_for(within, horizon):
    step = EVENTS.deduplicate("id", within=within).node.operator

    assert step is not None
    assert (step.key, step.within) == (("id",), horizon)


def test_r14_duplicates_are_those_of_the_stream_that_is_returned():
    once = EVENTS.deduplicate("id")
    counted = once.window(tumbling("1 minute")).aggregate(n=Aggregate())

    assert Outputs(kept=once, again=once.duplicates).sides_of("kept") == {DUPLICATE: "again"}
    both = Outputs(kept=once, counted=counted, again=once.duplicates, counted_again=counted.duplicates)
    assert [both.sides_of(query) for query in ("kept", "counted")] == [
        {DUPLICATE: "again"},
        {DUPLICATE: "counted_again"},
    ]
    with pytest.raises(JobDefinitionError, match="duplicate output of a stream that no main output is made from"):
        Outputs(counted=counted, again=once.duplicates)
    with pytest.raises(JobDefinitionError, match="again and twice are both the duplicate output of kept"):
        Outputs(kept=once, again=once.duplicates, twice=once.duplicates).sides_of("kept")


def test_a_stream_without_a_deduplication_has_no_duplicates():
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.window(tumbling("1 minute")).aggregate(n=Aggregate()).duplicates  # noqa: B018 -- asking is what is refused

    assert refused.value.message == "A stream without deduplicate() has no duplicates: no row is dropped for its key."
    assert "Where deduplicate() follows, take .duplicates" in refused.value.remedy


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep": "last"}, "deduplicate(keep='last') does not say by which column."),
        ({"order_by": "version"}, "deduplicate(order_by='version') does not say which row stays."),
        ({"order_by": "version", "keep": "latest", "within": "1 hour"}, "deduplicate(order_by='version') has keep='latest'."),
        ({"order_by": "version", "keep": ["last"], "within": "1 hour"}, "deduplicate(order_by='version') has keep=['last']."),
        ({"order_by": ("version",), "keep": "last", "within": "1 hour"}, "deduplicate(order_by=...) got a tuple."),
        (
            {"order_by": "version", "keep": "last"},
            "deduplicate(order_by='version') does not say how long other rows are waited for.",
        ),
    ],
)
def test_an_order_that_is_not_whole_is_refused(given, said):
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.deduplicate("id", **given)

    assert refused.value.message == said
    assert refused.value.required or refused.value.remedy


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda once: once.window(tumbling("1 hour")), "window() stands behind deduplicate(order_by=...)."),
        (lambda once: once.transform(lambda rows: rows), "transform() stands behind deduplicate(order_by=...)."),
        (lambda once: once.duplicates, "deduplicate(order_by=...) has no duplicates as rows."),
        (lambda once: once.deduplicate("id"), "deduplicate() stands after deduplicate(order_by=...)."),
        (lambda once: once.filter("v > 0", name="small"), "filter() stands after deduplicate(order_by=...)."),
        (lambda once: once.require(v="v > 0"), "require() stands after deduplicate(order_by=...)."),
    ],
    ids=["window", "transform", "duplicates", "deduplicate", "filter", "require"],
)
def test_what_cannot_stand_behind_an_order_is_refused(step, said):
    with pytest.raises(JobDefinitionError) as refused:
        step(EVENTS.deduplicate("id", within="1 hour", order_by="version", keep="last"))

    assert refused.value.message == said
    assert refused.value.remedy


def test_a_transform_behind_a_deduplication_is_told_where_it_stands_though_no_window_follows():
    with pytest.raises(JobDefinitionError) as refused:
        EVENTS.deduplicate("id").transform(lambda rows: rows)

    assert refused.value.message == "transform() stands behind deduplicate()."
    assert refused.value.remedy.startswith("Put transform() before deduplicate().")


def test_a_filter_behind_a_window_is_told_what_to_do_with_an_aggregate():
    totals = EVENTS.window(tumbling("1 hour")).aggregate(n=Aggregate())
    with pytest.raises(JobDefinitionError) as refused:
        totals.filter("n > 10", name="small")

    assert "What goes by an aggregate: mark the rows by transform()" in refused.value.remedy


@pytest.mark.parametrize("side", ["late", "duplicates"])
def test_a_side_output_that_no_step_makes_is_not_said_to_be_elsewhere(side):
    with pytest.raises(JobDefinitionError) as refused:
        getattr(EVENTS, side)

    assert refused.value.remedy.startswith("Leave it out. Where ")
