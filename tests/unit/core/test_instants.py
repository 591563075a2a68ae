"""Instants that somebody else has told: none that Python cannot count to raises."""

from datetime import UTC, datetime

import pytest

from streamproof.core.clock import LAST_MICROS
from streamproof.core.instants import instant_at, instant_in


def test_an_instant_is_read():
    assert instant_in("2026-01-05T09:01:40.000Z") == datetime(2026, 1, 5, 9, 1, 40, tzinfo=UTC)
    assert instant_at(1_500_000) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert instant_at(LAST_MICROS) is not None


@pytest.mark.parametrize("told", ["57970-01-01T00:00:00.000Z", "-0044-03-15T00:00:00.000Z", "", "soon", None, 5, []])
def test_what_is_no_instant_is_none(told):
    assert instant_in(told) is None


@pytest.mark.parametrize("micros", [LAST_MICROS + 1, 10**19, 10**40, -(10**19)])
def test_what_lies_beyond_the_year_9999_is_none(micros):
    assert instant_at(micros) is None
