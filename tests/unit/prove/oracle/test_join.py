"""The twin of a join: which rows meet, who is late on which side, and when who has met none leaves."""

import pytest

from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.query import Clock, Query, twins_of
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.oracle.windows import PlainTumbling

SECOND = 1_000_000
CLOCKS = {"l": Clock(10 * SECOND), "r": Clock(10 * SECOND)}
PARTS = ("emitted", "open_state", "late", "unmatched", "rejected", "filtered", "duplicate")


def joined(**given):
    """From ten seconds before the left row to thirty after it."""
    asked = {"on": "key", "between": ("-10 seconds", "30 seconds"), "how": "inner", **given}
    return twins_of(Asked("l").then("join", Asked("r"), **asked))


def at(trace, second, key="a", **values):
    return Arrived(trace, time_us=round(second * SECOND), values={"key": key, **values}, source=trace[0])


def model_of(batches, watermarks, **given):
    """What the batches lead to; the watermarks are those of each batch, seconds."""
    return simulated(joined(**given), batches, watermarks)


def simulated(root, batches, watermarks):
    reads = [
        BatchRead(number, round(watermark * 1_000), files=(str(number),), run="r") for number, watermark in enumerate(watermarks)
    ]
    files = {str(number): [one.trace for one in batch] for number, batch in enumerate(batches)}
    arrived = {one.trace: one for batch in batches for one in batch}
    return simulate(Query("both", root, CLOCKS, "ts"), arrived, reads, files)


def require_adds_up(model):
    total = Vector()
    for place in PARTS:
        total = total.plus(model.places[place])
    assert total == model.places["input"]


def given(model):
    return [outcome.given for outcome in model.batches]


def left_by(model, kind, name):
    (node,) = model.query.keeping
    return [[row.traces[0] for row in outcome.of(node).sides.get((kind, name), ())] for outcome in model.batches]


@pytest.mark.parametrize(
    ("right", "meets"), [(90, True), (89.999999, False), (130, True), (130.000001, False), (100, True)], ids=str
)
def test_rows_meet_within_the_bounds_both_included(right, meets):
    model = model_of([[at("l-1", 100), at("r-1", right)]], [0])

    assert given(model) == [("l-1|r-1",)] if meets else [()]


def test_rows_meet_across_batches_and_a_record_may_be_in_many_rows():
    model = model_of([[at("l-1", 100), at("r-0", 101, "b")], [at("r-1", 105), at("r-2", 106), at("l-2", 104)]], [0, 0])

    assert given(model) == [(), ("l-1|r-1", "l-2|r-1", "l-1|r-2", "l-2|r-2")]
    assert model.places["open_state"] == model.places["input"]
    require_adds_up(model)


def test_a_null_meets_nothing_and_leaves_at_once():
    batches = [[at("l-1", 100, None), at("r-1", 100, None), at("l-2", 100, float("nan")), at("r-2", 100, float("nan"))]]
    model = model_of(batches, [0])

    assert given(model) == [("l-2|r-2",)], "NaN is equal to itself"
    assert left_by(model, "unmatched", "left") == [["l-1"]]
    assert left_by(model, "unmatched", "right") == [["r-1"]]
    require_adds_up(model)


def test_a_key_of_several_columns_is_equal_as_a_whole():
    batches = [
        [at("l-1", 100, "a", shop=1), at("r-1", 100, "a", shop=2), at("r-2", 100, "a", shop=1), at("r-3", 100, "a", shop=None)]
    ]
    model = model_of(batches, [0], on=("key", "shop"))

    assert given(model) == [("l-1|r-2",)]
    assert left_by(model, "unmatched", "right") == [["r-3"]]


@pytest.mark.parametrize(
    ("trace", "until"), [("l-1", 130), ("r-1", 110)], ids=["a left row by the later bound", "a right row by the earlier one"]
)
def test_a_row_leaves_a_millisecond_after_the_last_instant_of_a_partner(trace, until):
    """Until the watermark is there one could still come."""
    for watermark, leaves in ((until, False), (until + 0.001, True)):
        model = model_of([[at(trace, 100)], []], [0, watermark])

        assert model.fates[trace] == ("unmatched" if leaves else "open_state", 0)
        assert model.held[model.query.output].rows == (() if leaves else (trace,))
        require_adds_up(model)


def test_who_has_met_one_leaves_as_emitted_and_each_for_itself():
    model = model_of([[at("l-1", 100), at("r-1", 100)], []], [0, 120])

    assert (model.fates["l-1"][0], model.fates["r-1"][0]) == ("open_state", "emitted")
    assert left_by(model, "unmatched", "right") == [[], []]
    require_adds_up(model)


def test_what_is_late_is_decided_by_the_watermark_of_the_batch_before_on_each_side():
    model = model_of([[at("l-1", 200)], [at("l-2", 100), at("l-3", 100.5), at("r-1", 100), at("r-2", 99)]], [100, 100])

    assert left_by(model, "late", "left") == [[], ["l-2"]]
    assert left_by(model, "late", "right") == [[], ["r-1", "r-2"]]
    require_adds_up(model)


def test_rows_that_are_over_when_they_come_still_meet_those_of_their_batch():
    """The watermark of the batch is beyond them, that of the batch before is not."""
    model = model_of([[], [at("l-1", 100), at("r-1", 110), at("l-2", 101, "b"), at("r-2", 101, "c")]], [0, 200])

    assert given(model) == [(), ("l-1|r-1",)]
    assert left_by(model, "unmatched", "left")[1] == ["l-2"]
    assert left_by(model, "unmatched", "right")[1] == ["r-2"]
    assert model.places["open_state"] == Vector()
    require_adds_up(model)


@pytest.mark.parametrize(
    ("how", "rows", "unmatched"),
    [
        ("inner", ("l-1|r-1",), {"l-2", "r-2", "l-3"}),
        ("left", ("l-1|r-1", "l-3", "l-2"), {"r-2"}),
        ("right", ("l-1|r-1", "r-2"), {"l-2", "l-3"}),
        ("full", ("l-1|r-1", "l-3", "l-2", "r-2"), set()),
    ],
)
def test_rows_without_a_partner_are_part_of_the_output_where_that_was_asked(how, rows, unmatched):
    batch = [at("l-1", 100), at("r-1", 110), at("l-2", 101, "b"), at("r-2", 101, "c"), at("l-3", 100, None)]
    model = model_of([batch, []], [0, 200], how=how)

    assert sum(given(model), ()) == rows
    assert {trace for outcome in model.batches for trace in outcome.left_by("unmatched")} == unmatched
    assert model.places["emitted"] == Vector.of({one.trace for one in batch} - unmatched)
    require_adds_up(model)


def test_bounds_may_both_lie_on_one_side():
    """A right row happens five to ten seconds later: it is over before the watermark is there."""
    model = model_of([[at("l-1", 100), at("r-1", 105)], [at("r-2", 104), at("r-3", 103.5)]], [0, 99], between=("5 s", "10 s"))

    assert given(model) == [("l-1|r-1",), ()]
    assert left_by(model, "unmatched", "right") == [[], ["r-3"]], "its partner would have had to happen by 98.5"


def test_ten_thousand_events_that_wait_and_meet():
    batches = [
        [at(f"{side}-{number}", 1 + number / 10, number % 500) for number in range(batch * 500, batch * 500 + 500) for side in "lr"]
        for batch in range(10)
    ]
    model = model_of(batches, [max(0, batch * 50 - 60) for batch in range(10)])

    assert len(sum(given(model), ())) == 5_000
    require_adds_up(model)


def windowed(batches, watermarks, by=(), **given):
    """The join, and windows of ten seconds after it."""
    asked = {"on": "key", "between": ("-10 seconds", "30 seconds"), "how": "full", **given}
    window = {"window": PlainTumbling(10 * SECOND), "by": by, "aggregates": {}, "allowed_lateness": "0 seconds", "emit": "final"}
    root = twins_of(Asked("l").then("join", Asked("r"), **asked).then("window", **window))
    return simulated(root, batches, watermarks)


def test_a_row_of_a_join_happened_when_its_left_row_did_or_its_right_one_where_it_has_none():
    model = windowed([[at("l-1", 109), at("r-1", 111), at("r-2", 125, "b")], []], [0, 200])

    starts = {start: contents.members for (_, start), contents in model.emitted.items()}
    assert starts == {100 * SECOND: ("l-1|r-1",), 120 * SECOND: ("r-2",)}


@pytest.mark.parametrize(("watermark", "out"), [(140, False), (140.001, True)], ids=str)
def test_the_watermark_that_leaves_a_join_is_behind_by_the_longer_bound_and_a_millisecond(watermark, out):
    """The window ends at 110, and a left row of 109.999 could still come out alone until then."""
    model = windowed([[at("l-1", 105), at("r-1", 105)], []], [0, watermark])

    assert bool(model.batches[1].emitted) == out


def test_a_row_without_a_partner_is_in_its_window_in_the_batch_in_which_it_comes_out():
    """The last one of the window leaves the join in the batch that the window is due in."""
    model = windowed([[at("l-1", 109.9999), at("l-2", 100)], [], []], [0, 140, 140.001])

    assert [[contents.members for contents in outcome.emitted.values()] for outcome in model.batches] == [[], [], [("l-2", "l-1")]]


def test_a_record_counts_once_for_each_row_that_it_is_in_and_once_while_it_waits():
    batches = [[at("l-1", 100), at("r-1", 101), at("r-2", 102)], [at("l-2", 300, "b")]]
    model = windowed([*batches, []], [0, 0, 200])

    (contents,) = model.emitted.values()
    assert (contents.count, contents.members) == (4, ("l-1|r-1", "l-1|r-2"))
    assert [outcome.further for outcome in model.batches] == [4, 0, -3], "l-1 is in two rows, and three records wait no more"
    assert model.places["emitted"].count == 4
    assert model.places["open_state"].count == 1
    total = Vector()
    for place in PARTS:
        total = total.plus(model.places[place])
    assert total == model.places["input"].plus(model.places["expanded"])


def test_a_key_of_a_window_may_be_of_either_side():
    model = windowed(
        [[at("l-1", 100, shop="x"), at("r-1", 101, till=7), at("l-2", 100, "b", shop="x")], []], [0, 200], by=("shop", "till")
    )

    assert {key: contents.members for (key, _), contents in model.emitted.items()} == {
        ("x", 7): ("l-1|r-1",),
        ("x", None): ("l-2",),
    }


def once(batches, watermarks, key=("key",), within="20 seconds", **given):
    """The join, and one row of each key after it."""
    asked = {"on": "key", "between": ("-10 seconds", "30 seconds"), "how": "full", **given}
    root = twins_of(Asked("l").then("join", Asked("r"), **asked).then("deduplicate", key=key, within=within))
    return simulated(root, batches, watermarks)


def test_a_key_is_remembered_by_the_watermark_that_leaves_the_join():
    """l-1 happened at 100: its key is forgotten when that watermark is at 120, which that of the batch is 30.001 s before."""
    first, again = [at("l-1", 100), at("r-1", 100)], [at("l-2", 160), at("r-2", 160)]
    for watermark, stays in ((150, ()), (150.001, ("l-2|r-2",))):
        model = once([first, [], again], [0, watermark, watermark], between=("0 seconds", "30 seconds"), how="inner")
        assert (model.batches[2].given, model.batches[2].dropped) == (stays, () if stays else ("l-2|r-2",))


def test_a_copy_of_a_joined_row_is_a_duplicate_of_both_its_records():
    batches = [[at("l-1", 100, shop=1), at("r-1", 101, till=1), at("r-1+1", 101, till=1)], []]
    model = once(batches, [0, 200], key=("shop", "till"))

    assert given(model) == [("l-1|r-1",), ()]
    assert model.ambiguous == ()
    assert (model.places["emitted"].count, model.places["duplicate"].count, model.places["expanded"].count) == (2, 2, 1)
    total = Vector()
    for place in PARTS:
        total = total.plus(model.places[place])
    assert total == model.places["input"].plus(model.places["expanded"])
