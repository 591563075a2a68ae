"""Forty lines of orders in each batch, half of which the batch before had too."""

from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def order(number: int) -> dict[str, str]:
    """A line of an order; no two columns hold the same."""
    parts = {name: f"{name}-{number % size}" for name, size in (("shop", 3), ("till", 4), ("line", 5), ("item", 7))}
    return {
        **parts,
        "day": f"day-{number // 30}",
        "receipt": f"receipt-{number}",
        "at": (BEGIN + timedelta(seconds=number)).isoformat(),
    }


BATCHES = [[order(number) for number in range(first, first + 40)] for first in (0, 20, 40, 60)]
