"""A minute of 200 searches, most of them fast, and what came after it."""

from datetime import UTC, datetime, timedelta
from random import Random

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


def search(number: int, seconds: float, latency_ms: float, status: int = 200) -> dict[str, object]:
    path, caller = f"/p{number % 4 * number % 7}", f"u{number % 30}"
    at = (NINE + timedelta(seconds=seconds)).isoformat()
    asked = {"request_id": f"r-{number}", "service": "search", "path": path, "caller": caller}
    return {**asked, "latency_ms": latency_ms, "status": status, "at": at}


def minute() -> list[dict[str, object]]:
    """A request each 0.3 seconds; one in forty fails."""
    dice = Random(7)
    return [
        search(number, number * 0.3, round(dice.lognormvariate(4, 0.8), 1), 500 if number % 40 == 0 else 200)
        for number in range(200)
    ]


BATCHES = [
    minute(),
    [
        search(17, 5.1, 20.0),  # sent again: its caller has not heard of the answer
        search(200, 59.0, 1800.0),  # nine seconds older than the next one, and in time
        search(201, 68.0, 35.5),
        search(202, 69.0, -1.0),
    ],
    [search(203, 110.0, 41.2)],
    [search(204, 111.0, 38.9)],
    [search(205, 58.0, 77.0)],  # 53 seconds behind: late
]
