"""The jobs of a soak: what each is, how a batch of it is fed, and how many it has committed."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from streamproof.cli.main import app

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
EVERY_BATCH = timedelta(seconds=20)
"""So much event time passes in a batch: two batches fill a window of 30 seconds, and none waits long."""
CLIENTS = 8
SETTINGS = {"spark.sql.streaming.fileSource.log.cleanupDelay": "1min"}
"""Spark keeps each file of this log for ten minutes, in which a run of an hour has not settled."""
SHORT_MEMORY = {
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "1s",
}
"""For short runs: by default Spark keeps a hundred batches, and looks every minute for what is older."""
FEW_PARTITIONS = {"spark.sql.shuffle.partitions": "4"}
"""Of plain Spark's two hundred, each with a store of its state, a batch takes many seconds on two cores."""
JOBS = {
    "corrections": """
    sums = events.window(sp.tumbling("30 seconds"), by="client", emit="corrections", allowed_lateness="2 minutes").aggregate(
        total=F.sum("notional")
    )
    return sp.Outputs(rows=sums, late=sums.late)""",
    "sessions": """
    sums = events.window(sp.session("30 seconds"), by="client").aggregate(total=F.sum("notional"))
    return sp.Outputs(rows=sums, late=sums.late)""",
    "deduplication": """
    once = events.deduplicate("trade_id", within="2 minutes")
    return sp.Outputs(rows=once, late=once.late)""",
}
HEADER = (
    "from pyspark.sql import functions as F\n\nimport streamproof as sp\n\n\n@sp.job\ndef soaked(events: sp.Stream) -> sp.Outputs:"
)
SOURCE = """[job]
entry = "job.py:soaked"
checkpoint = "checkpoint"
trigger = "100 milliseconds"
[source.events]
format = "json"
schema = "trade_id string, client string, notional double, ts long"
event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }
"""
"""Where it is, and the sinks `rows` and `late`, come behind it."""
FILES = """connector = "files"
path = "data"
files_per_batch = 1
[sink.rows]
connector = "files"
path = "out/rows"
format = "parquet"
[sink.late]
connector = "files"
path = "out/late"
format = "json"
"""
PLAIN = '''"""A job of plain PySpark: windows into Parquet, as Spark alone does it, watched by one line."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import streamproof as sp

home = Path(sys.argv[1])
spark = SparkSession.builder.master("local[2]").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sp.watch(spark, metrics=0)
rows = (
    spark.readStream.schema("trade_id string, client string, notional double, ts long")
    .option("maxFilesPerTrigger", 1)
    .json(str(home / "data"))
    .withColumn("at", F.timestamp_millis("ts"))
    .withWatermark("at", "10 seconds")
)
sums = rows.groupBy(F.window("at", "30 seconds"), "client").agg(F.sum("notional").alias("total"))
writing = sums.writeStream.format("parquet").option("path", str(home / "out/rows")).option("checkpointLocation", str(home / "checkpoint"))
writing.trigger(processingTime="100 milliseconds").start().awaitTermination()
'''


@dataclass(frozen=True)
class Kind:
    """A job that is soaked.

    Parameters
    ----------
    write
        Makes it in a folder, with these settings of Spark.
    command
        What runs it, given its folder.
    query, data
        Where its query's checkpoint and its input lie below its folder.
    """

    name: str
    write: Callable[[Path, Mapping[str, str]], None]
    command: Callable[[Path], Sequence[str]]
    query: str
    data: str = "data"

    def around(self, folder: Path) -> AbstractContextManager[Mapping[str, str]]:
        """What the job needs beside it: started, with the variables of its environment that say where it is; stopped at the end."""
        return nullcontext({})

    def feed(self, folder: Path, batch: int, given: Mapping[str, str]) -> None:
        """What one batch is to read: a file."""
        hidden = folder / self.data / f".{batch:08d}.json"
        hidden.write_text("".join(f"{json.dumps(row)}\n" for row in trades(batch)))
        hidden.rename(hidden.with_name(hidden.name.removeprefix(".")))

    def committed(self, folder: Path) -> int:
        """How many batches it has committed: the newest of Spark's log of commits, and one."""
        return newest(folder / self.query / "commits") + 1

    def read(self, folder: Path) -> int:
        """How many of what it was fed its batches have read, or are to read."""
        return newest(folder / self.query / "sources/0") + 1


def newest(log: Path) -> int:
    """The greatest number in a log of Spark's, whose files are named `7` or `9.compact`; -1 of an empty one."""
    return max((int(name.name.partition(".")[0]) for name in log.glob("[0-9]*")), default=-1)


def trades(batch: int) -> list[dict[str, Any]]:
    """A trade of each client, one twice, one that is late."""
    at = START + batch * EVERY_BATCH
    rows = [_trade(f"t{batch}-{client}", client, at) for client in range(CLIENTS)]
    return [*rows, rows[0], _trade(f"late{batch}", 0, at - timedelta(hours=1))]


def _trade(identity: str, client: int, at: datetime) -> dict[str, Any]:
    return {"trade_id": identity, "client": f"c{client}", "notional": 10.0 + client, "ts": int(at.timestamp() * 1_000)}


def write_init(folder: Path, settings: Mapping[str, str]) -> None:
    """The job of `streamproof init`, with an interval for a trigger, and its sample taken away."""
    made = CliRunner().invoke(app, ["init", str(folder)])
    if made.exit_code != 0:
        raise RuntimeError(made.output)
    bound = folder / "streamproof.toml"
    bound.write_text(re.sub(r"trigger = .*", 'trigger = "100 milliseconds"', bound.read_text()) + settings_of(settings))
    for sample in (folder / "data/trades").glob("*"):
        sample.unlink()


def ours(text: str) -> Callable[[Path, Mapping[str, str]], None]:
    def write(folder: Path, settings: Mapping[str, str]) -> None:
        (folder / "data").mkdir(parents=True)
        (folder / "job.py").write_text(f"{HEADER}{text}\n")
        (folder / "streamproof.toml").write_text(SOURCE + FILES + settings_of(settings))

    return write


def settings_of(settings: Mapping[str, str]) -> str:
    return "\n[spark]\n" + "".join(f'"{key}" = "{value}"\n' for key, value in settings.items())


def write_plain(folder: Path, settings: Mapping[str, str]) -> None:
    (folder / "data").mkdir(parents=True)
    given = "".join(f'.config("{key}", "{value}")' for key, value in {**FEW_PARTITIONS, **settings}.items())
    (folder / "plain.py").write_text(PLAIN.replace(".getOrCreate()", f"{given}.getOrCreate()"))


def run(folder: Path) -> Sequence[str]:
    return [sys.executable, "-m", "streamproof", "run", str(folder), "--events"]
