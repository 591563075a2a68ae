"""R13: the watermark of a union is the least of those of its sources, and a restart forgets what each had seen. Numbers are of try-outs on Spark 4.3."""

from dataclasses import replace

import pytest

from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.asked import Asked
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.query import Clock, Query, twins_of
from streamproof.prove.oracle.watermark import AlignedWatermark
from unit.prove.small import SECOND, WINDOW, at

DELAYS = {"a": 10 * SECOND, "b": 20 * SECOND}


def predicted(*batches, idle_after=None):
    """What is predicted for each batch, in seconds; a batch is its run, its logged watermark, and what it reads of each source. They are 60
    seconds apart.
    """
    watermark, found = AlignedWatermark(DELAYS, idle_after or {}), []
    for number, (run, logged, newest) in enumerate(batches):
        watermark.begins(BatchRead(number, logged * 1_000, run=run))
        found.append(watermark.predicted_ms // 1_000)
        read = {source: second * SECOND for source, second in newest.items() if second is not None}
        watermark.saw(read, newest.keys(), number * 60_000)
    return found


IDLE = {"b": 120 * SECOND}


def test_r13_a_source_that_is_quiet_for_long_enough_no_longer_holds_the_watermark():
    batches = [("r", 0, {"a": 110, "b": 60}), ("r", 40, {"a": 900}), ("r", 40, {"a": 950}), ("r", 940, {"a": 960})]
    assert predicted(*batches, ("r", 950, {"b": 90}), ("r", 950, {}), idle_after=IDLE) == [0, 40, 40, 940, 950, 950]
    assert predicted(*batches, idle_after={"b": 121 * SECOND}) == [0, 40, 40, 40]
    assert predicted(*batches, idle_after={"a": 1}) == [0, 40, 40, 40]  # a delivers, and b is no source that may be left out


def test_r13_a_source_that_delivers_what_is_rejected_is_not_idle():
    batches = [("r", 0, {"a": 110, "b": 60}), ("r", 40, {"a": 900, "b": None}), ("r", 40, {"a": 950}), ("r", 40, {})]
    assert predicted(*batches, idle_after=IDLE) == [0, 40, 40, 40]


def test_r13_a_source_that_was_never_heard_of_is_idle_from_the_first_batch_on():
    assert predicted(("r", 0, {"a": 110}), ("r", 0, {"a": 900}), ("r", 0, {"a": 910}), ("r", 900, {}), idle_after=IDLE) == [
        0,
        0,
        0,
        900,
    ]


def test_r13_with_all_sources_idle_nothing_moves():
    both = {"a": 60 * SECOND, "b": 60 * SECOND}
    assert predicted(("r", 0, {"a": 110, "b": 60}), ("r", 40, {}), ("r", 40, {}), idle_after=both) == [0, 40, 40]


def test_r13_behind_a_restart_an_idle_source_goes_by_those_that_are_heard_of_again():
    batches = [("1", 0, {"a": 110, "b": 60}), ("1", 40, {"a": 200}), ("2", 40, {"a": 300}), ("2", 290, {})]
    assert predicted(*batches, idle_after=IDLE) == [0, 40, 40, 290]


def test_r13_the_least_of_the_sources_counts_each_with_a_delay_of_its_own():
    assert predicted(("r", 0, {"a": 110, "b": 60}), ("r", 40, {"a": 200, "b": 90}), ("r", 70, {})) == [0, 40, 70]


def test_r13_a_source_that_was_never_heard_of_holds_the_watermark_at_its_beginning():
    assert predicted(("r", 0, {"a": 110}), ("r", 0, {"a": 900}), ("r", 0, {"b": 60}), ("r", 40, {})) == [0, 0, 0, 40]


def test_r13_a_quiet_source_holds_the_watermark_where_it_is():
    assert predicted(("r", 0, {"a": 110, "b": 60}), ("r", 40, {"a": 900}), ("r", 40, {"a": 950})) == [0, 40, 40]


def test_r13_the_watermark_never_goes_back():
    assert predicted(("r", 0, {"a": 110, "b": 60}), ("r", 40, {"a": 20, "b": 25}), ("r", 40, {})) == [0, 40, 40]


def test_r13_a_restart_forgets_the_sources_and_keeps_the_watermark():
    """As Spark did it: four runs, of which the second brought only a, the third only b."""
    runs = [
        ("1", 0, {"a": 110, "b": 60}),
        ("1", 40, {"a": 200, "b": 90}),
        ("1", 70, {}),
        ("2", 70, {"a": 400}),
        ("3", 70, {"b": 300}),
        ("4", 70, {"a": 500, "b": 450}),
        ("4", 430, {"a": 700}),
    ]
    assert predicted(*runs) == [0, 40, 70, 70, 70, 70, 430]


@pytest.mark.parametrize(("logged", "right"), [(380, True), (40, True), (200, False)])
def test_r13_at_a_restart_the_batch_before_may_have_run_again_and_nothing_else(logged, right):
    """Batch 1 reads only of a. Committed by the first start: a and b were known. Run again by the second: only a is, and b holds it."""
    found = predicted(("1", 0, {"a": 110, "b": 400}), ("1", 100, {"a": 500, "b": 400}), ("2", logged, {}))
    assert found[1] == 100
    found = predicted(("1", 0, {"a": 50, "b": 400}), ("1", 40, {"a": 500}), ("2", logged, {}))
    assert (found[2] == logged) is right


def test_r13_without_a_restart_nothing_else_is_right():
    found = predicted(("1", 0, {"a": 50, "b": 400}), ("1", 40, {"a": 500}), ("1", 40, {}))
    assert found == [0, 40, 380]


def test_where_no_manifest_tells_the_start_there_may_have_been_a_restart_or_none():
    for logged in (380, 40):
        assert predicted(("1", 0, {"a": 50, "b": 400}), ("1", 40, {"a": 500}), ("", logged, {}))[2] == logged


def test_the_model_takes_late_by_the_least_watermark_and_the_future_by_the_limit_of_each_source():
    clocks = {"a": Clock(10 * SECOND, 100 * SECOND), "b": Clock(20 * SECOND)}
    shape = replace(WINDOW, clocks=clocks, delay_us=20 * SECOND)

    def of(source, record):
        return replace(record, source=source)

    records = {
        "0": [of("a", at("a.e-1", 110)), of("b", at("b.e-1", 60))],
        "1": [of("a", at("a.e-2", 101)), of("b", at("b.e-2", 101))],
        "2": [of("a", at("a.e-3", 29)), of("b", at("b.e-3", 31))],
    }
    arrived = {record.trace: record for batch in records.values() for record in batch}
    watermarks = [0, 40_000, 81_000]
    reads = [BatchRead(number, watermark, 0, (str(number),), run="r") for number, watermark in enumerate(watermarks)]
    reads[0] = replace(reads[0], timestamp_ms=1_000_000)

    model = simulate(shape.query, arrived, reads, {file: [record.trace for record in batch] for file, batch in records.items()})

    assert [outcome.predicted_ms for outcome in model.batches] == [0, 40_000, 81_000]
    assert model.by_batch[1].left_by("rejected") == ("a.e-2",)
    assert model.by_batch[2].left_by("late") == ("a.e-3",)


def test_what_a_source_of_a_union_leaves_out_is_at_its_own_operator_although_the_other_one_asks_the_same():
    one, two = (Asked(source).then("require", conditions={"positive": "total > 0"}) for source in ("a", "b"))
    query = Query("rows", twins_of(one.then("union", two)), {"a": Clock(0), "b": Clock(0)}, "ts")
    arrived = {"b.e-1": replace(at("b.e-1", 60, fate="rejected"), source="b"), "a.e-1": replace(at("a.e-1", 60), source="a")}

    model = simulate(query, arrived, [BatchRead(0, 0, 0, ("0",))], {"0": list(arrived)})

    (at_node,) = [node for node, step in model.by_batch[0].steps.items() if step.sides]
    assert [leaf.source for leaf in at_node.inputs] == ["b"]
    assert model.fates == {"b.e-1": ("rejected", 0), "a.e-1": ("emitted", 0)}
