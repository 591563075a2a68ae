"""A calendar day of 25 hours, and its row: given when the day is over, corrected, and then final."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from samples import judged, watermarks
from shapes import BAND, EARLY, INK, LATE, LINE, SOFT, box, dot, line, page, text

BERLIN = ZoneInfo("Europe/Berlin")
LAG, LATENESS = timedelta(minutes=2), timedelta(minutes=90)
DAY = datetime(2026, 10, 25, tzinfo=BERLIN).astimezone(UTC)
NEXT = datetime(2026, 10, 26, tzinfo=BERLIN).astimezone(UTC)
HOUR = timedelta(hours=1)
HOURS = tuple(DAY + number * HOUR for number in range((NEXT - DAY) // HOUR))


def purchases(member: str) -> Iterator[tuple[int, dict[str, Any], bool]]:
    """The member's purchases of the day, each with its batch and whether it is late, by its own time."""
    seen = set()
    for number, event, bound in judged("loyalty", LAG + LATENESS):
        if event["member"] == member and DAY <= event["at"] < NEXT and event["receipt"] not in seen:
            seen.add(event["receipt"])
            yield number, event, event["at"] <= bound


def revisions(member: str) -> list[int]:
    """The points in each row of the day: the first in the batch after the one with which the day is over, then where a batch changes it."""
    on_time = 1 + next(number for number, left in enumerate(watermarks("loyalty", LAG)) if left >= NEXT)
    counts = [(number, int(event["euros"])) for number, event, late in purchases(member) if not late]
    given = sorted({max(number, on_time) for number, _ in counts})
    return [sum(points for number, points in counts if number <= batch) for batch in given]


def calendar_day() -> str:
    left, top, scale = 40, 96, 26

    def x(at: datetime) -> float:
        return left + (at - DAY) / HOUR * scale

    def day() -> Iterator[str]:
        yield text(left, 26, "the 25th of October in Berlin has 25 hours; below them the purchases of m1", weight="bold")
        for hour in HOURS:
            twice = hour.astimezone(BERLIN).hour == 2
            yield box(x(hour), top - 22, scale, 22, fill="#fdf3d8" if twice else BAND, stroke=LINE)
            yield text(
                x(hour) + scale / 2,
                top - 7,
                f"{hour.astimezone(BERLIN):%H}",
                size=11,
                anchor="middle",
                colour=INK if twice else SOFT,
            )
        yield text(x(HOURS[2]) + scale, top - 30, "comes twice", size=11, anchor="middle")
        for _, event, late in purchases("m1"):
            yield dot(x(event["at"]), top + 16, late=late)
        yield line(x(NEXT), top - 34, x(NEXT), top + 30, colour=EARLY, width=2)
        yield text(x(NEXT) - 4, top - 38, "midnight: 23:00 UTC", size=11, colour=EARLY, anchor="end")

    start, wide, y = NEXT - HOUR, 210, 200

    def behind(at: datetime) -> float:
        return left + (at - start) / HOUR * wide

    def afterwards() -> Iterator[str]:
        yield text(left, y - 40, "its row, by the newest event time that was seen", weight="bold")
        yield line(left, y + 40, left + 3 * wide, y + 40, colour=SOFT, width=1.5)
        for minutes in range(0, 181, 30):
            at = start + timedelta(minutes=minutes)
            yield line(behind(at), y + 36, behind(at), y + 44, colour=SOFT)
            yield text(behind(at), y + 60, f"{at.astimezone(BERLIN):%H:%M}", size=11, colour=SOFT, anchor="middle")
        on_time, closed = NEXT + LAG, NEXT + LAG + LATENESS
        for begin, end, said in (
            (start, on_time, "the day fills: no row"),
            (on_time, closed, "the row is there, and is corrected"),
            (closed, start + 3 * HOUR, "final"),
        ):
            yield box(
                behind(begin), y - 4, behind(end) - behind(begin), 30, fill=BAND if begin == on_time else "#f5f7fa", stroke=LINE
            )
            yield text((behind(begin) + behind(end)) / 2, y + 16, said, size=12, anchor="middle", colour=INK)
        first, last = revisions("m1")
        yield line(behind(on_time), y - 18, behind(on_time), y + 46, colour=EARLY, width=2)
        yield text(behind(on_time) + 14, y + 78, "revision 0 at 00:02", size=12, anchor="end", colour=EARLY)
        yield text(behind(on_time) + 14, y + 94, f"{first} points", size=12, anchor="end")
        right = behind(on_time) + 48
        yield text(right, y + 78, "revision 1: the purchase of 23:10 has come", size=12, colour=EARLY)
        yield text(right, y + 94, f"{last} points", size=12)
        yield line(behind(closed), y - 18, behind(closed), y + 46, colour=LATE, width=2)
        yield text(behind(closed) + 8, y + 78, "from 01:32 on: late", size=12, colour=LATE)
        foot = y + 124
        yield dot(left + 6, foot - 4, late=False) + text(left + 18, foot, "counted", size=12)
        yield dot(left + 96, foot - 4, late=True) + text(
            left + 108, foot, "of 23:55, and came when the day was final: late", size=12
        )

    return page(
        740, 340, "A day of 25 hours, its first row at two minutes past midnight, and its correction", [*day(), *afterwards()]
    )
