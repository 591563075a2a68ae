"""The measure of skew against a slow model that reads as Spark does it, and against the twin of Spark's watermark."""

import random

import numpy as np
import pytest

from streamproof.doctor.skew import measure as module
from streamproof.doctor.skew.chunks import OTHERS, Chunk, Names, by_arrival
from streamproof.doctor.skew.measure import Measure
from streamproof.doctor.skew.skew import LADDER, Judging
from streamproof.errors import ConfigurationError
from streamproof.prove.oracle.watermark import Watermark

SECOND = 1_000_000
NINE = 1_767_603_600 * SECOND


def disordered(seed: int, count: int = 3_000) -> list[int]:
    """Event times in the order of arrival, in microseconds, some of them far behind."""
    dice = random.Random(seed)
    return [NINE + place * 10_007 - (dice.randrange(90 * SECOND) if dice.random() < 0.2 else 0) for place in range(count)]


def chunk(times, *, groups=None, arrival=None, unreadable=0) -> Chunk:
    codes = {name: np.array(found, dtype=np.int32) for name, found in (groups or {}).items()}
    return Chunk(np.array(times, dtype=np.int64), codes, None if arrival is None else np.array(arrival, dtype=np.int64), unreadable)


def measured(times, *, pieces=1, lose=0.001, names=None, groups=None, delays=(), **judging):
    measure = Measure(names or {}, Judging(**judging), delays=delays)
    for part in np.array_split(np.arange(len(times)), pieces):
        measure.add(
            chunk(
                [times[place] for place in part],
                groups={name: [codes[place] for place in part] for name, codes in (groups or {}).items()},
            )
        )
    return measure.finished(lose=lose)


def late_by_spark(times, delay_us: int, batch: int) -> int:
    """Events at or before the watermark that the batches before have left, by the twin of the proof."""
    watermark, late = Watermark(delay_us), 0
    for start in range(0, len(times), batch):
        some = times[start : start + batch]
        late += sum(time <= watermark.predicted_ms * 1_000 for time in some)
        watermark.saw({"": max(some)})
    return late


@pytest.mark.parametrize("batch", [1, 7, 500, 5_000])
def test_what_a_lag_loses_is_what_the_watermark_of_the_batches_before_makes_late(batch, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 700)  # so that batches lie across the pieces that are worked on
    times = disordered(batch)

    skew = measured(times, pieces=4, batch=batch, delays=[1_500_000])

    checked = [
        loss for loss in skew.delays.losses if loss.delay_us in (1_000, 50_000, 1_500_000, 10 * SECOND, 60 * SECOND, 120 * SECOND)
    ]
    assert [loss.events for loss in checked] == [late_by_spark(times, loss.delay_us, batch) for loss in checked]
    assert batch == 5_000 or checked[0].events > 0
    assert all(loss.share == loss.events / len(times) for loss in checked)


def test_the_percentiles_are_those_of_how_far_each_event_is_behind_all_before_it():
    times = disordered(3)
    newest, behind = times[0], []
    for time in times:
        behind.append(max(0, newest // 1_000 * 1_000 - time))
        newest = max(newest, time)
    behind.sort()

    skew = measured(times, pieces=3)

    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)):
        exact = behind[int(np.ceil(share * len(behind))) - 1]
        assert exact <= skew.percentiles[name] <= exact * 1.001, name
    assert skew.longest == behind[-1]
    assert skew.counts.in_order == sum(
        time >= newest for time, newest in zip(times, np.maximum.accumulate([0, *times[:-1]]), strict=True)
    )


@pytest.mark.parametrize("lose", [0.0, 0.0005, 0.01, 0.1])
def test_the_recommended_lag_is_the_shortest_of_the_ladder_that_loses_no_more_than_is_wanted(lose):
    times = disordered(4)

    skew = measured(times, lose=lose)

    enough = [lag for lag in LADDER if late_by_spark(times, lag, 1) <= lose * len(times)]
    assert skew.delays.chosen.delay_us == enough[0]
    assert late_by_spark(times, skew.delays.needed_us + skew.delays.needed_us // 900 + 1_000, 1) <= lose * len(times)
    assert late_by_spark(times, skew.delays.needed_us * 998 // 1_000 - 1_000, 1) > lose * len(times)


def test_an_event_at_the_watermark_is_late_and_one_a_microsecond_later_is_not():
    at = measured([NINE, NINE - 5 * SECOND], delays=[5 * SECOND])
    above = measured([NINE, NINE - 5 * SECOND + 1], delays=[5 * SECOND])

    assert [loss.events for loss in at.delays.losses if loss.delay_us == 5 * SECOND] == [1]
    assert [loss.events for loss in above.delays.losses if loss.delay_us == 5 * SECOND] == [0]


def test_events_in_order_need_the_shortest_lag_and_lose_nothing():
    skew = measured([NINE + place * SECOND for place in range(100)], lose=0.0)

    assert (skew.longest, skew.counts.in_order, skew.delays.chosen.delay_us, skew.delays.chosen.events) == (0, 100, 1_000, 0)
    assert skew.delays.needed_us == 0


def test_groups_are_measured_against_all_events_and_the_slowest_comes_first():
    names = {"key": Names()}
    codes = names["key"].numbers(["quick", "slow"] * 500)
    times = [NINE + place * SECOND - (3_600 * SECOND if place % 2 else 0) for place in range(1_000)]

    skew = measured(times, names=names, groups={"key": codes.tolist()}, lose=0.6)

    slow, quick = skew.groups["key"]
    assert (slow.name, slow.events, quick.name, quick.longest, quick.late) == ("slow", 500, "quick", 0, 0)
    assert slow.longest == 3_599 * SECOND
    assert slow.late == skew.delays.chosen.events == 500


def test_more_names_than_are_told_apart_count_as_one():
    names = Names(2)

    assert names.numbers(["a", "b", "c", "a", "d"]).tolist() == [0, 1, 2, 0, 2]
    assert (names.all(), names.lumped) == (["a", "b", OTHERS], True)


def test_an_event_far_ahead_is_left_out_by_the_clock_of_its_neighbours_and_a_gap_is_none():
    times = [NINE + place * SECOND for place in range(2_000)]
    times[700] += 400 * 86_400 * SECOND  # a clock that is wrong
    times[1_500:] = [time + 5 * 86_400 * SECOND for time in times[1_500:]]  # a long weekend, at the end of a block

    kept, all_of_them = measured(times, max_future_us=86_400 * SECOND), measured(times, max_future_us=None)

    assert (kept.counts.ahead, kept.counts.events, kept.longest) == (1, 1_999, 0)
    assert kept.leap_us == 5 * 86_400 * SECOND + SECOND
    assert (all_of_them.counts.ahead, all_of_them.longest > 300 * 86_400 * SECOND) == (0, True)


def test_where_the_arrival_is_a_clock_max_future_goes_by_it():
    measure = Measure({}, Judging(max_future_us=60 * SECOND, clock_known=True))
    measure.add(chunk([NINE, NINE + 61 * SECOND, NINE + 60 * SECOND, NINE], arrival=[NINE] * 4))

    skew = measure.finished(lose=0.5)

    assert (skew.counts.ahead, skew.counts.events, skew.longest) == (1, 3, 60 * SECOND)


def test_events_are_put_in_the_order_of_arrival_and_equal_ones_stay():
    groups = {"key": [7, 8]}
    (found,) = by_arrival(
        [chunk([1, 2], groups=groups, arrival=[5, 3], unreadable=1), chunk([3, 4], groups=groups, arrival=[3, 1], unreadable=2)]
    )

    assert (found.times.tolist(), found.groups["key"].tolist(), found.unreadable) == ([4, 2, 3, 1], [8, 8, 7, 7], 3)
    assert list(by_arrival([])) == []


def test_times_before_1970_are_late_whatever_the_lag():
    skew = measured([-5 * SECOND, 0, SECOND, 2 * SECOND], lose=0.1)

    assert (skew.counts.before_1970, skew.counts.events, skew.delays.chosen) == (2, 4, None)
    assert {loss.events for loss in skew.delays.losses} == {late_by_spark([-5 * SECOND, 0, SECOND, 2 * SECOND], 10**12, 1)} == {2}


@pytest.mark.parametrize(("times", "said"), [([], "no event"), ([NINE], "one event")])
def test_what_is_no_sample_is_refused(times, said):
    measure = Measure({})
    measure.add(chunk(times, unreadable=3))

    with pytest.raises(ConfigurationError, match=f"{said} with a usable time and 3 without"):
        measure.finished(lose=0.1)


def test_what_is_held_is_how_many_events_are_within_the_lag():
    """In order and a second apart, a lag of 10 seconds holds the last 10 events."""
    skew = measured([NINE + place * SECOND for place in range(1_001)])

    assert [round(loss.held) for loss in skew.delays.losses if loss.delay_us == 10 * SECOND] == [10]


def test_memory_does_not_grow_with_the_events():
    measure = Measure({})
    for seed in range(40):
        measure.add(chunk([time + seed * 1_000 for time in disordered(seed % 3, 5_000)]))
    measure.finished(lose=0.1)

    assert len(measure._whole._keys) < 40_000
    assert sum(map(len, measure._pending)) == 0
