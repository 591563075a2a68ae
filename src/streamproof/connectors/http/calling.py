"""The calls of a batch, from Spark's tasks: some at a time, again after a pause that grows, each under its own idempotency key."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pyarrow as pa
from pyspark import TaskContext

from streamproof.connectors.steps import Steps
from streamproof.core.randomness import Seeded

CONFIRMED, FAILED, PENDING = "confirmed", "failed", "pending"
RESULT = "key string, status string, http_status int, attempts int, said string"
"""What is known of a call: its idempotency key, whether the API took it, refused it, or may have taken it."""
_FIELDS: list[Any] = [
    ("key", pa.string()),
    ("status", pa.string()),
    ("http_status", pa.int32()),
    ("attempts", pa.int32()),
    ("said", pa.string()),
]
_PASSING = (408, 409, 423, 425, 429, 500, 502, 503, 504)
"""What may be otherwise the next time; 409 is what APIs say of a key whose first call is still under way."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0


@dataclass(frozen=True)
class Calling:
    """What a task needs to make its calls.

    Parameters
    ----------
    lookup
        Where to ask whether a call was done, with "{key}" in it; empty where there is no such place.
    ask_first
        Whether every call is looked up before it is made: an earlier try may have made it.
    timeout, attempts, concurrency
        Seconds that an answer may take, tries of a call, calls at a time in a task.
    extra
        The names of the columns behind key and body that are sent as headers.
    """

    url: str
    method: str
    headers: Mapping[str, str]
    lookup: str
    ask_first: bool
    timeout: float
    attempts: int
    concurrency: int
    extra: tuple[str, ...]
    output: str
    batch: int
    steps: Steps

    def call(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Makes the calls; a row of `RESULT` for each."""
        for batch in batches:
            made = asyncio.run(self._all(list(zip(*[column.to_pylist() for column in batch.columns], strict=True))))
            yield pa.RecordBatch.from_pylist(made, schema=pa.schema(_FIELDS))

    async def _all(self, rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
        at_a_time = asyncio.Semaphore(self.concurrency)
        async with httpx.AsyncClient(timeout=self.timeout, follow_redirects=False) as client:

            async def one(key: str, body: bytes, *values: bytes | None) -> dict[str, Any]:
                async with at_a_time:
                    found = await self._made(client, key, body, values)
                self.steps.after(f"{self.output}.call.{_partition()}", self.batch)
                return found

            return await asyncio.gather(*[one(*row) for row in rows])

    async def _made(self, client: httpx.AsyncClient, key: str, body: bytes, values: tuple[bytes | None, ...]) -> dict[str, Any]:
        """What became of a call: a repetition waits longer each time, and as long as the API asks."""
        random, pause, said, status = Seeded(0, key), _FIRST_PAUSE, "", None
        for attempt in range(1, self.attempts + 1):
            wait = pause * (0.5 + random.uniform())
            try:
                if (self.ask_first or attempt > 1) and self.lookup and await self._done(client, key):
                    return _result(key, CONFIRMED, 200, attempt, "")
                answer = await client.request(self.method, self.url, content=body, headers=self._headers(key, values))
            except httpx.TimeoutException:
                said, status = f"no answer within {self.timeout:g} seconds", None
            except httpx.TransportError as problem:
                said, status = f"no connection: {type(problem).__name__}", None
            else:
                status, said = answer.status_code, answer.reason_phrase
                if answer.is_success:
                    return _result(key, CONFIRMED, status, attempt, "")
                if status not in _PASSING:
                    return _result(key, FAILED, status, attempt, said)
                wait = max(wait, _asked_for(answer))
            if attempt < self.attempts:
                await asyncio.sleep(min(wait, _LONGEST_PAUSE))
                pause *= 2
        return _result(key, PENDING, status, self.attempts, said)

    async def _done(self, client: httpx.AsyncClient, key: str) -> bool:
        answer = await client.get(self.lookup.replace("{key}", key), headers=dict(self.headers))
        return answer.is_success

    def _headers(self, key: str, values: tuple[bytes | None, ...]) -> dict[str, str]:
        extra = {name: value.decode() for name, value in zip(self.extra, values, strict=True) if value is not None}
        return {"Content-Type": "application/json", **self.headers, **extra, "Idempotency-Key": key}


def _result(key: str, status: str, http_status: int | None, attempts: int, said: str) -> dict[str, Any]:
    return {"key": key, "status": status, "http_status": http_status, "attempts": attempts, "said": said}


def _asked_for(answer: httpx.Response) -> float:
    """The seconds of Retry-After, as far as they are written as a number."""
    try:
        return float(answer.headers.get("Retry-After", 0))
    except ValueError:
        return 0.0


def _partition() -> int:
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0
