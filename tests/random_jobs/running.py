"""Runs a random job on Spark: its files arrive, it runs to its end, is started again, and what it has left is read."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from random_jobs.jobs import Others, RandomJob
from random_jobs.operators import WEIGHTS
from random_jobs.sample import SCHEMA
from spark.small_job import Binding, SmallJob
from streamproof.config import JobConfig, load
from streamproof.prove.artifacts.reading import OutputLayout, OutputRow, QueryHistory, QueryLayout, read_history
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.watching.result import RunResult

TIMES = ("ts", "ts_right", "newest")
OTHERS = "others"


@dataclass(frozen=True)
class Left:
    """What a random job has left: by query what its checkpoint and outputs hold, its side outputs by kind, the last result; and by output the
    rows of the batch, with its result, where it was computed as one.
    """

    config: JobConfig
    queries: Mapping[str, QueryHistory]
    sides: Mapping[str, Mapping[str, str]]
    result: RunResult
    batch_rows: Mapping[str, tuple[OutputRow, ...]]
    batch: RunResult | None


def ran(job: RandomJob, spark: SparkSession, folder: Path) -> Left:
    """The job in a folder of its own, at each start with more files."""
    binding = Binding(
        schema=SCHEMA,
        event_time=job.event_time,
        sinks=job.formats,
        files_per_batch=job.files_per_batch,
        tables={
            **({"source.others": _source(job.others, job.files_per_batch)} if job.others is not None else {}),
            **({"table.weights": {"connector": "files", "path": "weights"}} if ".lookup(" in job.text else {}),
        },
    )
    small = SmallJob(spark, folder, job.text, binding)
    (folder / "weights").mkdir()
    pq.write_table(pa.table({"who": list(WEIGHTS), "weight": list(WEIGHTS.values())}), folder / "weights/all.parquet")
    lines = iter(job.events.files.values())
    others = iter(job.others.events.files.items() if job.others is not None else ())
    for start, files in enumerate(job.starts):
        for _ in range(files):
            small.feed(next(lines))
            _feed(folder / OTHERS, others)
        if start in job.lost:
            for query in job.chains:
                newest = max(int(path.name) for path in (small.checkpoint(query) / "commits").iterdir() if path.name.isdigit())
                small.lose(f"commits/{newest}", query=query)
        result = small.run()
    config = load(folder)
    bound = bind(config)
    sides = {query: {str(kind): name for kind, name in bound.sides_of(query).items()} for query in job.chains}
    queries = {}
    for query in job.chains:
        kinds = {query: "main", **{name: kind for kind, name in sides[query].items()}}
        outputs = [OutputLayout(name, kind, Path(bound.places[name].path), TIMES) for name, kind in kinds.items()]
        queries[query] = read_history(QueryLayout(query, small.checkpoint(query), tuple(outputs)))
    batch = run_bounded(config, spark=spark, to=str(folder / "once")) if job.bounded else None
    rows = (
        {each.name: read_rows(OutputLayout(each.name, "main", Path(each.where), TIMES)) for each in batch.outputs} if batch else {}
    )
    return Left(config, queries, sides, result, rows, batch)


def _source(others: Others, files_per_batch: int | None) -> Mapping[str, Any]:
    """The configuration of the second source; its columns stand in another order."""
    backwards = ", ".join(reversed(SCHEMA.split(", ")))
    found = {"connector": "files", "path": OTHERS, "format": "json", "schema": backwards, "event_time": others.event_time}
    return found if files_per_batch is None else {**found, "files_per_batch": files_per_batch}


def _feed(folder: Path, files: Iterator[tuple[str, tuple[str, ...]]]) -> None:
    """The next file of the second source, if there is one."""
    for name, lines in islice(files, 1):
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        os.utime(path, (1_700_000_000 + len(list(folder.iterdir())),) * 2)


def read_rows(layout: OutputLayout) -> tuple[OutputRow, ...]:
    """The rows of a folder of files."""
    history = read_history(QueryLayout(layout.name, layout.path / "no checkpoint", (layout,)))
    return history.outputs[layout.name].rows
