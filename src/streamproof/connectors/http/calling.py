"""The calls of a batch, from Spark's tasks: some at a time, again after a pause that grows, each under its own idempotency key."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import pyarrow as pa
from pyspark import TaskContext

from streamproof.connectors.answers import answer
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
_REFUSED = (400, 402, 403, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424, 426, 428, 431, 451)
"""The answers by which an API refuses a call for good. With any other answer the call may succeed later: 409 means that the first call of the
key is still under way; 401, 404, 405 and redirects mean that the configuration has to be mended."""
_NOT_DONE = 404
NO_REQUEST = "it is no request that HTTP allows"
"""What is said of a call that cannot be sent as it is: no waiting mends that."""
NO_NAMES = ("", ".", "..")
"""Keys that stand for no thing of their own in a path: asking for one of them asks for what is around it."""
_IN_A_HEADER = " !#$&'()*+,/:;=?@[]|~"
_OF_THE_CONNECTION = {
    "content-type",
    "idempotency-key",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "expect",
    "upgrade",
}
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
        The names of the columns after key and body that are sent as headers.
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
            if not batch.num_rows:
                continue
            made = asyncio.run(self._all(list(zip(*[column.to_pylist() for column in batch.columns], strict=True))))
            yield answer(made, _FIELDS)

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
                if (self.ask_first or attempt > 1 or _is_repeated()) and self.lookup:
                    asked = await client.get(self.lookup.replace("{key}", quote(key, safe="")), headers=dict(self.headers))
                    if asked.is_success:
                        return _result(key, CONFIRMED, asked.status_code, attempt, "")
                    if asked.status_code != _NOT_DONE:  # nobody can tell, so the call is not made
                        return _result(key, PENDING, asked.status_code, attempt, "when it is asked whether the call was done")
                response = await client.request(self.method, self.url, content=body, headers=self._headers(key, values))
            except httpx.TimeoutException:
                said, status = f"no answer within {self.timeout:g} seconds", None
            except (httpx.LocalProtocolError, httpx.InvalidURL):
                return _result(key, PENDING, None, attempt, NO_REQUEST)
            except httpx.HTTPError as problem:
                said, status = f"no connection: {type(problem).__name__}", None
            else:
                status, said = response.status_code, response.reason_phrase
                if response.is_success:
                    return _result(key, CONFIRMED, status, attempt, "")
                if status in _REFUSED:
                    return _result(key, FAILED, status, attempt, said)
                wait = max(wait, _asked_for(response))
            if attempt < self.attempts:
                await asyncio.sleep(min(wait, _LONGEST_PAUSE))
                pause *= 2
        return _result(key, PENDING, status, self.attempts, said)

    def _headers(self, key: str, values: tuple[bytes | None, ...]) -> dict[str, str]:
        """What the configuration says counts before what a record has brought along, of which only what fits into a header is sent."""
        extra = {
            name: value.decode()
            for name, value in zip(self.extra, values, strict=True)
            if value is not None and _fits_a_header(value) and name.lower() not in self._ours
        }
        return {"Content-Type": "application/json", **extra, **self.headers, "Idempotency-Key": _in_a_header(key)}

    @property
    def _ours(self) -> set[str]:
        """Names, in lower case as HTTP compares them, that a record may not set: those that we send, and those of the connection."""
        return _OF_THE_CONNECTION | {name.lower() for name in self.headers}


def _fits_a_header(value: bytes) -> bool:
    """Visible ASCII and spaces, none of them outside (RFC 9110, 5.5)."""
    return all(0x20 <= byte < 0x7F for byte in value) and value == value.strip(b" ")


def _in_a_header(key: str) -> str:
    """A key as the value of a header: what has no place in one in percent, outer spaces too."""
    return re.sub("^ +| +$", lambda spaces: "%20" * len(spaces[0]), quote(key, safe=_IN_A_HEADER))


def _result(key: str, status: str, http_status: int | None, attempts: int, said: str) -> dict[str, Any]:
    return {"key": key, "status": status, "http_status": http_status, "attempts": attempts, "said": said}


def _asked_for(answer: httpx.Response) -> float:
    """The seconds of Retry-After, as far as they are written as a number."""
    try:
        return float(answer.headers.get("Retry-After", 0))
    except ValueError:
        return 0.0


def _is_repeated() -> bool:
    """Whether Spark runs this task again: the first one may have made the call."""
    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


def _partition() -> int:
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0
