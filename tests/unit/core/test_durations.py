from datetime import timedelta

import pytest

from streamproof.core.durations import format_duration, micros_of, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("10 seconds", timedelta(seconds=10)),
        ("1 minute 30 seconds", timedelta(seconds=90)),
        ("1 minute, 30 s", timedelta(seconds=90)),
        ("500 ms", timedelta(milliseconds=500)),
        ("1.5 hours", timedelta(minutes=90)),
        ("2 Days", timedelta(days=2)),
        ("0 seconds", timedelta(0)),
    ],
)
def test_durations_are_read_as_people_write_them(text, duration):
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text", ["", "  ", "10", "ten seconds", "10 fortnights", "-1 second", "1 second later", "1 mon", 120, None, 1.5]
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("micros", [0, 1, 999, 1_000, 90_000_000, 86_400_000_000, 90_061_001_001])
def test_what_is_formatted_can_be_read_again(micros):
    assert micros_of(parse_duration(format_duration(timedelta(microseconds=micros)))) == micros


def test_words():
    assert format_duration(timedelta(seconds=90)) == "1 minute 30 seconds"
    assert format_duration(timedelta(0)) == "0 seconds"
