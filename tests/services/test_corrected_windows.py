"""Windows that are corrected, in stores that keep the newest row of a key: in the end each has the last revision."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from services.conftest import needs
from services.topics import made, received
from spark.small_job import Binding, SmallJob, event
from spark.test_emissions import job_of
from streamproof.lab import KafkaCluster, Redis

pytestmark = pytest.mark.service

WANTED = {("a", "09:00:00"): (1, 3), ("b", "09:00:00"): (0, 1)}
"""By client and start of a window the revision and the count that it ends with."""


def corrected(small_job: Callable[..., SmallJob], sink: dict[str, Any]) -> SmallJob:
    """The job, run to its end: a window is on time, and corrected in a start of its own, of which the newest commit is lost once."""
    table = {"key": ["client", "window_start"], **sink}
    job = small_job(job_of("corrections"), Binding(sinks={"late": "json"}, tables={"sink.sums": table}))
    job.feed([event("a1", 1), event("a2", 2), event("b1", 3, client="b")])
    job.feed([event("c1", 45, client="c")])
    job.run()
    job.feed([event("a3", 4), event("c2", 46, client="c")])
    job.run()
    newest = max(int(path.name) for path in (job.checkpoint("sums") / "commits").iterdir() if path.name.isdigit())
    job.lose(f"commits/{newest}", query="sums")

    result = job.run()

    assert (result.accounts[0].adds_up, result.account.emitted, result.account.late) == (True, 4, 0)
    return job


@pytest.mark.full
def test_redis_ends_with_the_last_revision(small_job, tmp_path: Path) -> None:
    needs("redis")
    with Redis(tmp_path / "redis") as server:
        corrected(small_job, {"connector": "redis", "url": server.url, "prefix": "sums:"})
        client = redis.Redis.from_url(server.url, decode_responses=True)
        rows = [client.hgetall(key) for key in client.keys("sums:*")]

    found = {(row["client"], row["window_start"].split()[1]): (int(row["revision"]), int(row["n"])) for row in rows}
    assert found == WANTED


@pytest.mark.full
def test_a_compacted_topic_ends_with_the_last_revision_of_each_key(small_job, kafka: KafkaCluster) -> None:
    topic = made(kafka.url, **{"cleanup.policy": "compact"})
    corrected(small_job, {"connector": "kafka", "servers": kafka.url, "topic": topic})

    last: dict[bytes, dict[str, Any]] = {}
    revisions: dict[bytes, list[int]] = {}
    for message in received(kafka.url, topic):
        last[message.key()] = json.loads(message.value())
        revisions.setdefault(message.key(), []).append(last[message.key()]["revision"])

    found = {(row["client"], row["window_start"][11:19]): (row["revision"], row["n"]) for row in last.values()}
    assert found == WANTED
    assert sorted(revisions.values()) == [[0], [0, 1]], "each revision once, in order"
