"""Durations are known to a thousandth, never too short."""

import numpy as np
import pytest

from streamproof.doctor.skew.histogram import Histogram, highest_of, places_of


@pytest.mark.parametrize(
    "duration", [0, 1, 2_047, 2_048, 2_049, 4_095, 4_096, 10**6, 2**40 - 1, 2**40, 2**53 + 1, 2**58 - 1, 2**58]
)
def test_a_place_holds_its_duration_and_none_much_longer(duration):
    place = int(places_of(np.array([duration], dtype=np.int64))[0])

    assert duration <= highest_of(place) <= duration * 1.001
    assert int(places_of(np.array([highest_of(place)], dtype=np.int64))[0]) == place
    assert int(places_of(np.array([highest_of(place) + 1], dtype=np.int64))[0]) == place + 1


def test_groups_do_not_mix():
    histogram = Histogram()
    histogram.add(np.array([5, 7, 7], dtype=np.int64), np.array([0, 3, 3], dtype=np.int32))
    histogram.add(np.array([9], dtype=np.int64), np.array([3], dtype=np.int32))

    found = {group: (one.count, one.percentile(0.5), one.at_most(8)) for group, one in histogram.groups()}

    assert found == {0: (1, 5, 1), 3: (3, 7, 2)}


def test_with_fewer_digits_durations_are_known_to_a_hundredth_and_never_too_short():
    durations = np.array([3, 2_500, 10**6, 7 * 10**9], dtype=np.int64)
    histogram = Histogram(3)
    histogram.add(durations)

    found = [histogram.whole().percentile((place + 1) / 4) for place in range(4)]

    assert all(exact <= read <= max(exact * 1.01, exact + 7) for exact, read in zip(durations.tolist(), found, strict=True))
    assert [histogram.whole().at_most(read) for read in found] == [1, 2, 3, 4]


def test_nothing_has_no_percentile():
    assert (Histogram().whole().percentile(0.5), Histogram().whole().at_most(3), Histogram().whole().count) == (0, 0, 0)
