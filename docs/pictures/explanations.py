"""The pictures of the explanations. The watermark is computed and not drawn by hand, so that a picture cannot say something else than the text."""

from collections.abc import Iterator
from dataclasses import dataclass

from shapes import EARLY, INK, LATE, LINE, SOFT, box, dot, line, page, text

LAG = 10
WINDOW = 30
BATCHES: tuple[tuple[int, ...], ...] = ((2, 13, 8), (14, 22, 18), (31, 27, 12), (44, 38, 41), (24, 52, 47), (63, 58, 29))
"""Event times of each batch, seconds after 09:00:00, in the order in which they arrive."""


@dataclass(frozen=True)
class Batch:
    """What a batch reads, the bound by which it decides what is late, and the watermark that its events leave to the next."""

    events: tuple[int, ...]
    bound: int | None
    watermark: int

    def late(self, event: int) -> bool:
        """A row is late if its window has ended at or before the bound."""
        return self.bound is not None and (event // WINDOW + 1) * WINDOW <= self.bound


def batches() -> list[Batch]:
    """The batches. What the events of one leave is the watermark of the next, and the bound of the one after that."""
    found: list[Batch] = []
    for events in BATCHES:
        bound = found[-2].watermark if len(found) > 1 else None
        left = [found[-1].watermark] if found else []
        found.append(Batch(events, bound, max([max(events) - LAG, *left])))
    return found


def clock(seconds: int) -> str:
    return f"09:{seconds // 60:02}:{seconds % 60:02}"


def watermark() -> str:
    """Arrival across, event time up, windows as bands, the watermark as stairs, late events below them as crosses."""
    left, top, step, scale, high = 90, 30, 110, 4.2, 70
    bottom = top + high * scale

    def y(seconds: float) -> float:
        return bottom - seconds * scale

    def parts() -> Iterator[str]:
        right = left + step * len(BATCHES)
        for start in range(0, high, WINDOW):
            end = min(start + WINDOW, high)
            if start // WINDOW % 2 == 0:
                yield box(left, y(end), right - left, (end - start) * scale)
            yield text(right + 8, (y(start) + y(end)) / 2, "window", colour=SOFT, size=11)
            yield text(right + 8, (y(start) + y(end)) / 2 + 14, f"from {clock(start)}", colour=SOFT, size=11)
        for seconds in range(0, high, 10):
            yield line(left - 4, y(seconds), left, y(seconds), colour=SOFT)
            yield text(left - 8, y(seconds) + 4, clock(seconds), colour=SOFT, size=11, anchor="end")
        yield line(left, top, left, bottom, colour=SOFT)
        yield line(left, bottom, right, bottom, colour=SOFT)
        before: int | None = None
        for number, batch in enumerate(batches()):
            x = left + number * step
            yield line(x, top, x, bottom, dash="2 4")
            yield text(x + step / 2, bottom + 18, f"batch {number}", colour=SOFT, size=12, anchor="middle")
            for place, event in enumerate(batch.events):
                yield dot(x + step * (place + 1) / (len(batch.events) + 1), y(event), late=batch.late(event))
            if batch.bound is not None:
                yield line(x, y(batch.bound), x + step, y(batch.bound), colour=INK, width=2)
                if before is not None and before != batch.bound:
                    yield line(x, y(before), x, y(batch.bound), colour=INK, width=2)
            before = batch.bound
        yield text(left, top - 10, "event time", colour=SOFT, size=12)
        yield text(right, bottom + 40, "arrival →", colour=SOFT, size=12, anchor="end")
        foot = bottom + 62
        yield dot(left + 6, foot - 4, late=False) + text(left + 18, foot, "counted in its window", size=12)
        yield dot(left + 186, foot - 4, late=True) + text(left + 198, foot, "late: its window had ended", size=12)
        yield line(left, foot + 18, left + 20, foot + 18, colour=INK, width=2)
        yield text(
            left + 28,
            foot + 22,
            f"the bound by which a batch decides, the watermark of the batch before: of what was seen before that, the newest, less {LAG} s",
            size=12,
        )

    return page(left + step * len(BATCHES) + 100, int(bottom + 100), "Events, windows and the watermark", list(parts()))


def window() -> str:
    """The life of one window on the axis of event time: it fills, stays open for delay and allowed lateness, closes."""
    left, scale, y = 40, 5.2, 120
    lateness = 20

    def x(seconds: float) -> float:
        return left + seconds * scale

    def parts() -> Iterator[str]:
        yield line(left, y, x(120), y, colour=SOFT, width=1.5)
        for seconds in range(0, 121, 10):
            yield line(x(seconds), y - 4, x(seconds), y + 4, colour=SOFT)
            if seconds % 30 == 0:
                yield text(x(seconds), y + 22, clock(seconds), colour=SOFT, size=11, anchor="middle")
        yield box(x(30), y - 56, 30 * scale, 50, stroke=EARLY)
        yield text(x(45), y - 26, "the window", anchor="middle", weight="bold", colour=EARLY)
        for start, length, said in ((60, LAG, f"delay {LAG} s"), (60 + LAG, lateness, f"lateness {lateness} s")):
            yield box(x(start), y - 40, length * scale, 34, fill="#f5f7fa", stroke=LINE)
            yield text(x(start + length / 2), y - 19, said, size=11, anchor="middle", colour=SOFT)
        closes = 60 + LAG + lateness
        yield line(x(closes), y - 66, x(closes), y + 8, colour=LATE, width=2)
        yield text(x(closes) + 6, y - 56, "event of this time seen:", size=12, colour=LATE)
        yield text(x(closes) + 6, y - 40, "the window closes", size=12, colour=LATE)
        yield text(x(45), y + 48, "an event belongs here by its own time,", size=12, anchor="middle", colour=SOFT)
        yield text(x(45), y + 64, "however late it arrives, as long as the window is open", size=12, anchor="middle", colour=SOFT)
        yield text(left, 26, "event time of the newest event seen →", size=12, colour=SOFT)

    return page(700, 200, "When a window closes", list(parts()))


def batch() -> str:
    """The phases of a batch, where a crash can fall, and what the restart finds."""
    phases = (
        ("plan", "offsets fixed", "the same batch", "as it was planned"),
        ("work", "rows computed", "the same batch", "once more"),
        ("stage", "manifest written", "once more, compared", "with the manifest"),
        ("publish", "rows visible", "once more, compared;", "the ledger skips it"),
        ("commit", "batch over", "the next batch", ""),
    )
    width, gap, left, top = 126, 24, 20, 50

    def parts() -> Iterator[str]:
        yield text(left, 26, "the phases of one batch", weight="bold")
        for number, (name, done, *after) in enumerate(phases):
            x = left + number * (width + gap)
            yield box(x, top, width, 54, stroke=EARLY)
            yield text(x + width / 2, top + 24, name, anchor="middle", weight="bold", colour=EARLY)
            yield text(x + width / 2, top + 42, done, anchor="middle", size=11, colour=SOFT)
            cross = x + width + gap / 2
            yield line(cross, top, cross, top + 70, colour=LATE, dash="3 3") + dot(cross, top + 80, late=True)
            for row, said in enumerate(after):
                yield text(cross, top + 106 + 15 * row, said, size=11, anchor="middle")
        yield text(left, top + 152, "A cross is a crash after a phase. Below it: what the next start does.", size=12, colour=SOFT)

    return page(830, 220, "The phases of a batch, and what a start does after a crash in each", list(parts()))
