"""The business rule of risk_exposure, written once more by hand: which trades count, and each client's exposure in every 30 seconds."""

from datetime import UTC, datetime, timedelta
from typing import Any

WINDOW = timedelta(seconds=30)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def fate(trade: dict[str, Any]) -> str:
    """Where one trade must go: "kept", "rejected" or "filtered". It is asked about every trade that can be read; lateness and copies are not its business."""
    return "kept" if trade["notional"] is not None and trade["notional"] > 0 else "rejected"


def exposure(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum and count of the trades per client and window.

    Takes trades as dicts with client (str), notional (float) and ts (datetime in UTC); gives rows with client, window_start,
    window_end, exposure and trades.
    """
    sums: dict[tuple[str, datetime], tuple[float, int]] = {}
    for trade in events:
        start = trade["ts"] - (trade["ts"] - EPOCH) % WINDOW
        total, count = sums.get((trade["client"], start), (0.0, 0))
        sums[trade["client"], start] = (total + trade["notional"], count + 1)
    return [
        {"client": client, "window_start": start, "window_end": start + WINDOW, "exposure": total, "trades": count}
        for (client, start), (total, count) in sums.items()
    ]
