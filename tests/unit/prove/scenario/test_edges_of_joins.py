"""Partners at the bounds of a join, for events of the other source."""

import pytest

from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.query import Clock, Query, twins_of
from streamproof.prove.scenario.edges import Around, late_bounds, newest_of, with_edges
from streamproof.prove.scenario.generate import generate
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.scenario.written_time import SourceShape

SECOND = 1_000_000
SHAPE = SourceShape("json", "ts", "milliseconds")
TIME = AskedTime("ts", "10 seconds")
COLUMNS = {"id": {"kind": "id"}, "client": {"kind": "key", "count": 5}, "ts": {"kind": "event_time"}}
SOURCE = {"columns": COLUMNS, "span": "20 minutes", "disorder": {"typical": "2 seconds"}}
PLAN = Scenario.model_validate({"seed": 3, "events": 600, "batches": 4, "source": {"l": SOURCE, "r": SOURCE}})


def edged(first, second):
    """The edges of the second source, whose events come after those of the first one are known."""
    asked = Asked("l").then("join", Asked("r"), on="client", between=("-10 seconds", "30 seconds"), how="inner")
    query = Query("paid", twins_of(asked), {"l": Clock(10 * SECOND), "r": Clock(10 * SECOND)}, "ts")
    events = {name: generate(PLAN, name, SHAPE) for name in ("l", "r")}
    bounds = late_bounds(query, {name: newest_of(of, TIME) for name, of in events.items()})
    others = {first: events[first]}
    made = with_edges(events[second], Around(PLAN.source[second], SHAPE, "", TIME, [(query, bounds)], (), second, others))
    return events[first], {event.edge.words: event for event in made if event.edge is not None}


@pytest.mark.parametrize(("first", "second", "sign"), [("l", "r", 1), ("r", "l", -1)])
def test_partners_lie_at_both_bounds_and_a_tick_beyond(first, second, sign):
    others, found = edged(first, second)

    for words, apart in (
        ("at the first instant of a partner", -10_000),
        ("a tick before the first instant of a partner", -10_001),
        ("at the last instant of a partner", 30_000),
        ("a tick after the last instant of a partner", 30_001),
    ):
        event = found[words]
        at = event.time_us - sign * apart * 1_000
        assert any(other.time_us == at and other.values["client"] == event.values["client"] for other in others), words


def test_the_source_that_comes_first_has_none():
    _, found = edged("l", "l")

    assert not [words for words in found if "partner" in words]
