"""The twins of the kinds of windows: which windows an instant lies in, and what sessions become."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import pytest

from streamproof.core.clock import to_micros
from streamproof.prove.oracle.open_windows import Windows
from streamproof.prove.oracle.rows import Row
from streamproof.prove.oracle.windows import PlainCalendar, PlainGap, PlainHopping, PlainSession, PlainShifts, PlainTumbling

SECOND = 1_000_000
HOUR = 3_600 * SECOND
KINDS = [
    PlainTumbling(30 * SECOND),
    PlainTumbling(60 * SECOND, 7 * SECOND),
    PlainHopping(60 * SECOND, 25 * SECOND, 3 * SECOND),
    PlainSession(30 * SECOND),
    PlainCalendar("day", "Europe/Berlin"),
    PlainCalendar("month", "America/Havana"),
    PlainShifts(("06:00", "14:00", "22:00"), "Europe/Berlin"),
    PlainShifts(("02:00", "02:30", "03:00"), "Europe/Berlin"),
]


def utc(text: str) -> int:
    return to_micros(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(
    "instant", [0, 1, 6 * SECOND, 7 * SECOND, 89 * SECOND, utc("2026-03-28T23:00:00"), utc("2026-10-25T01:30:00")]
)
def test_an_instant_lies_in_its_windows(kind, instant):
    windows = kind.assign(instant)

    assert all(start <= instant < end for start, end in windows)
    assert windows == sorted(set(windows))
    assert len(windows) == 1 or kind.several


def test_hopping_windows_overlap_and_none_is_missing():
    kind = PlainHopping(60 * SECOND, 25 * SECOND)

    assert kind.assign(50 * SECOND) == [(0, 60 * SECOND), (25 * SECOND, 85 * SECOND), (50 * SECOND, 110 * SECOND)]
    assert kind.assign(60 * SECOND) == [(25 * SECOND, 85 * SECOND), (50 * SECOND, 110 * SECOND)]


@pytest.mark.parametrize(
    ("unit", "zone", "instant", "start", "hours"),
    [
        ("day", "Europe/Berlin", "2026-03-29T10:00", "2026-03-28T23:00", 23),  # clocks go on
        ("day", "Europe/Berlin", "2026-10-25T10:00", "2026-10-24T22:00", 25),  # clocks go back
        ("day", "Europe/Berlin", "2026-06-01T21:59:59", "2026-05-31T22:00", 24),
        ("day", "Africa/Cairo", "2024-04-26T12:00", "2024-04-25T22:00", 23),  # midnight itself is left out
        ("day", "America/Havana", "2026-11-01T04:30", "2026-11-01T04:00", 25),  # midnight comes twice
        ("week", "Europe/Berlin", "2026-03-29T10:00", "2026-03-22T23:00", 7 * 24 - 1),
        ("month", "Europe/Berlin", "2026-03-01T00:00", "2026-02-28T23:00", 31 * 24 - 1),
        ("month", "UTC", "2028-02-29T23:59:59", "2028-02-01T00:00", 29 * 24),
    ],
)
def test_days_weeks_and_months_are_those_of_the_zone(unit, zone, instant, start, hours):
    assert PlainCalendar(unit, zone).assign(utc(instant)) == [(utc(start), utc(start) + hours * HOUR)]


THREE, NIGHT = ("06:00", "14:00", "22:00"), ("02:00", "02:30", "03:00")


@pytest.mark.parametrize(
    ("times", "zone", "instant", "start", "end"),
    [
        (THREE, "Europe/Berlin", "2026-06-01T04:00", "2026-06-01T04:00", "2026-06-01T12:00"),
        (THREE, "Europe/Berlin", "2026-06-01T03:59:59", "2026-05-31T20:00", "2026-06-01T04:00"),  # it began the evening before
        (THREE, "Europe/Berlin", "2026-03-29T00:30", "2026-03-28T21:00", "2026-03-29T04:00"),  # clocks go on: seven hours
        (THREE, "Europe/Berlin", "2026-10-25T00:30", "2026-10-24T20:00", "2026-10-25T05:00"),  # clocks go back: nine hours
        (("12:00",), "Asia/Kathmandu", "2026-01-01T06:15", "2026-01-01T06:15", "2026-01-02T06:15"),
        (
            ("02:30", "14:00"),
            "Europe/Berlin",
            "2026-03-29T00:59:59",
            "2026-03-28T13:00",
            "2026-03-29T01:00",
        ),  # half past two is left out
        (NIGHT, "Europe/Berlin", "2026-03-29T01:00", "2026-03-29T01:00", "2026-03-30T00:00"),  # all three are at once
        (NIGHT, "Europe/Berlin", "2026-10-25T00:29", "2026-10-25T00:00", "2026-10-25T00:30"),
        (
            NIGHT,
            "Europe/Berlin",
            "2026-10-25T01:15",
            "2026-10-25T00:30",
            "2026-10-25T02:00",
        ),  # a quarter past two for the second time
        (
            ("00:00", "00:30", "12:00"),
            "America/St_Johns",
            "2006-10-29T03:00",
            "2006-10-29T02:30",
            "2006-10-29T04:00",
        ),  # back over midnight
        (("06:00", "18:00"), "Pacific/Apia", "2011-12-30T10:30", "2011-12-30T10:00", "2011-12-30T16:00"),  # a day is left out
    ],
)
def test_shifts_begin_at_times_of_the_zone_and_last_until_the_next(times, zone, instant, start, end):
    assert PlainShifts(times, zone).assign(utc(instant)) == [(utc(start), utc(end))]


def test_shifts_are_at_least_as_long_as_the_shortest_of_a_usual_day():
    assert PlainShifts(("06:00", "14:00", "22:30"), "Europe/Berlin").at_least_us == 7.5 * HOUR
    assert PlainShifts(("06:00",), "Europe/Berlin").at_least_us == 24 * HOUR


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("bound", [utc("2026-03-29T00:00:00.123"), utc("2026-03-29T00:00:00"), utc("2026-03-28T23:00:00")])
@pytest.mark.parametrize("tick", [1_000, SECOND])
def test_the_last_late_instant_is_late_for_all_its_windows_and_a_tick_later_for_one_it_is_not(kind, bound, tick):
    last = kind.last_late(bound, tick)

    assert all(end <= bound for _, end in kind.assign(last))
    assert any(end > bound for _, end in kind.assign(last + tick))


def added(*seconds: int, gap: int = 30) -> dict[tuple[int, int], int]:
    """The sessions that events at these seconds make, in the order in which they come."""
    windows = Windows(PlainSession(gap * SECOND), ("client",))
    for number, at in enumerate(seconds):
        windows.add(windows.pairs([Row((f"e-{number}",), at * SECOND, {"client": "a"})]))
    return {(key[1] // SECOND, contents.end_us // SECOND): contents.count for key, contents in windows.frozen().items()}


def test_sessions_merge_whatever_comes_first():
    assert added(0, 100) == {(0, 30): 1, (100, 130): 1}
    assert added(0, 60, 29) == {(0, 59): 2, (60, 90): 1}
    assert added(0, 60, 45) == {(0, 30): 1, (45, 90): 2}
    assert added(0, 55, 28) == added(55, 28, 0) == {(0, 85): 3}
    assert added(0, 30) == {(0, 60): 2}  # at the end of the gap: Spark takes it in


def test_sessions_with_a_longest_length_are_cut_at_its_multiples_and_nowhere_else():
    for order in ((40, 59, 60, 70), (70, 60, 59, 40), (59, 70, 40, 60)):
        windows = Windows(PlainSession(30 * SECOND, 60 * SECOND), ("client",))
        for at in order:
            windows.add(windows.pairs([Row((f"e-{at}",), at * SECOND, {"client": "a"})]))
        found = {(key[1] // SECOND, contents.end_us // SECOND): contents.count for key, contents in windows.frozen().items()}
        assert found == {(40, 89): 2, (60, 100): 2}


def test_sessions_of_other_keys_stay_apart_and_due_ones_go():
    windows = Windows(PlainSession(30 * SECOND), ("client",))
    windows.add(windows.pairs([Row(("e-1",), 0, {"client": "a"}), Row(("e-2",), SECOND, {"client": "b"})]))

    due = windows.due(30 * SECOND)

    assert {key: contents.end_us for key, contents in due.items()} == {(("a",), 0): 30 * SECOND}
    assert list(windows.frozen()) == [(("b",), SECOND)]


OWN = PlainGap("idle", 60 * SECOND)


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        (1, SECOND),
        (0.5, 500_000),
        (Decimal("60"), 60 * SECOND),
        (timedelta(seconds=1.5), 1_500_000),
        (0.000001, 1),
        (None, "session gap idle (is null)"),
        (float("nan"), "session gap idle (is not a number)"),
        (0, "session gap idle (is not above zero)"),
        (timedelta(seconds=-1), "session gap idle (is not above zero)"),
        (float("-inf"), "session gap idle (is not above zero)"),
        (60.000001, "session gap idle (is above 1 minute)"),
        (float("inf"), "session gap idle (is above 1 minute)"),
    ],
    ids=str,
)
def test_a_value_is_a_gap_or_says_why_it_is_none(value, gap):
    assert OWN.judged(value) == gap


def own_sessions(*events, longest=None):
    """The sessions of events, each (second, gap)."""
    windows = Windows(PlainSession(60 * SECOND, longest, OWN), ("client",))
    for number, (at, gap) in enumerate(events):
        windows.add(windows.pairs([Row((f"e-{number}",), at * SECOND, {"client": "a", "idle": gap})]))
    return {(key[1] // SECOND, contents.end_us // SECOND): contents.count for key, contents in windows.frozen().items()}


def test_a_session_ends_when_the_last_of_its_own_gaps_is_over_whatever_comes_first():
    events = [(0, 50), (10, 5), (50, 1), (52, 3)]

    for order in permutations(events):
        assert own_sessions(*order) == {(0, 51): 3, (52, 55): 1}
    assert own_sessions((0, 5), (6, 5), (4, 2)) == {(0, 11): 3}
    assert own_sessions((50, 30), (65, 5), longest=60 * SECOND) == {(50, 80): 1, (65, 70): 1}


def test_an_event_with_a_gap_of_its_own_is_late_by_its_own_time():
    windows = Windows(PlainSession(60 * SECOND, None, OWN))
    at, above = windows.pairs([Row((trace,), us, {"idle": 60}) for trace, us in (("e-1", SECOND), ("e-2", SECOND + 1))])

    assert (windows.is_late(at, SECOND), windows.is_late(above, SECOND)) == (True, False)
    assert windows.kind.last_late(SECOND + 1_500, 1_000) == SECOND + 1_000
