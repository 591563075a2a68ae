"""Sixty prices in each batch: versions go up and down, some rows come again, and some instruments are quiet until they are forgotten."""

from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def price(number: int) -> dict[str, object]:
    """A price; every ninth is far behind, and of every eleventh the version is not known."""
    behind = 90 if number % 9 == 8 else 0
    return {
        "instrument": f"i-{number // 30}" if number % 5 == 0 else f"i-{number % 7}",
        "market": f"m-{number % 2}",
        "version": None if number % 11 == 10 else f"{number * 37 % 101 / 4:.2f}",
        "price": number * 3 % 17 + 0.5,
        "at": (BEGIN + timedelta(seconds=4 * number - behind)).isoformat(),
    }


BATCHES = [[price(number) for number in range(first, first + 60)] for first in (0, 50, 100, 150)]
