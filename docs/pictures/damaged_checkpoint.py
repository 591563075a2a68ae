"""A backup, the batches after it, the moment of the damage, and what a restored job does: drawn from the same numbers as it says."""

from collections.abc import Iterator

from shapes import BAND, EARLY, INK, LATE, LINE, SOFT, box, line, page, text

BACKED_UP, NEWEST, AFTER = 3, 6, 7
"""The batch of the backup, the newest batch when the state is torn, and the first one after the restore that is new."""


def damaged_checkpoint() -> str:
    left, step, wide = 150, 76, 64

    def x(batch: int) -> float:
        return left + batch * step

    def row(y: float, said: str, under: str) -> Iterator[str]:
        yield text(left - 16, y + 16, said, anchor="end", weight="bold")
        yield text(left - 16, y + 32, under, anchor="end", size=11, colour=SOFT)

    def batch(number: int, y: float, said: str, *, fill: str, stroke: str = LINE, colour: str = INK) -> Iterator[str]:
        yield box(x(number), y, wide, 38, fill=fill, stroke=stroke)
        yield text(x(number) + wide / 2, y + 16, f"batch {number}", size=12, anchor="middle", colour=colour)
        yield text(x(number) + wide / 2, y + 31, said, size=11, anchor="middle", colour=SOFT)

    def parts() -> Iterator[str]:
        yield text(left, 28, f"the state is torn after batch {NEWEST}; the newest backup is of batch {BACKED_UP}", weight="bold")
        top, second, output, again = 52, 122, 192, 286
        yield from row(top, "checkpoint", "on the first disk")
        for number in range(NEWEST + 1):
            torn = number == NEWEST
            yield from batch(
                number, top, "torn" if torn else "", fill="#fdecea" if torn else "#f5f7fa", stroke=LATE if torn else LINE
            )
        yield line(x(NEWEST) + wide + 6, top - 8, x(NEWEST) + wide + 6, output + 46, colour=LATE, width=2)
        yield text(x(NEWEST) + wide + 12, top + 14, "03:12", size=12, colour=LATE)
        yield from row(second, "backup", "on a second disk")
        yield from batch(BACKED_UP, second, "state", fill=BAND, stroke=EARLY)
        for number in range(BACKED_UP + 1, NEWEST + 1):
            yield from batch(number, second, "its plan", fill="#ffffff", stroke=EARLY)
        yield from row(output, "output", "each with its ledger")
        for number in range(NEWEST + 1):
            yield from batch(number, output, "published", fill="#f5f7fa")
        yield line(left, again - 28, x(AFTER) + wide, again - 28, colour=LINE)
        yield text(left, again - 10, "after the restore, at the next start", weight="bold")
        yield from row(again + 6, "the job", "goes on from 3")
        yield from batch(BACKED_UP, again + 6, "state", fill=BAND, stroke=EARLY)
        for number in range(BACKED_UP + 1, NEWEST + 1):
            yield from batch(number, again + 6, "again", fill="#fdf3d8")
            centre = x(number) + wide / 2
            yield line(centre, output + 40, centre, again + 4, colour=EARLY, dash="3 3")
        yield from batch(AFTER, again + 6, "new", fill="#ffffff")
        yield text(
            left,
            again + 68,
            "the same input as then; the rows are compared with those published, and not published twice",
            size=12,
        )

    return page(
        780, 370, "A torn checkpoint, its backup, and the batches that a restored job does again as they were planned", [*parts()]
    )
