"""First step of a start: do settings, checkpoint, outputs and source belong together (R1, R21, R27). It changes no batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.errors import StreamproofError
from streamproof.runtime.binding.bound import BoundQuery
from streamproof.runtime.binding.sinks import QuerySinks, sinks_of
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.recovery import ownership
from streamproof.runtime.recovery.replayable import advise, of_query
from streamproof.runtime.recovery.spark_versions import require_readable
from streamproof.runtime.spark.session import STATE_STORES, give_settings, settings_of_query, state_stores
from streamproof.runtime.spark.settings import guard
from streamproof.runtime.start.options import Start
from streamproof.runtime.watching.events import QueryEvents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


COMPACT_INTERVAL = "spark.sql.streaming.fileSource.log.compactInterval"


@dataclass(frozen=True)
class Validated:
    """A query that may start.

    Parameters
    ----------
    spark
        A session of its own, with the settings that the guarantees stand on.
    journal
        What is written down in its checkpoint.
    incarnation
        The life of its checkpoint (R1).
    sinks
        Where it writes.
    topics
        By name the ids of the topics that it reads.
    """

    query: BoundQuery
    start: Start
    spark: "SparkSession"
    journal: Journal
    incarnation: str
    sinks: QuerySinks
    topics: Mapping[str, str]
    events: QueryEvents

    def advise(self, problem: StreamproofError) -> None:
        """Takes the advice --replay-last back where that cannot help, or has not; the error says then what does."""
        look = partial(of_query, self.journal, self.sinks.by_name, self.spark)
        advise(problem, look, tried=self.start.replay_last)


def validate(query: BoundQuery, spark: "SparkSession", start: Start) -> Validated:
    """Looks at everything that a query touches, and gives the session its settings.

    Raises
    ------
    StreamproofError
        If a setting of the process takes a guarantee away, or checkpoint, outputs and source do not belong together.
    """
    events = QueryEvents(query.name, start.emitter)
    events.note(*guard(spark, query.config.spark))
    stores = state_stores(real_time=query.config.trigger.real_time)
    settings = settings_of_query(query.config.spark, stores, holds_rows=query.root.holds_rows)
    give_settings(spark, {**settings, **query.root.settings})
    storage = _jvm.Storage(spark)
    manifests = ManifestStore(storage, query.checkpoint)
    incarnation = manifests.incarnation(query.job, query.name)
    sinks = sinks_of(query, spark, storage, incarnation, start.steps)
    logs = QueryLogs(storage, query.checkpoint, compact_interval=int(spark.conf.get(COMPACT_INTERVAL, "10") or 10))
    stores, knows = settings[STATE_STORES], spark.conf.isModifiable
    events.note(*require_readable(manifests, logs, spark.version, stores=stores, knows=knows))
    topics = ownership.require_together(query, manifests, incarnation, sinks.by_name, spark, start.accept_topics)
    return Validated(
        query=query,
        start=start,
        spark=spark,
        journal=Journal(storage, manifests, logs),
        incarnation=incarnation,
        sinks=sinks,
        topics=topics,
        events=events,
    )
