"""The business rule once more, by hand: points per member and day, from all purchases that count."""

from collections import defaultdict
from datetime import datetime, time
from math import floor
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")


def points(purchases):
    """The last word of each day: one row per member and day."""
    days = defaultdict(list)
    for purchase in purchases:
        day = purchase["at"].astimezone(BERLIN).date()
        days[purchase["member"], datetime.combine(day, time(), BERLIN)].append(floor(purchase["euros"]))
    for (member, start), found in days.items():
        yield {"member": member, "window_start": start, "points": sum(found), "purchases": len(found)}
