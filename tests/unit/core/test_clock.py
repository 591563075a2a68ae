from datetime import UTC, datetime, timedelta, timezone

import pytest

from streamproof.core.clock import from_micros, now_utc, to_micros


@pytest.mark.parametrize("micros", [0, 1, 1_767_603_600_123_456, -1, -1_000_001, 253_402_300_799_999_999])
def test_micros_and_instants_are_the_same_to_the_microsecond(micros):
    assert to_micros(from_micros(micros)) == micros


def test_the_zone_of_an_instant_does_not_matter():
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)

    assert to_micros(noon) == to_micros(noon.astimezone(timezone(timedelta(hours=5))))


def test_now_is_aware():
    assert now_utc().tzinfo is UTC
