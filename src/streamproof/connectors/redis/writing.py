"""Rows into hashes, from Spark's tasks, in pipelines; an older batch never takes the place of a newer one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import redis

from streamproof.connectors.addresses import address_of
from streamproof.connectors.answers import answer
from streamproof.core.ids import new_id
from streamproof.errors import SinkError, SinkUnavailable

RESULT = "rows bigint, kind string, message string, task string, sent bigint"
_FIELDS: list[Any] = [
    ("rows", pa.int64()),
    ("kind", pa.string()),
    ("message", pa.string()),
    ("task", pa.string()),
    ("sent", pa.int64()),
]
_PIPELINE = 1_000
SECONDS = 10
BATCH = "_batch"
"""The field that says which batch has written a key."""

DELETED = "streamproof:deleted:"
"""What the names of tombstones begin with: which batch has deleted a key."""
_TOMBSTONE_MS = 24 * 60 * 60 * 1000

_WRITE = f"""
local known = redis.call('HGET', KEYS[1], ARGV[1]) or redis.call('GET', KEYS[2])
if known and tonumber(known) > tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
if ARGV[3] == 'delete' then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', {_TOMBSTONE_MS})
  return 1
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], unpack(ARGV, 5))
redis.call('DEL', KEYS[2])
if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1
"""
"""Replaces a hash unless a later batch has written or deleted it: a task that was thought dead cannot bring an old row back. A tombstone
is kept for a day: batches are published in order, so that only such a task can be late."""


@dataclass(frozen=True)
class Writing:
    """What a task needs to write its part of a batch.

    Parameters
    ----------
    columns
        The names of the fields; in the rows they stand after the key and whether the row deletes it.
    ttl_ms
        How long a key lives, 0 for ever.
    counts
        The hash that says how many pipelines of each task Redis has taken. Copies follow in order: one that lacks rows lacks the count of
        their pipeline too.
    """

    url: str
    batch: int
    columns: tuple[str, ...]
    ttl_ms: int
    counts: str

    def write(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Writes; gives the number of rows, what the task is called and how many pipelines it has sent, or what Redis said."""
        row: dict[str, Any] = {"rows": 0, "kind": None, "message": None, "task": new_id(), "sent": 0}
        try:
            with client(self.url) as connection:
                for rows in _by(_PIPELINE, batches):
                    row["sent"] += 1
                    self._send(connection, rows, row["task"], row["sent"])
                    row["rows"] += len(rows)
        except redis.RedisError as problem:
            row["kind"], row["message"] = type(problem).__name__, str(problem)
        yield answer([row], _FIELDS)

    def _send(self, connection: redis.Redis, rows: Sequence[tuple[Any, ...]], task: str, number: int) -> None:
        script = connection.register_script(_WRITE)
        pipeline = connection.pipeline(transaction=False)
        for key, deletes, *values in rows:
            named = zip(self.columns, values, strict=True)
            fields = [part for name, value in named if value is not None for part in (name, value)]
            does = "delete" if deletes or not fields else "write"
            script(keys=[key, f"{DELETED}{key}"], args=[BATCH, self.batch, does, self.ttl_ms, *fields], client=pipeline)
        pipeline.hincrby(self.counts, task, 1)
        *_, taken = pipeline.execute()
        if taken != number:
            raise LostWrites(f"it has {taken - 1} of the {number - 1} parts that a task wrote before")


class LostWrites(redis.RedisError):
    """Redis lacks what it has taken before."""


def _by(size: int, batches: Iterator[pa.RecordBatch]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows, so many at a time."""
    rows = chain.from_iterable(zip(*[column.to_pylist() for column in batch.columns], strict=True) for batch in batches)
    while some := list(islice(rows, size)):
        yield some


def client(url: str) -> redis.Redis:
    """A client that does not wait for ever and does not try again by itself: the publisher does, batch by batch."""
    return redis.Redis.from_url(
        url, decode_responses=True, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, retry=None, retry_on_error=[]
    )


def where_of(url: str) -> str:
    """The server and database, without user and password.

    Raises
    ------
    ConfigurationError
        If it is no URL of Redis.
    """
    found = address_of(url, "a redis sink", ("redis", "rediss"), 'redis://user:password@host:6379/0", with TLS "rediss://...')
    return f"redis://{found.host}:{found.port or 6379}{found.path if found.path not in ('', '/') else '/0'}"


def sink_error(kind: str, message: str, where: str) -> SinkError:
    """The error for what Redis said, in one place."""
    # What comes before says the command that failed, with values of the row in it.
    message = message.rpartition("caused error: ")[2]
    first = message.splitlines()[0] if message else kind
    if "OOM" in message or kind == "OutOfMemoryError":
        return SinkUnavailable(
            f"{where} is out of memory.",
            required="Nothing is lost: what it has not taken is kept with its manifests, and it catches up once there is room.",
            remedy="Raise maxmemory, or let keys expire with ttl. Evicted keys would be gone unseen: keep maxmemory-policy noeviction.",
        )
    if kind in ("AuthenticationError", "AuthorizationError", "NoPermissionError") or "WRONGPASS" in message or "NOAUTH" in message:
        return SinkError(f"{where} refuses us: {first}", remedy="Mend user and password in the url: ${env:...}.")
    if "WRONGTYPE" in message:
        return SinkError(
            f"A key of {where} is no hash: somebody else writes there.", remedy="Choose another prefix for the keys of this output."
        )
    if kind == LostWrites.__name__:
        return SinkUnavailable(
            f"{where} lost rows while a batch was written: {first}.",
            required="It failed over to a copy that lagged behind, or was emptied. Nothing is lost: the batch is staged, and written again.",
        )
    if kind in ("ConnectionError", "TimeoutError", "BusyLoadingError", "ReadOnlyError", "ClusterDownError", "TryAgainError"):
        return SinkUnavailable(
            f"{where} cannot be written: {first}",
            required="Nothing is lost: what it has not taken is kept with its manifests, and it catches up once it answers.",
        )
    return SinkError(f"{where} cannot be written: {first}")
