"""The business rule of windowed, written once more by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

WINDOW = timedelta(seconds=30)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RATE = 1.25


def fate(trade: dict[str, Any]) -> str:
    """Where a trade must go by itself, whatever the batches do."""
    if trade["notional"] is None or trade["notional"] <= 0:
        return "rejected"
    return "kept" if trade["client"] is not None and trade["client"] != "c1" else "filtered"


def turnover(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum of the trades per client and window, in euros."""
    sums: dict[tuple[str, datetime], float] = {}
    for trade in events:
        start = trade["ts"] - (trade["ts"] - EPOCH) % WINDOW
        sums[trade["client"], start] = sums.get((trade["client"], start), 0.0) + RATE * trade["notional"]
    return [
        {"client": client, "window_start": start, "window_end": start + WINDOW, "turnover": total}
        for (client, start), total in sums.items()
    ]
