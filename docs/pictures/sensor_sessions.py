"""Sessions of a sensor: what lies at most the gap apart is one, and a reading that comes in time joins two."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samples import judged
from shapes import BAND, EARLY, INK, LINE, SOFT, box, dot, line, page, text

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
GAP, LAG, LATENESS = timedelta(minutes=5), timedelta(seconds=20), timedelta(minutes=2)
MINUTE = timedelta(minutes=1)


def readings(sensor: str, *, until: int) -> Iterator[tuple[datetime, bool]]:
    """The sound readings of the first `until` batches, each with whether it is late by its own time + gap."""
    for number, event, bound in judged("sensor_sessions", LAG + LATENESS):
        if number < until and event["sensor"] == sensor and -60 <= event["celsius"] <= 400:
            yield event["at"], event["at"] + GAP <= bound


def sessions(sensor: str, *, until: int) -> list[tuple[datetime, datetime]]:
    found: list[tuple[datetime, datetime]] = []
    for at in sorted(at for at, late in readings(sensor, until=until) if not late):
        if found and at <= found[-1][1]:
            found[-1] = (found[-1][0], at + GAP)
        else:
            found.append((at, at + GAP))
    return found


def sensor_sessions() -> str:
    left, top, scale, row = 170, 70, 14.5, 66
    lines = (
        ("s1, at first", "s1", 2, "two runs, as far as one can see"),
        ("s1, a batch later", "s1", 3, "the reading of 09:10 joins them"),
        ("s1, at the end", "s1", 6, "the run is written; 09:16 is late"),
        ("s2", "s2", 6, "a run of its own"),
    )

    def x(at: datetime) -> float:
        return left + (at - NINE) / MINUTE * scale

    def parts() -> Iterator[str]:
        yield text(
            24, 26, "readings by the time at which they were taken; a run ends five minutes after its last one", weight="bold"
        )
        foot = top + len(lines) * row
        for minutes in range(0, 36, 5):
            at = NINE + minutes * MINUTE
            yield line(x(at), top - 14, x(at), foot - 22, colour=LINE, dash="2 4")
            yield text(x(at), foot - 6, f"{at:%H:%M}", size=11, colour=SOFT, anchor="middle")
        for number, (name, sensor, until, said) in enumerate(lines):
            y = top + number * row
            yield text(24, y + 5, name, size=13, weight="bold")
            yield text(x(NINE), y - 20, said, size=11, colour=SOFT)
            for start, end in sessions(sensor, until=until):
                last = end - GAP
                yield box(x(start) - 7, y - 12, x(end) - x(start) + 7, 24, stroke=EARLY)
                yield box(x(last) + 7, y - 11, x(end) - x(last) - 8, 22, fill="#ffffff")
                if not any(late and last < at < end for at, late in readings(sensor, until=until)):
                    yield text((x(last) + x(end)) / 2 + 3, y + 4, "quiet", size=11, colour=SOFT, anchor="middle")
            before = {at for at, _ in readings(sensor, until=until - 1)}
            for at, late in readings(sensor, until=until):
                yield dot(x(at), y, late=late)
                if until == 3 and at not in before:
                    yield f'<circle cx="{x(at):g}" cy="{y:g}" r="9" fill="none" stroke="{INK}" stroke-width="2"/>'
        yield line(left, foot - 22, x(NINE + 37 * MINUTE), foot - 22, colour=SOFT, width=1.5)
        yield box(left - 146, foot + 14, 26, 16, fill=BAND, stroke=EARLY) + text(
            left - 112, foot + 27, "a session: one row, when it can no longer change", size=12
        )
        yield dot(left + 212, foot + 23, late=True) + text(left + 224, foot + 27, "late: its time + gap was over", size=12)

    return page(730, top + len(lines) * row + 50, "Sessions of a sensor, and a reading that joins two of them", list(parts()))
