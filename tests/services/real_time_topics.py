"""A job with the real-time trigger, from one topic to another."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from services.topics import made, received, sent
from spark.small_job import Binding, SmallJob, event
from streamproof.config import models
from streamproof.lab import KafkaCluster
from streamproof.runtime.watching.events import BatchCommitted, Listener, RunEvent
from streamproof.runtime.watching.result import RunResult

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").filter("client != 'x'", name="test clients")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
SENT = [event("a", 0), event("bad", 1, v=-1), event("x", 2, client="x"), b"no JSON", event("b", 3)]


_PATIENCE_SECONDS = 60
"""So long a run may take: one that does not read what it should would go on for ever."""


class Topics:
    """A job from one topic to another."""

    def __init__(self, kafka: KafkaCluster, small_job: Callable[..., SmallJob], *, partitions: int = 2, **rejected: str) -> None:
        self.servers, self.read, self.written = kafka.url, made(kafka.url, partitions=partitions), made(kafka.url)
        at = {"connector": "kafka", "servers": kafka.url}
        tables: dict[str, dict[str, Any]] = {
            "source.events": {**at, "topic": self.read},
            "sink.kept": {**at, "topic": self.written, "guarantee": "at-least-once", "key": "client"},
        }
        if rejected:
            tables["sink.rejected"] = {**at, **rejected}
        sinks = {} if rejected else {"rejected": "json"}
        short = {"spark.sql.streaming.realTimeMode.minBatchDuration": "1000"}
        self.job = small_job(JOB, Binding(sinks=sinks, tables=tables, trigger="real-time 1 second", spark=short))

    def send(self, *values: Any) -> None:
        sent(self.servers, self.read, values)

    def bind(self, **changes: Any) -> None:
        """Changes what streamproof.toml says."""
        self.job.binding = Binding(**{**vars(self.job.binding), **changes})
        self.job.write()

    def run(self, records: int, listener: Listener | None = None, **options: Any) -> RunResult:
        """Runs until batches that are accounted for have read so many records."""
        end, read = threading.Event(), Counter[str]()

        def listen(happened: RunEvent) -> None:
            if isinstance(happened, BatchCommitted):
                read.update(happened.counts)
                if read["input"] >= records:
                    end.set()

        alarm = threading.Timer(_PATIENCE_SECONDS, end.set)
        alarm.start()
        try:
            result = self.job.run(end=end, listener=[listen, *filter(None, [listener])], **options)
        finally:
            alarm.cancel()
        assert read["input"] >= records, f"{read['input']} of {records} records are accounted for after {_PATIENCE_SECONDS} seconds"
        return result

    @property
    def kept(self) -> list[str]:
        """The ids in the topic that it writes, copies too."""
        return sorted(json.loads(message.value())["id"] for message in received(self.servers, self.written))

    @property
    def rejected(self) -> list[str]:
        return sorted(str(row["reason"]) for row in self.job.rows("rejected"))


@pytest.fixture
def short_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a second, so that a test takes some: jobs may have none below five, as Spark has it."""
    monkeypatch.setattr(models, "_SHORTEST_REAL_TIME_BATCH", timedelta(seconds=1))


@pytest.fixture
def topics(kafka: KafkaCluster, small_job: Callable[..., SmallJob], short_batches: None) -> Topics:
    return Topics(kafka, small_job)
