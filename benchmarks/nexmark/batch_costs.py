"""Where the time of a batch goes, by Spark's own account: medians of both sides of a query, with few events and with many."""

import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.nexmark.measuring import input_of, session
from benchmarks.nexmark.query import Query
from benchmarks.nexmark.running import by_hand, ours
from benchmarks.time_per_event import seconds_of_batches

RUNS = 4
"""Of each side, in turns, after a first one that is left aside."""
FEW, MANY = 400_000, 4_000_000
SHOWN = ("queryPlanning", "addBatch", "triggerExecution")


def costs_of(query: Query, base: Path) -> Iterator[tuple[int, str, Mapping[str, int]]]:
    """For few events and for many, for each side: milliseconds of a batch that has read something, by Spark's name of the phase."""
    spark = session()
    for events in (FEW, MANY):
        source = input_of(spark, base, events)
        seen: dict[str, list[Mapping[str, int]]] = {"ours": [], "by hand": []}
        sides = {
            side: run(spark, source, query, looked=_keeping(seen[side])) for side, run in (("ours", ours), ("by hand", by_hand))
        }
        for turn in range(RUNS + 1):
            for side, run in sides.items():
                with tempfile.TemporaryDirectory(dir=base) as folder:
                    run(Path(folder))
                if not turn:
                    seen[side].clear()
        for side, batches in seen.items():
            yield events, side, {phase: round(statistics.median(batch.get(phase, 0) for batch in batches)) for phase in SHOWN}


def _keeping(batches: list[Mapping[str, int]]):
    def looked(query: StreamingQuery, wanted: int) -> float:
        batches.extend(batch["durationMs"] for batch in query.recentProgress if batch["numInputRows"])
        return seconds_of_batches(query, wanted)

    return looked
