"""The pages that are open: each gets the newest picture, and no run waits for one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

MOST = 50
"""Pages that are open at a time; further ones are turned away."""
LEAST_SECONDS = 0.25
"""Between two pictures; what changes meanwhile is in the next one."""
TICK_SECONDS = 1.0
"""A picture comes at least so often: ages grow, and a page notices when nothing comes any more."""
RETRY_MS = 2_000
_UNREAD = 2
"""How many pictures wait for one page. A page that does not read them gets the newest ones once it does."""


def message(picture: Mapping[str, Any]) -> bytes:
    """A picture as a server-sent event."""
    return f"retry: {RETRY_MS}\nevent: picture\ndata: {json.dumps(picture, separators=(',', ':'))}\n\n".encode()


class Readers:
    """The pages that are open, in the event loop of the server.

    Parameters
    ----------
    now
        Gives the picture of now.
    """

    def __init__(self, now: Callable[[], Mapping[str, Any]]) -> None:
        self._now = now
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._changed = asyncio.Event()
        self._over = False

    @property
    def full(self) -> bool:
        """Whether there are as many as there may be."""
        return len(self._queues) >= MOST

    def changed(self) -> None:
        """There is a new picture."""
        self._changed.set()

    async def pictures(self) -> AsyncIterator[bytes]:
        """What one page gets: the present picture first, then each that comes, until all is over."""
        mine: asyncio.Queue[bytes | None] = asyncio.Queue(_UNREAD)
        self._queues.add(mine)
        try:
            yield message(self._now())
            while not self._over and (next_one := await mine.get()) is not None:
                yield next_one
        finally:
            self._queues.discard(mine)

    async def tell(self) -> None:
        """Gives pictures to the pages, for ever: at each change, and at each tick."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), TICK_SECONDS)
            self._changed.clear()
            if self._queues:
                self._give(message(self._now()))
            await asyncio.sleep(LEAST_SECONDS)

    async def end(self, patience_seconds: float) -> None:
        """Gives the last picture to all, and waits until they have it, but no longer than this."""
        self._give(message(self._now()))
        self._give(None)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_seconds):
                while self._queues:
                    await asyncio.sleep(LEAST_SECONDS / 5)
        self._over = True

    def _give(self, what: bytes | None) -> None:
        for queue in self._queues:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(what)
