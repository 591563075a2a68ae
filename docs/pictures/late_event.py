"""The picture of which event is late, and its numbers: `tests/unit/prove/oracle/test_page_of_late_events.py` holds them against the model."""

from collections.abc import Iterator
from dataclasses import dataclass

from explanations import clock
from shapes import EARLY, INK, LATE, LINE, SOFT, box, dot, line, page, text

LAG, LATENESS, WINDOW = 10, 20, 30
BATCHES: tuple[tuple[int, ...], ...] = ((5, 40, 70), (12, 50, 95), (25, 35, 41, 110), (58, 62, 66, 120))
"""Event times of each batch, seconds after 09:00:00, in the order in which they arrive."""


@dataclass(frozen=True)
class Batch:
    """What a batch reads, its watermark, and the bound by which it decides what is late: the watermark of the batch before."""

    events: tuple[int, ...]
    watermark: int | None
    bound: int | None

    def late(self, event: int, *, deduplicated: bool) -> bool:
        """By its own time after a deduplication, else by the end of its window."""
        decides = event if deduplicated else (event // WINDOW + 1) * WINDOW
        return self.bound is not None and decides <= self.bound


def batches() -> list[Batch]:
    """The batches: the watermark of each comes from the events of those before it."""
    found: list[Batch] = []
    newest: int | None = None
    for events in BATCHES:
        watermark = None if newest is None else newest - LAG - LATENESS
        found.append(Batch(events, watermark, found[-1].watermark if found else None))
        newest = max(*events, newest if newest is not None else 0)
    return found


def late_event() -> str:
    """Batches across, event time up, windows as bands; the bound of each batch, and the watermark that the next one goes by."""
    left, top, step, scale, high = 90, 34, 150, 3.4, 125
    bottom = top + high * scale

    def y(seconds: float) -> float:
        return bottom - seconds * scale

    def parts() -> Iterator[str]:
        right = left + step * len(BATCHES)
        for start in range(0, high, WINDOW):
            end = min(start + WINDOW, high)
            if start // WINDOW % 2 == 0:
                yield box(left, y(end), right - left, (end - start) * scale)
            yield text(right + 8, y(start) - 8, f"window from {clock(start)}", colour=SOFT, size=11)
            yield line(left - 4, y(start), left, y(start), colour=SOFT)
            yield text(left - 8, y(start) + 4, clock(start), colour=SOFT, size=11, anchor="end")
        yield line(left, top, left, bottom, colour=SOFT)
        yield line(left, bottom, right, bottom, colour=SOFT)
        for number, batch in enumerate(batches()):
            x = left + number * step
            yield line(x, top, x, bottom, colour=LINE, dash="2 4")
            yield text(x + step / 2, bottom + 18, f"batch {number}", colour=SOFT, size=12, anchor="middle")
            if batch.watermark is not None:
                yield line(x, y(batch.watermark), x + step, y(batch.watermark), colour=SOFT, width=1.5, dash="6 4")
            if batch.bound is not None:
                yield line(x, y(batch.bound), x + step, y(batch.bound), colour=INK, width=2)
            for place, event in enumerate(batch.events):
                across = x + step * (place + 1) / (len(batch.events) + 1)
                if not batch.late(event, deduplicated=False) and batch.late(event, deduplicated=True):
                    yield _either(across, y(event))
                else:
                    yield dot(across, y(event), late=batch.late(event, deduplicated=False))
                yield text(across + 9, y(event) - 3, clock(event)[3:], colour=SOFT, size=10)
        yield text(left, top - 14, "event time", colour=SOFT, size=12)
        foot = bottom + 46
        yield dot(left + 6, foot - 4, late=False) + text(left + 18, foot, "in time", size=12)
        yield dot(left + 96, foot - 4, late=True) + text(left + 108, foot, "late: its window had ended at the bound", size=12)
        yield _either(left + 366, foot - 4) + text(left + 378, foot, "late only after deduplicate(): by its own time", size=12)
        yield line(left, foot + 20, left + 24, foot + 20, colour=INK, width=2)
        yield text(left + 32, foot + 24, "the bound by which a batch decides: the watermark of the batch before", size=12)
        yield line(left, foot + 42, left + 24, foot + 42, colour=SOFT, width=1.5, dash="6 4")
        said = f"the watermark of a batch: the newest event of all batches before it, less delay ({LAG} s) and allowed lateness ({LATENESS} s)"
        yield text(left + 32, foot + 46, said, size=12)

    return page(left + step * len(BATCHES) + 150, int(bottom + 104), "Which event is late, batch by batch", list(parts()))


def _either(x: float, y: float) -> str:
    """A ring with a stroke through it."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="#ffffff" stroke="{EARLY}" stroke-width="2"/>' + line(
        x - 7, y + 7, x + 7, y - 7, colour=LATE, width=2
    )
