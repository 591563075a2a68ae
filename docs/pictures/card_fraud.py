"""Payments of cards, with the ten minutes before one of them, and the rule that holds for another."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samples import judged
from shapes import BAND, EARLY, LATE, LINE, SOFT, box, dot, line, page, text

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
MINUTE, LAG = timedelta(minutes=1), timedelta(minutes=1)
SHOWN = {
    "p-5": "far: abroad, 220 euros",
    "p-7": "the third in ten minutes",
    "p-8": "big: 251 euros, 25 are usual",
    "p-10": "two in ten minutes",
}
"""What is said of payments."""
SUSPICIOUS = {"p-5", "p-7", "p-8"}


def card_fraud() -> str:
    left, top, scale, row = 140, 78, 32, 84
    cards = {"c1": "usual 40 euros", "c2": "usual 300 euros", "c3": "usual 25 euros", "c9": "in no table"}

    def x(at: datetime) -> float:
        return left + (at - NINE) / MINUTE * scale

    def parts() -> Iterator[str]:
        yield text(24, 26, "payments by the time at which they were made; a ring is a row of suspicious", weight="bold")
        foot = top + len(cards) * row
        for minutes in range(0, 17, 2):
            at = NINE + minutes * MINUTE
            yield line(x(at), top - 24, x(at), foot - 34, colour=LINE, dash="2 4")
            yield text(x(at), foot - 18, f"{at:%H:%M}", size=11, colour=SOFT, anchor="middle")
        places = {card: top + number * row for number, card in enumerate(cards)}
        for card, said in cards.items():
            yield text(24, places[card] + 1, card, weight="bold") + text(24, places[card] + 17, said, size=11, colour=SOFT)
        third = NINE + 8 * MINUTE
        yield box(x(NINE) - 8, places["c1"] - 13, x(third) - x(NINE) + 16, 26)
        for _, event, bound in judged("card_fraud", LAG):
            if event["euros"] <= 0:
                continue
            y, late = places[event["card"]], event["at"] <= bound
            yield dot(x(event["at"]), y, late=late)
            if event["payment"] in SUSPICIOUS:
                yield f'<circle cx="{x(event["at"]):g}" cy="{y:g}" r="9" fill="none" stroke="{LATE}" stroke-width="2"/>'
            if event["payment"] in SHOWN:
                yield text(
                    x(event["at"]),
                    y + (26 if event["payment"] == "p-8" else -20),
                    SHOWN[event["payment"]],
                    size=11,
                    anchor="middle",
                )
        yield line(left - 8, foot - 34, x(NINE + 17 * MINUTE), foot - 34, colour=SOFT, width=1.5)
        yield box(left - 86, foot + 2, 26, 16, fill=BAND, stroke=EARLY) + text(
            left - 52, foot + 15, "the ten minutes before a payment", size=12
        )
        yield dot(left + 226, foot + 11, late=True) + text(left + 238, foot + 15, "late: more than a minute behind", size=12)

    return page(760, top + len(cards) * row + 36, "Payments of four cards, three of them suspicious", list(parts()))
