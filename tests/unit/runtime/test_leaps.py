"""A watermark that leaps is noticed, with the rows that were late after it."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from streamproof.core.manifest import Fingerprint
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.leaps import Leaps

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NONE = datetime(1970, 1, 1, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def told(*watermarks: datetime, clock: datetime = NOON + 400 * DAY, late: int = 0) -> Leaps:
    """Of batches with these watermarks, the first one that of the batch before."""
    leaps = Leaps("sums")
    for batch, (before, after) in enumerate(pairwise(watermarks), start=1):
        leaps.saw(batch, BatchLogs(Fingerprint(_ms(after), (), {}), "", {}, _ms(clock), _ms(before)), late)
    return leaps


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def test_the_first_watermark_and_one_that_goes_on_by_a_day_are_no_leaps():
    assert told(NONE, NOON, NOON + MINUTE, NOON + MINUTE + DAY).furthest is None


def test_more_than_a_day_in_one_batch_is_a_leap():
    leap = told(NONE, NOON, NOON + DAY + timedelta(milliseconds=1)).furthest

    assert leap is not None
    assert (leap.query, leap.batch, leap.before, leap.after) == ("sums", 2, NOON, NOON + DAY + timedelta(milliseconds=1))


def test_a_watermark_ahead_of_the_clock_is_a_leap_also_where_it_is_the_first():
    assert told(NONE, NOON + timedelta(hours=1), clock=NOON).furthest is None
    leap = told(NONE, NOON + timedelta(hours=1, milliseconds=1), clock=NOON).furthest

    assert leap is not None
    assert leap.before is None
    assert "leapt in batch 1 to 2026-01-05 13:00:00 UTC; no row was late since" in leap.note


def test_a_watermark_that_stays_ahead_is_told_once_with_the_rows_late_behind_it():
    ahead = NOON.replace(year=2126)
    leap = told(NOON, NOON + MINUTE, ahead, ahead, ahead, clock=NOON, late=83).furthest

    assert leap is not None
    assert (leap.batch, leap.late) == (2, 166)
    assert leap.note.startswith(
        "The watermark of sums leapt in batch 2 from 2026-01-05 12:01:00 UTC to 2126-01-05 12:00:00 UTC; 166 rows were late since"
    )
    assert "newest event of batch 1" in leap.note
    assert "max_future" in leap.note


def test_of_several_leaps_the_furthest_is_kept():
    leap = told(NOON, NOON + 2 * DAY, NOON + 9 * DAY, NOON + 12 * DAY).furthest

    assert leap is not None
    assert leap.batch == 2


def test_a_watermark_beyond_the_year_9999_is_a_leap_and_ends_no_batch():
    leaps = Leaps("sums")

    leap = leaps.saw(2, BatchLogs(Fingerprint(_ms(NOON) * 1_000, (), {}), "", {}, _ms(NOON), _ms(NOON)), 0)

    assert leap is not None
    assert "leapt in batch 2 from 2026-01-05 12:00:00 UTC to 9999-12-31 23:59:59 UTC" in leap.note
