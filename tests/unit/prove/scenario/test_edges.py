"""Events at the edges: always there, the same for the same events, and at the tick that they say."""

import json
from dataclasses import replace

import pytest

from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.query import Clock
from streamproof.prove.oracle.windows import PlainGap, PlainSession, PlainTumbling
from streamproof.prove.scenario.edges import Around, late_bounds, never_sent, newest_of, with_edges
from streamproof.prove.scenario.generate import Kind, generate, without_trace
from streamproof.prove.scenario.scenario import Scenario
from streamproof.prove.scenario.written_time import SourceShape
from unit.prove.small import Level, Shape

SECOND = 1_000_000
MILLISECONDS = SourceShape("json", "ts", "milliseconds")
TIME = AskedTime("ts", "10 seconds", "5 minutes")
WINDOW = Shape("totals", "ts", 70 * SECOND, PlainTumbling(30 * SECOND), ("client",), ("total",))
ONCE = Shape("totals", "ts", 70 * SECOND, PlainTumbling(30 * SECOND), ("client",), ("total",), ("id",))
COLUMNS = {
    "id": {"kind": "id"},
    "client": {"kind": "key", "count": 3},
    "amount": {"kind": "number"},
    "tags": {"kind": "choice", "values": [["a", "b"], ["c"]]},
    "place": {"kind": "choice", "values": [{"city": "x", "zip": 1}]},
    "open": {"kind": "choice", "values": [True, False]},
    "ts": {"kind": "event_time"},
}


def scenario(**changes):
    faults = dict.fromkeys(("malformed", "missing_time", "future_time", "duplicates"), 0.01)
    source = {"columns": COLUMNS, "span": "20 minutes", "disorder": {"typical": "2 seconds", "delayed": 0.03}, "faults": faults}
    return Scenario.model_validate({"seed": 3, "events": 600, "batches": 4, "source": {"s": source}, **changes})


def around(*shapes, source=MILLISECONDS, ddl="", batches=4):
    newest = newest_of(generate(scenario(batches=batches), "s", source), TIME)
    asked = [shape.query for shape in shapes or (ONCE,)]
    queries = [(query, late_bounds(query, {"s": newest})) for query in asked]
    return Around(scenario().source["s"], source, ddl, TIME, queries)


def made(where):
    events = generate(scenario(), "s", where.source)
    return events, with_edges(events, where)


def named(events):
    return {event.edge.words: event for event in events if event.edge is not None}


def test_number_batches_and_files_stay_and_most_events_too():
    events, edged = made(around())

    assert [(event.arrival, event.batch, event.partition) for event in edged] == [
        (event.arrival, event.batch, event.partition) for event in events
    ]
    assert 15 <= sum(one != other for one, other in zip(events, edged, strict=True)) <= 60
    assert len({event.trace for event in edged}) == 600


def test_the_same_events_give_the_same_bytes():
    assert [event.record for event in made(around())[1]] == [event.record for event in made(around())[1]]


@pytest.mark.parametrize("shape", [ONCE, WINDOW])
def test_no_edge_moves_the_watermark(shape):
    def newest(events):
        passing = [event for event in events if event.kind in (Kind.OK, Kind.DUPLICATE)]
        return [max(event.time_us for event in passing if event.batch == batch) for batch in range(4)]

    events, edged = made(around(shape))

    assert newest(edged) == newest(events)


@pytest.mark.parametrize(
    ("source", "tick"),
    [
        (MILLISECONDS, 1_000),
        (SourceShape("json", "ts", "microseconds"), 1),
        (SourceShape("json", "ts", "seconds"), SECOND),
        (SourceShape("json", "ts"), 1),
        (SourceShape("parquet", "ts"), 1),
    ],
)
def test_before_a_deduplication_events_stand_at_the_bound_and_a_tick_beside_it(source, tick):
    edges = named(made(around(source=source))[1])
    at, before, after = (edges[f"{words}at the late bound"] for words in ("", "a tick before the one ", "a tick after the one "))
    bound = at.edge.bound_us

    assert (at.batch, before.batch, after.batch) == (3, 3, 3)
    assert at.time_us == bound - bound % tick
    assert (before.time_us, after.time_us) == (at.time_us - tick, at.time_us + tick)
    assert [event.edge.late for event in (before, at, after)] == [True, True, False]
    assert after.time_us > bound


def test_before_a_window_its_end_decides():
    edges = named(made(around(WINDOW))[1])
    last = edges["in the last window that ends at or below the late bound"]
    next_one = edges["a tick after the one in the last window that ends at or below the late bound"]

    assert (last.time_us + 1_000) % WINDOW.window.size_us == 0
    assert last.time_us < next_one.time_us == last.time_us + 1_000 <= last.edge.bound_us
    assert (last.edge.late, next_one.edge.late) == (True, False)


def test_copies_come_at_the_end_of_the_horizon_and_a_tick_before_it():
    edged = made(around())[1]
    edges = named(edged)

    for words, late in (("at the end of the horizon", True), ("a tick before the end of the horizon", False)):
        copy, original = edges[f"as a copy {words}"], edges[f"whose copy comes {words}"]
        assert (copy.event_id, copy.kind, copy.edge.late) == (original.trace, Kind.DUPLICATE, late)
        assert copy.values == original.values
        assert copy.batch == 3 > original.batch
        assert (copy.time_us <= copy.edge.bound_us) is late
    assert edges["as a copy in the next batch"].batch == 1


def test_null_stands_in_each_column_that_may_be_null():
    edges = named(made(around(ddl="id string NOT NULL, client string, amount decimal(12, 2), ts long"))[1])

    assert "with null in id" not in edges
    for column in ("client", "amount", "tags", "place", "open"):
        event = edges[f"with null in {column}"]
        assert event.values[column] is None
        assert json.loads(event.record)[column] is None
    missing = edges["with null in ts"]
    assert (missing.kind, missing.time_us, json.loads(missing.record)["ts"]) == (Kind.MISSING_TIME, None, None)


def test_a_key_of_a_union_is_null_in_one_of_its_sources():
    assert "with null in id" in named(made(around())[1])
    assert "with null in id" not in named(made(replace(around(), never_null={"id"}))[1])


def test_windows_have_an_event_at_their_start_and_a_tick_beside_it():
    edges = named(made(around(WINDOW))[1])
    start = edges["at the start of a window"].time_us

    assert start % WINDOW.window.size_us == 0
    assert (edges["a tick before the start of a window"].time_us, edges["a tick after the start of a window"].time_us) == (
        start - 1_000,
        start + 1_000,
    )


def test_two_records_stand_on_a_line_of_json():
    double = named(made(around())[1])["as two records on a line"]

    one, _, other = double.record.partition(b"} ")
    assert double.kind is Kind.MALFORMED
    assert json.loads(one + b"}")["_trace"] == double.trace
    assert json.loads(other) == {name: value for name, value in json.loads(one + b"}").items() if name != "_trace"}
    assert b"_trace" not in without_trace(double.record)


def test_nested_values_are_empty_or_null_inside():
    edges = named(made(around())[1])

    assert json.loads(edges["with an empty list in tags"].record)["tags"] == []
    assert json.loads(edges["with nulls inside place"].record)["place"] == {"city": None, "zip": None}


def test_what_knows_no_null_and_no_state_has_few_edges():
    assert list(named(made(Around(scenario().source["s"], SourceShape("protobuf", "ts", "milliseconds"), "", TIME))[1])) == [
        "with null in ts"
    ]


def test_a_scenario_of_few_events_stays_what_it_is():
    events = generate(scenario(events=20, batches=2), "s", MILLISECONDS)

    assert sum(event.edge is not None for event in with_edges(events, around())) <= 2


def test_where_the_watermark_has_not_moved_nothing_is_late():
    events = generate(scenario(batches=2), "s", MILLISECONDS)

    assert not [event for event in with_edges(events, around(batches=2)) if event.edge is not None and event.edge.late is not None]


def test_what_is_aborted_is_no_event_of_the_scenario():
    events = generate(scenario(), "s", MILLISECONDS)
    aborted = never_sent(events, scenario().source["s"])

    assert [event.partition for event in aborted] == [0, 1]
    assert not {event.trace for event in aborted} & {event.trace for event in events}
    assert not {event.values["id"] for event in aborted} & {event.values["id"] for event in events}
    assert all(json.loads(event.record)["_trace"] == event.trace for event in aborted)


def test_sessions_whose_gap_is_a_column_have_events_at_their_own_gap_and_gaps_that_are_none():
    shape = Shape("visits", "ts", 10 * SECOND, PlainSession(40 * SECOND, None, PlainGap("amount", 40 * SECOND)), ("client",))

    edges = named(made(around(shape, ddl="id string, client string, amount double, ts long"))[1])

    for words, apart in (("exactly a gap", 0), ("a tick less than a gap", -1_000), ("a tick more than a gap", 1_000)):
        first, second = edges[f"that another follows by {words}"], edges[f"{words} after another of its key"]
        assert second.time_us - first.time_us == first.values["amount"] * SECOND + apart
        assert second.values["client"] == first.values["client"]
    gaps = {
        words: edges[f"with a gap {words}"].values["amount"]
        for words in ("of zero", "below zero", "as long as it may be", "that is too long")
    }
    assert list(gaps.values()) == [0, -1, 40, 41]


def test_a_column_that_a_transform_makes_or_that_is_too_narrow_has_no_gaps_at_edges():
    for column, ddl in (("made", "amount double"), ("amount", "amount tinyint")):
        shape = Shape("visits", "ts", 10 * SECOND, PlainSession(40 * SECOND, None, PlainGap(column, 40 * SECOND)), ("client",))

        assert not [words for words in named(made(around(shape, ddl=ddl))[1]) if "gap" in words]


def test_every_query_of_a_source_has_edges_of_its_own():
    visits = Shape("visits", "ts", 20 * SECOND, PlainSession(10 * SECOND), ("client",))

    late = [event.edge for event in made(around(ONCE, visits))[1] if event.edge is not None and event.edge.late is not None]

    assert {edge.queries for edge in late} == {("totals",), ("visits",)}
    assert {edge.bound_us for edge in late if edge.queries == ("visits",)} == {
        edge.bound_us + 50 * SECOND for edge in late if edge.queries == ("totals",)
    }


def test_queries_that_decide_alike_share_the_events_at_their_bound():
    other = Shape("counts", "ts", 70 * SECOND, PlainTumbling(30 * SECOND), (), ("trades",))

    edges = [event.edge for event in made(around(WINDOW, other))[1] if event.edge is not None and event.edge.late is not None]

    assert [edge.queries for edge in edges] == [("totals", "counts")] * 3


def test_the_bound_of_a_union_stands_on_all_its_sources():
    clocks = {"s": Clock(10 * SECOND), "r": Clock(30 * SECOND)}
    shape = Shape("both", "ts", 30 * SECOND, deduplicate=("id",), clocks=clocks)
    newest = newest_of(generate(scenario(), "s", MILLISECONDS), TIME)
    slower = {batch: at - 60 * SECOND for batch, at in newest.items()}

    assert late_bounds(shape.query, {"s": newest, "r": slower}) == [0, 0, *(slower[batch] - 30 * SECOND for batch in (0, 1))]
    assert late_bounds(shape.query, {"r": slower, "s": newest}) == late_bounds(shape.query, {"s": newest, "r": slower})


def test_the_bound_of_a_union_is_not_known_before_where_a_source_is_quiet_for_a_while():
    newest = newest_of(generate(scenario(), "s", MILLISECONDS), TIME)
    quiet = {batch: at - 60 * SECOND for batch, at in newest.items() if batch < 2}

    def bounds(idle_after_us, of_r):
        clocks = {"s": Clock(10 * SECOND), "r": Clock(30 * SECOND, None, idle_after_us)}
        return late_bounds(Shape("both", "ts", deduplicate=("id",), clocks=clocks).query, {"s": newest, "r": of_r})

    assert bounds(SECOND, quiet) == [0, 0, 0, 0]
    assert bounds(SECOND, {batch: at - 60 * SECOND for batch, at in newest.items()})[3] == newest[1] - 90 * SECOND
    assert bounds(0, quiet)[3] == newest[1] - 90 * SECOND


def test_rivals_of_a_key_are_ordered_by_a_null_and_by_their_times():
    shape = Shape("newest", "ts", 10 * SECOND, deduplicate=("id",), within_us=30 * SECOND, order_by="amount", keep="last")

    edges = named(made(around(shape))[1])

    null, rival = edges["without an order, against a rival of its key"], edges["whose rival is without an order"]
    assert (null.values["amount"], rival.values["id"], rival.time_us) == (None, null.values["id"], null.time_us)
    assert rival.values["amount"] is not None
    assert rival.event_id != null.event_id
    newer, older = edges["of another time, against a rival of its key"], edges["whose rival is of another time"]
    assert (older.values["id"], older.values["amount"]) == (newer.values["id"], newer.values["amount"])
    assert older.time_us == newer.time_us - 1_000
    for words, apart in (("exactly a gap", 0), ("a tick less than a gap", -1_000), ("a tick more than a gap", 1_000)):
        first, second = edges[f"that another follows by {words}"], edges[f"{words} after another of its key"]
        assert (second.time_us - first.time_us, second.values["id"]) == (30 * SECOND + apart, first.values["id"])


def test_where_no_order_is_promised_no_two_events_share_a_key():
    """After a crash the rest comes in one batch."""
    ordered = Shape("newest", "ts", 10 * SECOND, deduplicate=("id",), within_us=30 * SECOND, order_by="amount", keep="last")

    events = made(around(ordered, ONCE))[1]

    named_ids = {event.values["id"]: event.event_id for event in events if event.values["id"] is not None}
    assert all(named_ids[event.values["id"]] == event.event_id for event in events if event.values["id"] is not None)


def test_a_window_that_is_corrected_has_events_on_both_sides_of_its_first_row():
    shape = Shape("totals", "ts", 70 * SECOND, PlainTumbling(30 * SECOND), (), emit="corrections", lateness_us=60 * SECOND)

    edges = named(made(around(shape))[1])

    given, not_yet = edges["in the last window that has given its rows"], edges["in the first that has not"]
    fired = edges["in the last window that ends at or below the late bound"].edge.bound_us + 60 * SECOND
    assert (given.time_us + 1_000) % (30 * SECOND) == 0
    assert given.time_us < not_yet.time_us <= fired < not_yet.time_us + 30 * SECOND
    assert (given.batch, not_yet.batch) == (3, 3)


def test_a_window_of_windows_has_events_at_its_start():
    shape = Shape("hours", "ts", SECOND, PlainTumbling(120 * SECOND), before=Level(PlainTumbling(30 * SECOND)))

    start = named(made(around(shape))[1])["at the start of a window of windows"].time_us

    assert start % (120 * SECOND) == 0
