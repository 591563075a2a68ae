"""Tents of a shop over half an hour: what is reserved from when to when, which requests are refused, and how many are free."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samples import judged
from shapes import BAND, EARLY, LATE, LINE, SOFT, box, dot, line, page, text

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
MINUTE, LAG, KEPT = timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=15)
ENDS = {"r-1": "expired", "r-3": "sold", "r-7": "cancelled"}
REFUSED = {"r-2": "2 wanted, 1 free", "r-6": "1 wanted: r-1 can still be confirmed"}


def inventory() -> str:
    left, top, scale, row = 130, 84, 17, 54
    tents = [(event, event["at"] <= bound) for _, event, bound in judged("inventory", LAG) if event["sku"] == "tent"]
    asked = {event["id"]: event for event, _ in tents if event["kind"] == "reserve"}
    ended = {event["id"]: event["at"] for event, late in tents if event["kind"] in ("confirm", "cancel") and not late}
    expires = asked["r-1"]["at"] + KEPT
    released = min(
        event["at"] for _, event, _ in judged("inventory", LAG) if event["at"] - LAG >= expires
    )  # what takes the watermark there
    names = (*ENDS, "refused", "free")
    places = {name: top + number * row for number, name in enumerate(names)}

    def x(at: datetime) -> float:
        return left + (at - NINE) / MINUTE * scale

    def parts() -> Iterator[str]:
        yield text(24, 26, "three tents, by the time of each request; a bar is a reservation", weight="bold")
        foot = top + len(names) * row
        for minutes in range(0, 36, 5):
            at = NINE + minutes * MINUTE
            yield line(x(at), top - 28, x(at), foot - 24, colour=LINE, dash="2 4")
            yield text(x(at), foot - 8, f"{at:%H:%M}", size=11, colour=SOFT, anchor="middle")
        for name, said in ENDS.items():
            begin, end, y = asked[name]["at"], ended.get(name, expires), places[name]
            yield text(24, y + 1, name, weight="bold") + text(24, y + 17, f"{asked[name]['quantity']} wanted", size=11, colour=SOFT)
            if name == "r-1":
                yield box(x(end), y - 11, x(released) - x(end), 22, stroke=EARLY)
                yield text(x(released) + 6, y + 4, "free: the watermark is there", size=11)
            yield box(x(begin), y - 11, x(end) - x(begin), 22, fill=EARLY)
            yield text(x(end) + 6, y + 4, said, size=11)
        for event, late in tents:
            if late:
                yield dot(x(event["at"]), places["r-1"] + 24, late=True)
                yield text(
                    x(event["at"]) + 12, places["r-1"] + 28, "late: of 09:16, read after those of 09:30", size=11, colour=LATE
                )
        yield text(24, places["refused"] + 1, "refused", weight="bold")
        for name, said in REFUSED.items():
            yield f'<circle cx="{x(asked[name]["at"]):g}" cy="{places["refused"]:g}" r="6" fill="#ffffff" stroke="{LATE}" stroke-width="2"/>'
            yield text(x(asked[name]["at"]) + 12, places["refused"] + 4, f"{name}: {said}", size=11)
        yield text(24, places["free"] + 1, "free", weight="bold")
        steps = (
            (NINE, 3),
            (asked["r-1"]["at"], 1),
            (asked["r-3"]["at"], 0),
            (released, 2),
            (asked["r-7"]["at"], 0),
            (ended["r-7"], 2),
        )
        for (begin, free), end in zip(steps, [*(at for at, _ in steps[1:]), NINE + 36 * MINUTE], strict=True):
            y = places["free"] + 14
            yield box(x(begin), y - free * 10, x(end) - x(begin), free * 10, fill=BAND)
            yield line(x(begin), y - free * 10, x(end), y - free * 10, colour=EARLY, width=2)
            yield text((x(begin) + x(end)) / 2, y - free * 10 - 5, str(free), size=11, anchor="middle")

    return page(760, top + len(names) * row + 8, "Reservations of three tents, and how many are free", list(parts()))
