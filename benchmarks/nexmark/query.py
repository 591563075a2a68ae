"""What a query of Nexmark is: a job of ours and hand-written PySpark that does the same work, over the same columns."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks.nexmark.generator import FIELDS
from streamproof.stream.job import Job

LAG = "4 seconds"
"""How far the watermark stays behind, as in the public DDL for Flink."""
SLOW, FAST = 1_000_000, 4_000_000
"""Events per run: with state, and without."""


@dataclass(frozen=True)
class Query:
    """A query of Nexmark on both sides.

    Parameters
    ----------
    asks
        What it asks, in a sentence.
    reads
        By source the columns that it reads; both sides read the same ones.
    job
        With Streamproof.
    by_hand
        By hand: from DataFrames, named as the sources and tables, to the rows.
    differs
        What is another than in the public query; empty where nothing is.
    timed
        Whether it goes by event time. A query that does not declares none, on either side.
    tables
        The tables that it looks rows up in.
    events
        How many are generated to measure it.
    """

    name: str
    asks: str
    reads: Mapping[str, Sequence[str]]
    job: Job
    by_hand: Callable[..., DataFrame]
    differs: str = ""
    timed: bool = True
    tables: Sequence[str] = ()
    events: int = SLOW

    @property
    def file(self) -> Path:
        """Where the job is written."""
        return Path(inspect.getfile(self.job.function))

    def schema(self, source: str) -> str:
        """The columns that it reads of a source, as Spark writes them in DDL."""
        return ", ".join(f"{name} {FIELDS[source][name]}" for name in self.reads[source])


@dataclass(frozen=True)
class NotSaid:
    """A query of Nexmark that no job of ours can say, and why."""

    name: str
    asks: str
    reason: str
