"""Hopping windows over a line of visits: each begins a minute after the one before, and a late visit counts in those that are still open."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from samples import judged, watermarks
from shapes import BAND, EARLY, INK, LATE, LINE, SOFT, box, dot, line, page, text

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
LAG, SIZE = timedelta(seconds=30), timedelta(hours=1)
ENDS = tuple(NINE + timedelta(minutes=minutes) for minutes in (59, 60, 61, 62, 63))


def visits() -> list[tuple[dict[str, Any], datetime]]:
    """Each visit of a person, with the late bound of its batch."""
    return [(event, bound) for _, event, bound in judged("active_users", LAG) if event["agent"] != "robot"]


def counted(end: datetime) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The visits that a window has, and those that came when it was over."""
    inside = [(event, bound) for event, bound in visits() if end - SIZE <= event["at"] < end]
    return [event for event, bound in inside if end > bound], [event for event, bound in inside if end <= bound]


def hopping_windows() -> str:
    left, top, scale, row = 60, 96, 8.4, 40
    people, watermark = visits(), watermarks("active_users", LAG)[-1]

    def x(at: datetime) -> float:
        return left + (at - NINE) / timedelta(minutes=1) * scale

    def parts() -> Iterator[str]:
        yield text(left, 26, "visits, by the time at which they happened", weight="bold")
        yield line(left, top, x(ENDS[-1]) + 8, top, colour=SOFT, width=1.5)
        for minutes in range(0, 61, 10):
            at = NINE + timedelta(minutes=minutes)
            yield line(x(at), top - 4, x(at), top + 4, colour=SOFT)
            yield text(x(at), top + 20, f"{at:%H:%M}", colour=SOFT, size=11, anchor="middle")
        for event, _ in people:
            yield dot(x(event["at"]), top, late=False)
            if event["at"] < NINE + timedelta(minutes=40):
                yield text(x(event["at"]), top - 12, event["user"], size=12, anchor="middle")
            if counted(ENDS[1])[1] == [event]:
                yield text(x(event["at"]), top - 28, "arrives after all but the last", size=11, colour=LATE, anchor="middle")
        last = sorted((event for event, _ in people if event["at"] > NINE + timedelta(minutes=40)), key=lambda event: event["at"])
        yield text(x(last[-1]["at"]) + 5, top - 12, ", ".join(event["user"] for event in last), size=12, anchor="end")
        for number, end in enumerate(ENDS):
            y = top + 40 + number * row
            here, late = counted(end)
            closed = end <= watermark
            yield box(
                x(end - SIZE), y, SIZE / timedelta(minutes=1) * scale, row - 12, fill=BAND if closed else "#ffffff", stroke=LINE
            )
            for event in here:
                yield dot(x(event["at"]), y + (row - 12) / 2, late=False)
            for event in late:
                yield dot(x(event["at"]), y + (row - 12) / 2, late=True)
            said = f"{len({event['user'] for event in here})} users, {len(here)} visits" if closed else "still open"
            yield text(x(ENDS[-1]) + 14, y + 13, f"until {end:%H:%M}", size=11, colour=SOFT)
            yield text(x(ENDS[-1]) + 14, y + 27, said, size=12, colour=INK if closed else SOFT)
        foot = top + 40 + len(ENDS) * row + 18
        yield dot(left + 6, foot - 4, late=False) + text(left + 18, foot, "counted in this window", size=12)
        yield dot(left + 190, foot - 4, late=True) + text(
            left + 202, foot, "too late for this window: its row was written before", size=12
        )
        yield text(
            left, foot + 22, "Each window is an hour long and begins a minute after the one above it.", size=12, colour=EARLY
        )

    return page(
        760, top + 40 + len(ENDS) * row + 54, "Windows of an hour, a new one every minute, over a line of visits", list(parts())
    )
