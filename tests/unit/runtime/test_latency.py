"""Ages that tasks have counted become latencies."""

from collections import Counter

import pytest

from streamproof.runtime.watching.latency import Aged, Latency, Since, latencies

EVENT, APPEND = Since.EVENT, Since.APPEND


def cut(age: int) -> int:
    """As `Ages.java` cuts it: seven leading bits are kept."""
    more = max(0, age.bit_length() - 7)
    return age >> more << more


def test_quantiles_are_by_nearest_rank_and_what_passed_until_readers_got_them_comes_on_top() -> None:
    ages = Counter({10: 90, 20: 8, 30: 1, 100: 1})

    assert list(latencies({(EVENT, "trades"): Aged(100, ages)}, 5)) == [Latency("trades", EVENT, 100, 15, 25, 35, 106)]


@pytest.mark.parametrize("age", [1, 127, 128, 255, 1_000, 59_999, 3_600_000, 86_400_000 * 400])
def test_what_is_said_of_an_age_is_within_one_percent(age: int) -> None:
    (said,) = latencies({(EVENT, "trades"): Aged(1, {cut(age): 1})}, 0)

    assert said.p50_ms == said.most_ms == pytest.approx(age, rel=0.01)


def test_each_source_has_its_own_and_one_without_ages_has_none() -> None:
    aged = {(APPEND, "b"): Aged(1, {1: 1}), (EVENT, "b"): Aged(1, {7: 1}), (EVENT, "a"): Aged(4, {})}

    assert [(one.source, one.since, one.p50_ms) for one in latencies(aged, 1)] == [("b", APPEND, 2), ("b", EVENT, 8)]


def test_a_clock_that_went_back_gives_no_negative_latency() -> None:
    (said,) = latencies({(EVENT, "trades"): Aged(1, {3: 1})}, -1_000)

    assert said.p50_ms == 0
