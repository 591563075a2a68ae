"""The weights of a user's categories over a day: each action adds to one, and all of them lose half of themselves in six hours."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samples import EXAMPLES, judged
from shapes import EARLY, INK, LATE, LINE, SOFT, dot, line, page, text

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
HOUR, LAG, HALF_LIFE = timedelta(hours=1), timedelta(minutes=5), timedelta(hours=6)
POINTS = {"view": 1.0, "cart": 3.0, "buy": 5.0}
COLOURS = {"books": EARLY, "outdoor": INK}
SAID = {"a-1": "views a tent", "a-4": "views a novel", "a-8": "buys an atlas", "a-10": "views a tent", "a-12": "views a tent"}


def recommendations() -> str:
    left, foot, scale, height = 60, 300, 25, 38
    with (EXAMPLES / "recommendations" / "tables" / "items" / "items.csv").open(encoding="utf-8") as table:
        categories = {row["item"]: row["category"] for row in csv.DictReader(table)}
    actions = [(event, event["at"] <= bound) for _, event, bound in judged("recommendations", LAG) if event["user"] == "u1"]

    def x(at: datetime) -> float:
        return left + (at - NINE) / HOUR * scale

    def y(weight: float) -> float:
        return foot - weight * height

    def weight(category: str, at: datetime) -> float:
        """By the definition: of each action what its age has left."""
        return sum(
            POINTS[event["kind"]] * 0.5 ** ((at - event["at"]) / HALF_LIFE)
            for event, late in actions
            if not late and categories[event["item"]] == category and event["at"] <= at
        )

    def parts() -> Iterator[str]:
        yield text(24, 26, "what u1 is interested in: each weight loses half of itself in six hours", weight="bold")
        for points in range(7):
            yield line(left, y(points), x(NINE + 25 * HOUR), y(points), colour=LINE, dash="2 4")
            yield text(left - 12, y(points) + 4, str(points), size=11, colour=SOFT, anchor="end")
        for hours in range(0, 25, 6):
            at = NINE + hours * HOUR
            yield text(x(at), foot + 20, f"{at:%a %H:%M}", size=11, colour=SOFT, anchor="middle")
        for category, colour in COLOURS.items():
            minutes = (NINE + timedelta(minutes=number) for number in range(0, 25 * 60, 2))
            points = " ".join(f"{x(at):.1f},{y(weight(category, at)):.1f}" for at in minutes)
            yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
            end = NINE + 25 * HOUR
            yield text(
                x(end) + 6, y(weight(category, end)) + (10 if category == "outdoor" else -2), category, colour=colour, weight="bold"
            )
        for event, late in actions:
            at = event["at"]
            if late:
                yield dot(x(at), y(0), late=True)
                yield text(x(at), y(0) - 10, "late", size=11, colour=LATE, anchor="middle")
                continue
            reached = y(weight(categories[event["item"]], at))
            yield dot(x(at), reached, late=False)
            if event["action"] == "a-10":
                yield text(x(at) + 10, reached - 6, f"{SAID['a-10']}, read after the atlas", size=11)
            elif event["action"] == "a-12":
                yield text(x(at) - 10, reached - 2, SAID["a-12"], size=11, anchor="end")
            else:
                yield text(
                    x(at) + (8 if at == NINE else 0),
                    reached - 12,
                    SAID[event["action"]],
                    size=11,
                    anchor="start" if at == NINE else "middle",
                )

    return page(760, foot + 36, "The weights of two categories of a user over a day", list(parts()))
