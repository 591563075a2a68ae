"""Ads and purchases of three users over three days, each purchase with the day before it and the ad that it is credited to."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samples import judged
from shapes import BAND, EARLY, INK, LATE, LINE, SOFT, box, dot, line, page, text

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
HOUR, LAG, DAY = timedelta(hours=1), timedelta(minutes=15), timedelta(hours=24)
SHOWN = {
    "b-1": "no ad at all",
    "b-2": "brand",
    "b-3": "brand, the last of two",
    "b-4": "brand is 25 hours old",
    "b-6": "brand, which came after it",
    "b-7": "spring",
    "b-8": "still waits",
}
"""What is said of purchases."""


def ad_attribution() -> str:
    left, top, scale, row = 90, 84, 10.4, 112
    users = ("u1", "u2", "u3")
    found = [(event, event["at"] <= bound) for _, event, bound in judged("ad_attribution", LAG) if event.get("euros", 1) > 0]
    ads = [(event, late) for event, late in found if event["source"] == "impressions"]

    def x(at: datetime) -> float:
        return left + ((at - MONDAY) / HOUR - 6) * scale

    def credited(purchase: dict[str, object]) -> datetime | None:
        """The last ad within the day before it."""
        at = purchase["at"]
        assert isinstance(at, datetime)
        there = [ad["at"] for ad, late in ads if not late and ad["user"] == purchase["user"] and at - DAY <= ad["at"] <= at]
        return max(there, default=None)

    def parts() -> Iterator[str]:
        yield text(
            24, 26, "ads above the line, purchases below it; each purchase is tied to the ad that is credited", weight="bold"
        )
        foot = top + len(users) * row
        for hours in range(6, 61, 6):
            at = MONDAY + hours * HOUR
            yield line(x(at), top - 28, x(at), foot - 44, colour=LINE, dash="2 4")
            yield text(
                x(at), foot - 28, f"{at:%a %H:%M}" if hours % 12 == 0 else f"{at:%H:%M}", size=11, colour=SOFT, anchor="middle"
            )
        for number, user in enumerate(users):
            y = top + number * row
            yield text(24, y + 18, user, weight="bold") + line(left, y + 14, x(MONDAY + 61 * HOUR), y + 14, colour=LINE)
            yield from (
                box(x(event["at"] - DAY), y + 28, x(event["at"]) - x(event["at"] - DAY), 12)
                for event, _ in found
                if event["user"] == user and event.get("purchase") == "b-4"
            )
            for event, _ in found:
                if event["user"] != user or event["source"] != "purchases":
                    continue
                at, ad = event["at"], credited(event)
                if ad is not None:
                    yield line(x(ad), y, x(at), y + 34, colour=EARLY, width=1.5, dash="4 3" if event["purchase"] == "b-8" else "")
                yield f'<circle cx="{x(at):g}" cy="{y + 34:g}" r="6" fill="#ffffff" stroke="{INK}" stroke-width="2"/>'
                yield text(x(at), y + 56, f"{event['purchase']}: {SHOWN[event['purchase']]}", size=11, anchor="middle")
            for ad, late in ads:
                if ad["user"] == user:
                    yield dot(x(ad["at"]), y, late=late)
                    yield text(x(ad["at"]), y - 11, ad["campaign"], size=11, colour=LATE if late else SOFT, anchor="middle")
        yield dot(left, foot + 1, late=False) + text(left + 12, foot + 5, "an ad", size=12)
        yield f'<circle cx="{left + 72}" cy="{foot + 1}" r="6" fill="#ffffff" stroke="{INK}" stroke-width="2"/>'
        yield text(left + 86, foot + 5, "a purchase", size=12)
        yield box(left + 176, foot - 5, 26, 12, fill=BAND) + text(left + 210, foot + 5, "the 24 hours before b-4", size=12)
        yield dot(left + 376, foot + 1, late=True) + text(left + 388, foot + 5, "late", size=12)

    return page(
        760,
        top + len(users) * row + 22,
        "Ads and purchases of three users, and which ad each purchase is credited to",
        list(parts()),
    )
