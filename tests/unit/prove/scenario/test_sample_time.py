"""Which columns look like event time and which like an id."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamproof.prove.scenario.sample_time import TimeColumn, id_column, instant_us, time_columns

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
NINE_S = 1_767_603_600
NINE_US = NINE_S * 1_000_000


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("ts", [NINE, None], None),
        ("whatever", [NINE.replace(tzinfo=None)], None),
        ("whatever", ["2026-01-05T09:00:00Z", "2026-01-05 09:00:00.123"], None),
        ("ts", [NINE_S], "seconds"),
        ("createdAt", [NINE_S + 0.5], "seconds"),
        ("ts", [NINE_S * 1_000], "milliseconds"),
        ("event_time", [NINE_US], "microseconds"),
        ("ts", [NINE_US * 1_000], "nanoseconds"),
        ("sold_at", [Decimal(NINE_S)], "seconds"),
        ("trade_date", [date(2026, 1, 5)], None),
        ("trade_date", ["2026-01-05"], None),
        ("ts", [NINE_S] * 99 + [0], "seconds"),
    ],
)
def test_what_looks_like_event_time(name, values, unit):
    assert time_columns({"other": [1] * len(values), name: values}) == [TimeColumn(name, unit)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("phone", [NINE_S]),
        ("event_id", [NINE_S * 1_000]),
        ("ts", [NINE_S, NINE_S * 1_000]),
        ("ts", [True]),
        ("ts", [5]),
        ("birth_date", [date(1990, 1, 5)]),
        ("label", ["2026-01-05"]),
        ("ts", ["noon", "2026-01-05T09:00:00Z"]),
        ("ts", [None, None]),
        ("ts", [None, None, NINE]),
        ("ts", ["2026-13-05T09:00:00Z"]),
        ("ts", [float("nan")]),
    ],
)
def test_what_does_not(name, values):
    assert time_columns({name: values}) == []


def test_the_likeliest_comes_first():
    columns = {"trade_date": [date(2026, 1, 5)], "loaded": [NINE], "created_at": [NINE_S], "event_time": [NINE_S]}

    assert [time.name for time in time_columns(columns)] == ["event_time", "created_at", "loaded", "trade_date"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"text": ["a", "b"], "trade_id": [1, 2]}, "trade_id"),
        ({"n": [1, 2], "text": ["a", "b"]}, "text"),
        ({"n": [1, 2]}, "n"),
        ({"id": ["a", "a"]}, None),
        ({"id": ["a", None]}, None),
        ({"x": [1.5, 2.5], "b": [True, False]}, None),
        ({"ts": [NINE_S, NINE_S + 1]}, None),
    ],
)
def test_an_id_is_all_different_and_never_null(columns, found):
    assert id_column(columns, time_columns(columns)) == found


@pytest.mark.parametrize(
    ("value", "unit", "instant"),
    [
        (NINE, None, NINE_US),
        (NINE.replace(tzinfo=None), None, NINE_US),
        (date(2026, 1, 5), None, NINE_US - 9 * 3_600_000_000),
        ("2026-01-05T10:00:00+01:00", None, NINE_US),
        (NINE_S, "seconds", NINE_US),
        (NINE_S + 0.25, "seconds", NINE_US + 250_000),
        (NINE_US * 1_000 + 999, "nanoseconds", NINE_US),
        (NINE_S * 1_000, None, NINE_US),
        (5, None, None),
        ("noon", None, None),
        (float("inf"), "seconds", None),
        (None, None, None),
    ],
)
def test_an_instant(value, unit, instant):
    assert instant_us(value, unit) == instant
