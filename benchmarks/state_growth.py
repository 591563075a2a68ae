"""How long a batch takes with 10,000 and 1,000,000 keys in its state, at the same number of rows in each batch.

    python -m benchmarks.state_growth
    python -m benchmarks.state_growth deduplicate keyed --keys 10000 100000

Each size is a job of its own. Its first batch fills the state; each of those that are measured brings as many rows as the others do. Of `window` these
change windows that stay open. Of the others each is a new key, and as many old ones leave: how long a key stays follows from the size. The time
is that of a whole micro-batch by Spark's own account, the median of those after the first. Beside it stands, where Spark has the
operator, the same written by hand: Spark looks at all of its state in every batch. Ours does so in the first batch of a run, and then seldom, except
in joins (`WindowStateStoreProvider`).
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.time_per_event import SETTINGS
from streamproof.config import load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

KEYS = (10_000, 1_000_000)
ROWS = 5_000
"""Of each measured batch."""
BATCHES, ASIDE = 12, 3
"""Batches after the first, and how many of them are left aside."""
STEP_MS = 10
"""From a row to the next, where keys leave."""
LIMIT = 1.3
_SCHEMA = "client string, v double, ts long"
_START_MS = 1_767_603_600_000
_TIME = 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }'


@dataclass(frozen=True)
class Case:
    """A job of one operator, `{stay}` being how long a key stays; and the same written by hand, given the rows with their watermark."""

    call: str
    by_hand: Callable[[Mapping[str, DataFrame], str], DataFrame] | None = None
    streams: tuple[str, ...] = ("rows",)
    leave: bool = True


def _window(streams: Mapping[str, DataFrame], _: str) -> DataFrame:
    return streams["rows"].groupBy(F.window("ts", "1 day"), "client").agg(F.sum("v").alias("total"), F.count("*").alias("n"))


def _join(streams: Mapping[str, DataFrame], stay: str) -> DataFrame:
    one, other = streams["rows"].alias("a"), streams["others"].alias("b")
    return one.join(other, F.expr(f"a.client = b.client AND b.ts >= a.ts AND b.ts <= a.ts + INTERVAL {stay}"), "inner").select(
        "a.client", F.col("a.ts"), F.col("b.v")
    )


CASES: Mapping[str, Case] = {
    "window": Case(
        'rows.window(sp.tumbling("1 day"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))', _window, leave=False
    ),
    "deduplicate": Case(
        'rows.deduplicate("client", within="{stay}")', lambda streams, _: streams["rows"].dropDuplicatesWithinWatermark(["client"])
    ),
    "latest": Case('rows.latest("client", order_by="v", within="{stay}")'),
    "keyed": Case(
        'rows.keyed("client", state={{"n": "0L"}}, on_row=sp.step(set={{"n": "n + 1"}}, emit=sp.emit("client", "n")), ttl="{stay}")'
    ),
    "join": Case('rows.join(others, on="client", between=("0 seconds", "{stay}"))', _join, streams=("rows", "others")),
}


def written(spark: SparkSession, folder: Path, case: Case, keys: int) -> None:
    """A file for each batch of each stream. A row of the second stream meets the one of the first that came half of all keys before."""
    step = max(1, keys // ROWS)
    for stream in case.streams:
        for batch in range(BATCHES + 1):
            begin, rows = (0, keys) if batch == 0 else (keys + (batch - 1) * ROWS, ROWS)
            ids = spark.range(begin, begin + (rows if stream == "rows" or batch else 1))
            at: Column = F.col("id") * STEP_MS
            client: Column = F.col("id") if stream == "rows" else F.col("id") - keys // 2
            if not case.leave:
                ids = ids if batch == 0 else spark.range(batch % step, keys, step).limit(ROWS)
                at = F.lit(batch * 1_000) + F.pmod(F.col("id"), F.lit(1_000))
            made = folder / f".{stream}-{batch:03d}"
            ids.select(
                F.format_string("c%08d", client).alias("client"),
                (F.pmod(F.hash("id", F.lit(batch)), F.lit(500_000)) / 100 + 1).alias("v"),
                (F.lit(_START_MS) + at).cast("long").alias("ts"),
            ).coalesce(1).write.parquet(str(made))
            (part,) = made.glob("*.parquet")
            (folder / stream).mkdir(exist_ok=True)
            part.rename(folder / stream / f"{batch:03d}.parquet")


def ours(spark: SparkSession, case: Case, stay: str, data: Path, folder: Path) -> StreamingQuery:
    taken = ", ".join(f"{stream}: sp.Stream" for stream in case.streams)
    (folder / "job.py").write_text(
        "from pyspark.sql import functions as F\n\nimport streamproof as sp\n\n\n@sp.job\n"
        f"def growth({taken}) -> sp.Outputs:\n    return sp.Outputs(out={case.call.format(stay=stay)})\n"
    )
    lines = ['[job]\nentry = "job.py:growth"\ncheckpoint = "checkpoint"']
    for stream in case.streams:
        lines.append(f'[source.{stream}]\nconnector = "files"\npath = "{data / stream}"\nformat = "parquet"\nschema = "{_SCHEMA}"')
        lines.append(f"files_per_batch = 1\n{_TIME}")
    lines.append('[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"')
    (folder / "streamproof.toml").write_text("\n".join(lines) + "\n")
    running = start_query(bind(load(folder)), "out", spark.newSession(), Start())
    running.wait()
    return running.stream


def by_hand(spark: SparkSession, case: Case, stay: str, data: Path, folder: Path) -> StreamingQuery:
    assert case.by_hand is not None
    # A key that is deduplicated stays as long as the watermark is late.
    late = stay if case.leave and len(case.streams) == 1 else "10 seconds"
    streams = {
        name: spark.readStream.schema(_SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(data / name))
        .withColumn("ts", F.timestamp_millis("ts"))
        .withWatermark("ts", late)
        for name in case.streams
    }
    writer = case.by_hand(streams, stay).writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def milliseconds(query: StreamingQuery, rows: int) -> float:
    """What a measured batch takes, the median."""
    batches = [batch for batch in query.recentProgress if batch["numInputRows"] == rows]
    assert len(batches) >= BATCHES, f"{len(batches)} batches have {rows} rows"
    return float(statistics.median(batch["durationMs"]["triggerExecution"] for batch in batches[-BATCHES:][ASIDE:]))


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.state_growth", description=__doc__)
    asked.add_argument("cases", nargs="*", help=f"some of {', '.join(CASES)}")
    asked.add_argument("--keys", type=int, nargs="+", default=list(KEYS))
    asked.add_argument("--alone", action="store_true", help="without what is written by hand")
    wanted = asked.parse_args()
    if unknown := {*wanted.cases} - {*CASES}:
        asked.error(f"there is no {', '.join(unknown)}")
    spark = start_session("benchmark", SETTINGS, proof=True)
    spark.sparkContext.setLogLevel("OFF")
    for name in wanted.cases or CASES:
        case = CASES[name]
        sides = {"ours": ours, **({"by hand": by_hand} if case.by_hand and not wanted.alone else {})}
        found: dict[str, list[float]] = {side: [] for side in sides}
        for keys in [wanted.keys[0], *wanted.keys]:  # the first one is left aside: Java is cold
            with tempfile.TemporaryDirectory() as base:
                data = Path(base, "data")
                data.mkdir()
                written(spark, data, case, keys)
                for side, run in sides.items():
                    folder = Path(base, side.replace(" ", "-"))
                    folder.mkdir()
                    query = run(spark, case, f"{keys * STEP_MS // 1_000} seconds", data, folder)
                    found[side].append(milliseconds(query, ROWS * len(case.streams)))
        for side, times in found.items():
            told = ", ".join(f"{keys:,}: {time:.0f} ms" for keys, time in zip(wanted.keys, times[1:], strict=True))
            limit = f" (at most {LIMIT})" if side == "ours" else ""
            print(f"{name:12}{side:8} {told}; {times[-1] / times[1]:.2f} times{limit}", flush=True)


if __name__ == "__main__":
    main()
