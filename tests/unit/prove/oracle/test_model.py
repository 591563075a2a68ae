"""The plain model against cases worked out by hand. Windows are 30 seconds, the watermark delay is 10 seconds."""

from dataclasses import replace

import pytest

from streamproof.core.account import Account
from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.model import HistoryGap, Model, simulate
from streamproof.prove.oracle.trace import hash_of
from unit.prove.small import (
    DEDUPLICATED,
    ONCE,
    PLAIN,
    SECOND,
    WINDOW,
    at,
    batches_of,
    copies_in,
    files_of,
    model_of,
    open_in,
    remembered_in,
    taken_by,
)


def late_of(model, batch):
    return list(model.by_batch[batch].left_by("late"))


def emitted_of(model, batch):
    return sorted((by[0], start // SECOND, contents.count) for (by, start), contents in model.by_batch[batch].emitted.items())


def test_r10_without_deduplication_a_row_is_late_when_its_window_has_ended_at_the_bound():
    # batch 1 has the watermark 60 - 10 = 50, which is the bound of batch 2
    model = model_of(WINDOW, [[at("e-1", 60)], [at("e-2", 61)], [at("e-3", 29.999), at("e-4", 30), at("e-5", 50)]])

    assert late_of(model, 2) == ["e-3"]
    assert emitted_of(model, 2) == []
    assert taken_by(model, 2) == ("e-4", "e-5")


def test_r10_with_deduplication_a_row_at_or_behind_the_bound_is_late_though_its_window_is_open():
    model = model_of(ONCE, [[at("e-1", 60)], [at("e-2", 61)], [at("e-3", 49.999), at("e-4", 50), at("e-5", 50.001)]])

    assert late_of(model, 2) == ["e-3", "e-4"]
    assert taken_by(model, 2) == ("e-5",)


def test_r10_a_copy_of_a_late_event_is_late_itself_and_not_a_duplicate():
    model = model_of(ONCE, [[at("e-1", 60)], [at("e-2", 61)], [at("e-3", 5), at("e-3+1", 5)]])

    assert late_of(model, 2) == ["e-3", "e-3+1"]
    assert model.account == Account(open_state=2, late=2)


def test_r10_before_the_first_watermark_only_rows_from_before_1970_are_late():
    model = model_of(ONCE, [[at("e-1", -1), at("e-2", 0), at("e-3", 0.001)]])

    assert late_of(model, 0) == ["e-1", "e-2"]


def test_a_row_that_is_not_stateful_is_never_late():
    model = model_of(PLAIN, [[at("e-1", 600)], [at("e-2", 601)], [at("e-3", 1)]])

    assert model.account == Account(emitted=3)
    assert [outcome.predicted_ms for outcome in model.batches] == [0, 0, 0]


def test_trap_1_late_is_decided_by_the_watermark_of_the_batch_before_and_emission_by_this_one():
    # batch 1 has the watermark 50: it emits the window 0-30, rows of batch 1 included; only batch 2 calls such rows late
    model = model_of(WINDOW, [[at("e-1", 1), at("e-2", 60)], [at("e-3", 2)], [at("e-4", 3)]])

    assert emitted_of(model, 1) == [("a", 0, 2)]
    assert late_of(model, 1) == []
    assert late_of(model, 2) == ["e-4"]


def test_trap_3_a_window_that_ends_exactly_at_the_watermark_is_emitted_and_one_that_ends_later_is_not():
    at_end = model_of(WINDOW, [[at("e-1", 1), at("e-2", 40)]], no_data=1)
    before_end = model_of(WINDOW, [[at("e-1", 1), at("e-2", 39.999)]], no_data=1)

    assert emitted_of(at_end, 1) == [("a", 0, 1)]
    assert emitted_of(before_end, 1) == []


def test_trap_5_without_the_last_no_data_batch_the_final_windows_stay_open():
    batches = [[at("e-1", 1)], [at("e-2", 100)]]

    assert model_of(WINDOW, batches).account == Account(open_state=2)
    assert model_of(WINDOW, batches, no_data=1).account == Account(emitted=1, open_state=1)


def test_trap_21_boundaries_that_a_crash_has_moved_change_what_is_late():
    batches = [[at("e-1", 60)], [at("e-2", 61)], [at("e-3", 1)]]
    reads = [BatchRead(0, 0, 0, ("part-0-0.json",)), BatchRead(1, 50_000, 0, ("part-1-0.json", "part-2-0.json"))]

    as_planned, moved = model_of(WINDOW, batches), model_of(WINDOW, batches, reads=reads)

    assert late_of(as_planned, 2) == ["e-3"]
    assert late_of(moved, 1) == []
    assert emitted_of(moved, 1) == [("a", 0, 1)]


def test_r12_a_key_is_remembered_for_lag_and_allowed_lateness_and_then_forgotten():
    # the key of second 60 expires at 70; batch 2 has the watermark 69.999, batch 3 the watermark 70
    batches = [[at("e-1", 60)], [at("e-2", 79.999)], [at("e-3", 80)]]

    assert (("e-1",), 70 * SECOND) in remembered_in(model_of(DEDUPLICATED, batches)).items()
    assert ("e-1",) not in remembered_in(model_of(DEDUPLICATED, batches, no_data=1))


def test_r12_a_copy_is_a_duplicate_within_one_batch_and_in_the_next():
    model = model_of(ONCE, [[at("e-1", 60), at("e-1+1", 60)], [at("e-1+2", 60)]])

    assert copies_in(model.by_batch[0]) == ("e-1",)
    assert copies_in(model.by_batch[1]) == ("e-1",)
    assert model.account == Account(open_state=1, duplicate=2)


def test_r12_a_forgotten_key_lets_no_copy_through_because_the_copy_is_late():
    model = model_of(DEDUPLICATED, [[at("e-1", 60)], [at("e-2", 200)], [at("e-3", 201)], [at("e-1+1", 60)]])

    assert ("e-1",) not in remembered_in(model)
    assert model.account == Account(emitted=3, late=1)


@pytest.mark.parametrize(("apart", "fate"), [(90, "duplicate"), (90.001, "emitted")])
def test_r12_a_horizon_of_its_own_ends_with_the_watermark_at_event_time_and_horizon(apart, fate):
    shape = replace(DEDUPLICATED, within_us=90 * SECOND)
    bound = 10 + apart - 0.001
    batches = [[at("e-1", 10)], [at("e-2", bound + 10)], [at("e-3", bound + 9)], [at("e-4", bound + 0.001, key="e-1")]]

    model = model_of(shape, batches)

    assert model.fates["e-4"] == (fate, 3)
    assert model.account.late == 0
    assert model.account.emitted + model.account.duplicate == 4


def test_r12_a_horizon_of_its_own_moves_no_watermark_and_closes_no_window():
    batches = [[at("e-1", 1)], [at("e-2", 60)], [at("e-3", 61)]]

    plain, longer = model_of(ONCE, batches), model_of(replace(ONCE, within_us=3600 * SECOND), batches)

    assert [outcome.emitted for outcome in longer.batches] == [outcome.emitted for outcome in plain.batches]
    assert [outcome.predicted_ms for outcome in longer.batches] == [outcome.predicted_ms for outcome in plain.batches]
    assert (("e-1",) in remembered_in(longer), ("e-1",) in remembered_in(plain)) == (True, False)


def test_different_events_with_one_key_in_one_batch_are_ambiguous():
    assert model_of(ONCE, [[at("e-1", 60, key="x"), at("e-2", 60, key="x")]]).ambiguous == (("x",),)
    assert model_of(ONCE, [[at("e-1", 60, key="x")], [at("e-2", 60, key="x")]]).ambiguous == ()


def test_r13_the_watermark_is_predicted_from_the_maximum_floored_to_milliseconds_and_never_goes_back():
    model = model_of(WINDOW, [[at("e-1", 60.0009)], [at("e-2", 20)], [at("e-3", 90)]], no_data=2)

    assert [outcome.predicted_ms for outcome in model.batches] == [0, 50_000, 50_000, 80_000, 80_000]


def test_r13_rejected_and_filtered_rows_do_not_move_the_watermark_and_late_ones_do_not_hold_it():
    batches = [[at("e-1", 60), at("e-2", 900, fate="rejected"), at("e-3", 900, fate="filtered")], [at("e-4", 61)], [at("e-5", 1)]]

    model = model_of(WINDOW, batches, no_data=1)

    assert [outcome.predicted_ms for outcome in model.batches] == [0, 50_000, 51_000, 51_000]
    assert model.account == Account(emitted=0, open_state=2, late=1, rejected=1, filtered=1)


def test_a_batch_that_was_planned_and_neither_committed_nor_published_has_no_effects():
    batches = [[at("e-1", 60)], [at("e-2", 61)]]
    reads = batches_of(WINDOW, batches)

    planned = model_of(WINDOW, batches, reads=[reads[0], replace(reads[1], committed=False)])
    published = model_of(WINDOW, batches, reads=[reads[0], replace(reads[1], committed=False, published=True)])

    assert planned.account == Account(open_state=1)
    assert published.account == Account(open_state=2)


def test_windows_are_kept_apart_by_key_and_hold_count_and_hash_of_event_ids():
    model = model_of(WINDOW, [[at("e-1", 1, "a"), at("e-2", 2, "b"), at("e-1+1", 3, "a")]])

    contents = open_in(model)[("a",), 0]
    assert (contents.count, contents.hash) == (2, 2 * hash_of("e-1"))
    assert open_in(model)[("b",), 0].traces == ("e-2",)


def test_a_record_that_a_transform_has_lost_is_unknown():
    batches = [[at("e-1", 60), at("e-2", 61)]]

    model = simulate(WINDOW.query, {"e-1": batches[0][0]}, batches_of(WINDOW, batches), files_of(batches))

    assert model.by_batch[0].left_by("unknown") == ("e-2",)
    assert model.fates["e-2"] == ("unknown", 0)


def test_r23_the_six_places_sum_to_the_input():
    batches = [
        [at("e-1", 60), at("e-1+1", 60), at("e-2", 61, fate="rejected"), at("e-3", 62, fate="filtered")],
        [at("e-4", 130)],
        [at("e-5", 131), at("e-6", 7)],
    ]
    model = model_of(ONCE, batches, no_data=1)

    assert model.account == Account(emitted=1, open_state=2, late=1, rejected=1, duplicate=1, filtered=1)
    assert model.account.total == 7


def test_missing_batches_are_a_gap_that_the_model_does_not_guess_over():
    with pytest.raises(HistoryGap, match="the batches 0, 2"):
        simulate(WINDOW.query, {}, [BatchRead(0, 0), BatchRead(2, 0)], {})


def test_the_same_boundaries_are_computed_once():
    batches = [[at("e-1", 60)], [at("e-2", 61)]]
    arrived = {record.trace: record for records in batches for record in records}
    model = Model(WINDOW.query, arrived, files_of(batches))
    reads = batches_of(WINDOW, batches)

    assert model.expect(reads) is model.expect([replace(read, timestamp_ms=5) for read in reads])
    assert model.expect(reads) is not model.expect(reads[:1])


def test_r13_what_is_in_the_future_by_the_clock_of_its_batch_is_rejected_and_moves_no_watermark():
    shape = replace(WINDOW, max_future_us=60 * SECOND)
    events = {record.trace: record for record in (at("e-1", 30), at("e-2", 161), at("e-3", 160))}
    model = Model(shape.query, events, {"part-0": ["e-1", "e-2", "e-3"]})

    by_that_clock = model.expect([BatchRead(0, 0, 100_000, ("part-0",)), BatchRead(1, 150_000, 9_999_000)])
    by_a_later_one = model.expect([BatchRead(0, 0, 101_000, ("part-0",)), BatchRead(1, 150_000, 9_999_000)])

    assert by_that_clock.by_batch[0].left_by("rejected") == ("e-2",)
    assert by_that_clock.by_batch[1].predicted_ms == 150_000
    assert by_a_later_one.by_batch[0].left_by("rejected") == ()
    assert by_a_later_one.by_batch[1].predicted_ms == 151_000
    assert (
        model.expect([BatchRead(0, 0, 500_000, ("part-0",)), BatchRead(1, 150_000, 9_999_000)]).by_batch[0].left_by("rejected")
        == ()
    )


def test_what_is_left_out_before_any_state_is_at_the_operator_that_leaves_it_out():
    """What no operator has rejected the source has: a line that cannot be read, an event of the future. What a transform has lost is nowhere."""
    broken = replace(at("e-4", 61, fate="rejected"), reason="not parseable")
    batches = [
        [at("e-1", 60), at("e-2", 61, fate="rejected"), at("e-3", 62, fate="filtered"), broken, at("e-5", 900), at("e-6", 63)]
    ]
    shape = replace(WINDOW, max_future_us=600 * SECOND)
    arrived = {record.trace: record for record in batches[0] if record.trace != "e-6"}

    outcome = simulate(shape.query, arrived, batches_of(shape, batches), files_of(batches)).by_batch[0]

    sides = {type(node.twin).__name__: step.sides for node, step in outcome.steps.items() if not node.twin.keeps}
    traces = {twin: {kind: [row.traces[0] for row in rows] for (kind, _), rows in found.items()} for twin, found in sides.items()}
    assert traces == {
        "Source": {"rejected": ["e-4", "e-5"], "unknown": ["e-6"]},
        "Require": {"rejected": ["e-2"]},
        "Filter": {"filtered": ["e-3"]},
    }
