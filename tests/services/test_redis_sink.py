"""Redis holds the newest row of each key, whatever is repeated, or the reason is said."""

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import redis

from full_tables import full
from services.conftest import needs, told
from spark.small_job import KEPT, Binding, SmallJob, dies, event
from streamproof.connectors.redis.sink import _END, HashSink
from streamproof.connectors.redis.writing import Writing
from streamproof.connectors.steps import Steps
from streamproof.core.phases import StepName
from streamproof.errors import (
    ConfigurationError,
    NondeterministicReplay,
    OutputInUse,
    SinkError,
    SinkUnavailable,
    StoreEmptied,
    StreamproofError,
    TwoDrivers,
)
from streamproof.lab import Redis
from streamproof.runtime import run
from streamproof.runtime.start.options import Start

pytestmark = pytest.mark.service


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    needs("redis")
    with Redis(tmp_path / "redis") as running:
        yield running


@pytest.fixture
def client(server: Redis) -> redis.Redis:
    return redis.Redis.from_url(server.url, decode_responses=True)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], server: Redis) -> Callable[..., SmallJob]:
    def job(folder: str = "job", **sink: Any) -> SmallJob:
        table = {"connector": "redis", "url": server.url, "key": ["id"], "prefix": "kept:", **sink}
        return small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": table}), folder=folder)

    return job


def test_each_key_holds_its_newest_row(job, client):
    small = job()
    small.feed([event("a", 0, 1.5), event("b", 1)])
    small.feed([event("a", 5, 2.5), event("bad", 6, -1.0)])
    result = small.run()

    assert sorted(client.keys("kept:*")) == ["kept:a", "kept:b"]
    assert client.hgetall("kept:a") == {"_batch": "1", "id": "a", "client": "a", "v": "2.5", "ts": "2026-01-05 09:00:05"}
    assert small.sink().owner().batch == 1, "the newest tells whether a checkpoint is behind its output"
    shown = next(output for output in result.outputs if output.name == "kept")
    assert (shown.rows, shown.format) == (3, "redis")
    assert "effectively once" in shown.guarantee


NESTED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def more(rows):
        inside = F.struct(F.lit(None).cast("int").alias("b"), F.lit("1969-12-31 23:59:59.999999").cast("timestamp").alias("c"))
        return rows.select("id", inside.alias("object"))
    return sp.Outputs(kept=events.transform(more))
"""


def test_nested_values_keep_their_nulls_and_microseconds(job, client):
    small = job()
    small.text = NESTED
    small.write()
    small.feed([event("a", 0)])

    small.run()

    assert json.loads(client.hget("kept:a", "object")) == {"b": None, "c": "1969-12-31T23:59:59.999999Z"}


def test_of_several_rows_of_a_key_the_greatest_counts_and_rows_that_say_so_delete_it(job, client):
    small = job(order_by="ts", delete="v = 0")
    small.feed([event("a", 9, 3.0), event("a", 5, 2.0), event("b", 1), event("c", 1)])
    small.feed([event("b", 10, 0.0)])
    small.run()

    assert client.hget("kept:a", "v") == "3.0"
    assert not client.exists("kept:b")


def test_keys_live_as_long_as_they_are_told(job, client):
    small = job(ttl="1 hour")
    small.feed([event("a", 0)])
    small.run()

    assert 3_500 < client.ttl("kept:a") <= 3_600


def test_a_crash_between_publication_and_commit_changes_nothing(job, client):
    small = job()
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    client.hset("kept:a", "v", "touched")
    small.run()

    assert client.hget("kept:a", "v") == "touched", "it is published, and not written again"


def test_a_task_that_was_thought_dead_does_not_bring_an_old_row_back(server, client):
    def written(batch: int, value: str) -> None:
        rows = pa.RecordBatch.from_pylist([{"key": "k", "delete": False, "v": value}])
        list(Writing(server.url, batch, ("v",), 0, "counts").write(iter([rows])))

    written(2, "new")
    written(1, "old")

    assert client.hgetall("k") == {"_batch": "2", "v": "new"}


def test_r7_another_manifests_entry_stops_the_publisher(job, client):
    small = job()
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    small.change_manifest(0, lambda manifest: manifest.update(id="of another driver"))
    (field,) = [field for field in client.hkeys("streamproof:ledger:kept:") if json.loads(field)[3] == 0]
    entry = json.loads(client.hget("streamproof:ledger:kept:", field))
    client.hset("streamproof:ledger:kept:", field, json.dumps({**entry, "rows": 7}))

    assert "was published by the manifest" in small.stopped(TwoDrivers).message


@pytest.mark.parametrize("further", [0, 1], ids=["it has published this batch", "and the next"])
def test_r7_a_driver_that_wakes_up_while_it_writes_names_the_one_that_has_taken_over(job, client, monkeypatch, further):
    """It stood still (SIGSTOP) between its mark and its entry; the other has begun the batch anew, and ended it."""
    small = job()
    small.feed([event("a", 0)])
    takes_step, taken_over = HashSink._require, []

    def woken(sink: HashSink, script: str, arguments: list[str], manifest: Any) -> None:
        if script is _END:
            entry, text, mark = arguments[:3]
            client.hdel(sink._ledger, mark)
            newest = json.loads(entry)
            newest[-1] = manifest.batch + further
            for field in (entry, json.dumps(newest)):
                client.hset(sink._ledger, field, text.replace('"batch": 0', f'"batch": {json.loads(field)[-1]}'))
            taken_over.append(sink.owner().batch)
        takes_step(sink, script, arguments, manifest)

    monkeypatch.setattr(HashSink, "_require", woken)

    error = small.stopped(TwoDrivers)

    assert taken_over
    assert "Another driver works on this checkpoint, or has" in error.message
    assert f"batch {taken_over[0]} is published" in error.message


@pytest.mark.full
def test_r7_the_ledger_keeps_the_newest_batches_and_what_is_older_is_not_written_again(job, client, monkeypatch):
    monkeypatch.setattr("streamproof.connectors.ledgers.KEPT", 3)
    small = job()
    for number in range(7):
        small.feed([event(str(number), number)])
    small.run()

    def entries() -> list[int]:
        fields = map(json.loads, client.hkeys("streamproof:ledger:kept:"))
        return sorted(batch for *_, batch in fields if batch != "newest")

    assert entries() == [4, 5, 6]
    small.feed([event("7", 7)])
    dies(small, "rename", "checkpoint/kept/commits/7")
    client.hset("kept:7", "v", "touched")
    small.run()
    assert entries() == [5, 6, 7]
    assert client.hget("kept:7", "v") == "touched", "the newest batch finds its entry"

    client.delete("kept:0")
    sink, zombie = small.sink(), small.manifest(0)
    monkeypatch.setattr(sink, "staged_whole", lambda _: True)
    monkeypatch.setattr(
        type(sink.place), "staged_rows", lambda place, *_: place.spark.createDataFrame([("0", "z")], "id string, client string")
    )
    with pytest.raises(TwoDrivers, match="batch 0 behind batch 7: that is older than what the ledger remembers"):
        sink.publish(zombie, zombie.sections[0])
    assert not client.exists("kept:0")
    assert entries() == [5, 6, 7]


@pytest.mark.full
def test_r4_a_batch_that_is_half_written_counts_as_begun(job, client, dying_tasks):
    """Its entry is not there yet, its rows may be seen: what a replay computes otherwise is not written over them."""
    small = job()
    small.feed([event("a", 0)])
    with dying_tasks("publish/kept@0:before"), pytest.raises(StreamproofError):
        small.run()
    assert client.keys("kept:*") == ["kept:a"]
    small.change_manifest(0, lambda found: found["sections"][0]["digest"].update(hash=1))

    problem = small.stopped(NondeterministicReplay)

    assert "--accept-replay 0" in problem.remedy
    small.run(accept_replay=0)
    small.feed([event("b", 1)])
    small.run()
    assert sorted(client.keys("kept:*")) == ["kept:a", "kept:b"]
    assert not [field for field in client.hkeys("streamproof:ledger:kept:") if "begun" in field]


def test_r8_a_task_that_was_thought_dead_does_not_bring_a_deleted_key_back(server, client):
    def written(batch: int, *, delete: bool) -> None:
        rows = pa.RecordBatch.from_pylist([{"key": "k", "delete": delete, "v": f"of {batch}"}])
        list(Writing(server.url, batch, ("v",), 0, "counts").write(iter([rows])))

    written(1, delete=False)
    written(2, delete=True)
    written(1, delete=False)
    assert not client.exists("k")
    assert 0 < client.ttl("streamproof:deleted:k") <= 24 * 3600

    written(3, delete=False)
    assert client.hgetall("k") == {"_batch": "3", "v": "of 3"}
    assert not client.exists("streamproof:deleted:k")


def test_several_rows_of_a_key_are_refused_where_nothing_says_which_counts(job, client):
    """The batch may be written twice, and each time another one would be the last."""
    small = job()
    small.feed([event("a", 0), event("a", 1, 2.0)])

    assert "several rows of one key" in small.stopped(SinkError).message
    assert not client.keys("*")


@pytest.mark.parametrize("sink", [{}, *full({"order_by": "v"}, {"key": ["id", "client"]})])
def test_rows_that_have_nothing_in_their_key_are_refused(job, client, sink):
    """In other batches too: the second such row would take the place of the first, and one of them be nowhere."""
    small = job(**sink)
    small.feed([event("a", 0), event("b", 1, client=None) | {"id": None}])

    problem = small.stopped(SinkError)

    assert "has null in id" in problem.message
    assert "[sink.kept] key" in str(problem)
    assert not client.keys("*")


def test_a_claim_of_exactly_once_is_refused(job):
    small = job(guarantee="exactly-once")
    small.feed([event("a", 0)])

    assert "cannot be kept by redis" in small.stopped(ConfigurationError).message


def test_keys_of_several_columns_that_look_alike_stay_apart(job, client):
    small = job(key=["id", "client"])
    small.feed([event("a|b", 0, client="c"), event("a", 1, client="b|c"), event("a", 2, client=None), event("a", 3, client="\\N")])
    small.run()

    assert sorted(client.keys("kept:*")) == [r"kept:a\|b|c", r"kept:a|\N", r"kept:a|\\N", r"kept:a|b\|c"]


def test_r1_keys_of_another_checkpoint_are_refused_and_replaced_when_asked(job, client):
    small = job()
    small.feed([event("a", 0)])
    small.run()
    other = job("other")
    other.feed([event("b", 0)])

    assert "belongs to another run of this job" in other.stopped(OutputInUse).message
    other.run(replace_output=True)
    assert client.keys("kept:*") == ["kept:b"]


@pytest.mark.parametrize("prefix", ["kept:limits:", "ke"])
def test_what_another_output_may_have_written_is_not_replaced(job, client, prefix):
    client.hset(f"streamproof:ledger:{prefix}", "entry", "of another")
    client.hset("kept:limits:1", "v", "another's")
    small = job()
    small.feed([event("a", 0)])

    assert f"the output with the prefix {prefix} lies there too" in small.stopped(OutputInUse, replace_output=True).message
    assert client.exists("kept:limits:1")


def test_r8_a_server_that_is_down_is_caught_up_with(job, server, client, monkeypatch):
    small = job()
    small.feed([event("a", 0)])
    small.run()
    server.kill()
    small.feed([event("b", 1), event("bad", 1, -1.0)])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        assert "1 batch of kept wait" in small.stopped(SinkUnavailable).message
    assert small.ids("rejected") == ["bad"]
    server.restart()
    small.run()

    assert sorted(client.keys("kept:*")) == ["kept:a", "kept:b"]


def test_a_server_that_was_emptied_stops_the_job_and_says_so(job, client):
    small = job()
    small.feed([event("a", 0)])
    small.feed([event("b", 1)])
    small.run()
    client.flushall()
    small.feed([event("c", 2)])

    problem = small.stopped(StoreEmptied)

    assert "knows nothing of batch 0" in problem.message
    assert "or emptied" in problem.required


@dataclass(frozen=True)
class Emptying(Steps):
    """Empties the server at a step."""

    url: str
    at: str

    def reached(self, step: StepName) -> None:
        if str(step) == self.at:
            redis.Redis.from_url(self.url).flushall()


@pytest.mark.parametrize("at", ["publish/kept@0:after", *full("publish/kept.begun@1:after", "publish/kept@1:before")])
def test_a_server_that_is_emptied_while_the_job_runs_stops_it(job, server, at, monkeypatch):
    """What older batches have written is gone: going on would hide it."""
    monkeypatch.setattr(run, "Start", partial(Start, steps=Emptying(server.url, at)))
    small = job()
    small.feed([event("a", 0)])
    small.feed([event("b", 1)])

    assert "knows nothing of batch 0" in small.stopped(StoreEmptied).message


@dataclass(frozen=True)
class FailingOver(Steps):
    """Once, before a batch is entered, what is there is what there was when it was begun: a copy without the last hashes."""

    url: str
    copied: Path

    def reached(self, step: StepName) -> None:
        with redis.Redis.from_url(self.url) as server:
            if str(step) == "publish/kept.begun@1:after" and not self.copied.exists():
                self.copied.write_bytes(pickle.dumps({key: server.dump(key) for key in server.scan_iter()}))
            if str(step) == "publish/kept@1:before" and self.copied.stat().st_size:
                server.flushall()
                for key, value in pickle.loads(self.copied.read_bytes()).items():
                    server.restore(key, 0, value)
                self.copied.write_bytes(b"")


@pytest.mark.full
def test_r8_a_batch_whose_hashes_a_failover_has_lost_is_written_again(job, server, client, tmp_path):
    small = job()
    small.feed([event("a", 0)])
    small.feed([event("b", 1)])

    with told(FailingOver(server.url, tmp_path / "copied")):
        said = small.run()

    assert (tmp_path / "copied").read_bytes() == b"", "the fault has fired"
    assert sorted(client.keys()) == ["kept:a", "kept:b", "streamproof:ledger:kept:"]
    assert "lost rows while a batch was written" in " ".join(said.notes)


def test_r8_a_task_notices_that_rows_it_has_written_are_gone(server, client):
    rows = [{"key": f"k{number}", "delete": False, "v": "v"} for number in range(1_500)]

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(rows[:1_000])
        client.flushall()
        yield pa.RecordBatch.from_pylist(rows[1_000:])

    (said,) = list(Writing(server.url, 0, ("v",), 0, "counts").write(batches()))

    assert said.column("kind").to_pylist() == ["LostWrites"]
    assert said.column("message").to_pylist() == ["it has 0 of the 1 parts that a task wrote before"]


@pytest.mark.full
def test_a_server_without_memory_is_waited_for(job, client, monkeypatch):
    small = job()
    small.feed([event("a", 0)])
    client.config_set("maxmemory", "1")
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        assert "is out of memory" in str(small.stopped(SinkUnavailable))
    client.config_set("maxmemory", "0")
    small.run()

    assert client.keys("kept:*") == ["kept:a"]


def test_a_key_of_another_kind_and_a_wrong_password_are_named(job, client):
    client.set("kept:a", "a text")
    small = job()
    small.feed([event("a", 0)])
    assert "is no hash: somebody else writes there" in small.stopped(SinkError).message
    client.config_set("requirepass", "secret")
    client.execute_command("AUTH", "secret")

    problem = job("other").stopped(SinkError)

    client.config_set("requirepass", "")
    assert "refuses us" in problem.message
