"""How long the model in plain Python takes for 10,000 events of each operator, pushed by `sp.OperatorTest` in ten batches: seconds of CPU.

    python -m benchmarks.twins

A test of an operator, and each scenario of a proof, waits for it. No Spark is started.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import streamproof as sp

EVENTS, BATCHES, LIMIT = 10_000, 10, 2.0
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "require, filter": lambda rows: rows.require(v="v >= 0").filter("v <> 7", name="sevens"),
    "deduplicate": lambda rows: rows.deduplicate("id", within="10 minutes"),
    "deduplicate by order": lambda rows: rows.deduplicate("key", within="10 minutes", order_by="v"),
    "latest": lambda rows: rows.latest("key", order_by="v", within="10 minutes"),
    "tumbling window": lambda rows: rows.window(sp.tumbling("1 minute"), by="key").aggregate(n=1),
    "hopping window": lambda rows: rows.window(sp.hopping("5 minutes", every="1 minute"), by="key").aggregate(n=1),
    "session": lambda rows: rows.window(sp.session("30 seconds"), by="key").aggregate(n=1),
    "lookup": lambda rows: rows.lookup("weights", on="key"),
    "join": lambda rows, others: rows.join(others, on="key", between=("-10 seconds", "30 seconds")),
    "keyed": lambda rows: rows.keyed(
        "key",
        state={"n": "0L", "recent": sp.list_of("timestamp", at_most=5)},
        on_row=sp.step(
            set={"n": "n + 1", "recent": "array_append(filter(recent, at -> at > ts - INTERVAL 1 MINUTE), ts)"},
            emit=sp.emit("key", "n", "size(recent) AS near", when="n > 1"),
        ),
        ttl="10 minutes",
    ),
}


def rows_of(batch: int, *, stream: int = 0) -> list[dict[str, Any]]:
    """The rows of a batch: event times rise by a tenth of a second, a hundred keys, each id of two rows."""
    size = EVENTS // BATCHES
    numbers = range(batch * size, (batch + 1) * size)
    return [
        {"id": f"{stream}-{n // 2}", "key": f"k{n * 7 % 100}", "v": n % 11, "ts": _BEGIN + timedelta(seconds=n / 10)}
        for n in numbers
    ]


def seconds(name: str) -> float:
    """What the batches of an operator take."""
    test = sp.OperatorTest(OPERATORS[name], event_time="ts", lag="10 seconds")
    test.table("weights", [{"key": f"k{n}", "weight": n} for n in range(90)])
    if name == "join":
        batches = [{"rows": rows_of(batch)[::2], "others": rows_of(batch, stream=1)[::2]} for batch in range(BATCHES)]
    else:
        batches = [{"rows": rows_of(batch)} for batch in range(BATCHES)]
    began = process_time()
    for of_streams in batches:
        test.push(**of_streams)
    return process_time() - began


def main() -> None:
    for name in OPERATORS:
        print(f"{name:24}{seconds(name):6.2f} s for {EVENTS:,} events (at most {LIMIT:g})", flush=True)


if __name__ == "__main__":
    main()
