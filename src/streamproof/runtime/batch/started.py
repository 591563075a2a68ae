"""A query as one start of the driver works on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from streamproof.runtime.binding.sinks import QuerySinks
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.watching.events import QueryEvents
from streamproof.stream.identity import MadeBy
from streamproof.stream.node import Node


@dataclass(frozen=True)
class Identity:
    """Who runs: job, query, incarnation of the checkpoint, and this start of the driver; what it reads, by name the ids of topics; what its
    state is made by.
    """

    job: str
    query: str
    incarnation: str
    run: str
    spark_name: str
    topics: Mapping[str, str] = field(default_factory=dict)
    made_by: MadeBy = field(default_factory=dict)


@dataclass(frozen=True)
class StartedQuery:
    """What every part of the protocol of one query stands on.

    Parameters
    ----------
    identity
        Who runs.
    root
        What it runs.
    spark
        A session of its own.
    sinks
        Where it writes.
    journal
        What is written down about it.
    events
        Where it says what happens.
    whole_files
        By source the format of its files, where an empty one is no whole one, such as "parquet".
    """

    identity: Identity
    root: Node
    spark: SparkSession
    sinks: QuerySinks
    journal: Journal
    events: QueryEvents
    whole_files: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.identity.query
