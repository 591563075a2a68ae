"""Percentiles of a minute: the latencies in order, what was asked for, and how far a sketch may be from it."""

from collections.abc import Iterator
from math import ceil, floor

from samples import batches
from shapes import BAND, EARLY, INK, LINE, SOFT, box, line, page, text

ERROR = 0.005
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def latencies() -> list[float]:
    """Those of the first minute, each request once, in order."""
    once = {event["request_id"]: event for events in batches("observability")[:2] for event in reversed(events)}
    return sorted(event["latency_ms"] for event in once.values() if event["latency_ms"] >= 0 and event["at"].minute == 0)


def answer(values: list[float], share: float) -> float:
    return values[ceil(share * len(values)) - 1]


def allowed(values: list[float], share: float) -> tuple[float, float]:
    """The least and the greatest answer that the stated error allows: the rank is off by at most error x count + 1."""
    rank, off = ceil(share * len(values)), ERROR * len(values) + 1
    return values[max(ceil(rank - off), 1) - 1], values[min(floor(rank + off), len(values)) - 1]


def percentiles() -> str:
    left, top, wide, high, most = 80, 50, 560, 250, 500
    values = latencies()

    def x(rank: float) -> float:
        return left + wide * rank / len(values)

    def y(latency: float) -> float:
        return top + high - high * min(latency, most) / most

    def parts() -> Iterator[str]:
        yield text(left - 60, 26, f"the {len(values)} searches of 09:00, the fastest on the left", weight="bold")
        for latency in range(0, most + 1, 100):
            yield line(left, y(latency), left + wide, y(latency))
            yield text(left - 8, y(latency) + 4, f"{latency} ms", size=11, colour=SOFT, anchor="end")
        for number, (name, share) in enumerate(SHARES.items()):
            rank = ceil(share * len(values))
            low, up = allowed(values, share)
            off = ERROR * len(values) + 1
            right = min(rank + off, len(values))
            yield box(x(rank - off), y(up) - 3, x(right) - x(rank - off), y(low) - y(up) + 6, fill=BAND, stroke=EARLY)
            yield line(x(rank), y(answer(values, share)), x(rank), top + high + 6, colour=EARLY, width=1.5, dash="3 3")
            side = {"p50": "middle", "p95": "end", "p99": "start"}[name]
            yield text(x(rank), top + high + 22, name, size=12, anchor=side, colour=EARLY, weight="bold")
            exact = answer(values, share)
            yield text(
                x(rank) - 10,
                y(exact) - 16 if number else y(exact) - 30,
                f"{exact:g} ms (from {low:g} to {up:g} is allowed)",
                size=12,
                anchor="end",
                colour=INK,
            )
        steps = " ".join(f"{x(rank):.1f},{y(latency):.1f}" for rank, latency in enumerate(values, 1))
        yield f'<polyline points="{steps}" fill="none" stroke="{INK}" stroke-width="2"/>'
        yield line(left, top + high, left + wide, top + high, colour=SOFT, width=1.5)
        yield text(left + wide, top + high + 44, "all searches →", size=12, colour=SOFT, anchor="end")
        foot = top + high + 68
        yield box(left, foot - 12, 18, 14, fill=BAND, stroke=EARLY)
        yield text(
            left + 26,
            foot,
            f"what an error of {ERROR:g} allows: {ERROR:g} x {len(values)} + 1, so 2 places to either side",
            size=12,
        )
        yield text(left, foot + 22, f"The slowest took {values[-1]:g} ms; the picture ends at {most} ms.", size=12, colour=SOFT)
        yield line(left, top, left, top + high, colour=LINE)

    return page(
        720, top + high + 104, "Latencies of a minute in order, with their percentiles and the error that is allowed", list(parts())
    )
