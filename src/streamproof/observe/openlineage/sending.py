"""Sends run events to a collector of OpenLineage, or to a file, from a thread of its own: a run waits for neither."""

import os
import queue
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from streamproof.connectors.extras import library
from streamproof.core.clock import monotonic_seconds
from streamproof.errors import ConfigurationError
from streamproof.observe.openlineage.run_events import PRODUCER, RunEvents
from streamproof.runtime.watching.events import RunEvent

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

PATIENCE_SECONDS = 5.0
"""So long the end of a run waits for what is not sent yet."""
MOST_WAITING = 1_000
"""So many events wait for a collector that is slow; those beyond are lost."""
_EXTRA, _WHAT = "openlineage", "run --openlineage"
_FILE = "file:"
_COLLECTOR = re.compile(r"https?://[^/]")


class OpenLineage:
    """A listener of a run that sends OpenLineage's events of its queries, for as long as the block lasts.

    Where the collector does not answer, that is said once, the events are lost, and the job goes on.

    Parameters
    ----------
    job
        The name of the job.
    target
        "file:PATH" adds each event to a file, one JSON object a line; "http://host:5000" sends it to that collector. `OPENLINEAGE_API_KEY` is sent
        as its token, `OPENLINEAGE_NAMESPACE` is the namespace of jobs ("streamproof" unless it is set).
    say
        Is told where the collector does not answer, from another thread.

    Raises
    ------
    ConfigurationError
        If the target is neither.
    MissingExtra
        If OpenLineage's client is not installed.
    """

    def __init__(self, job: str, target: str, say: Callable[[str], None]) -> None:
        library("openlineage.client", _EXTRA, _WHAT)
        self._target, self._say, self._silent = _shown(target), say, False
        self._client = _client(target)
        _set_producer()
        self._waiting: queue.Queue[Any] = queue.Queue(MOST_WAITING)
        self._events = RunEvents(job, self._put)
        self._thread = threading.Thread(target=self._send, name="openlineage", daemon=True)

    def __enter__(self) -> "OpenLineage":
        self._thread.start()
        return self

    def __call__(self, event: RunEvent) -> None:
        self._events(event)

    def __exit__(self, *_: object) -> None:
        """Gives the collector a few seconds to take what is left."""
        until = monotonic_seconds() + PATIENCE_SECONDS
        with suppress(queue.Full):
            self._waiting.put(None, timeout=PATIENCE_SECONDS)
        self._thread.join(max(0.0, until - monotonic_seconds()))
        if self._thread.is_alive():
            self._is_silent()

    def _put(self, event: Any) -> None:
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self._is_silent()

    def _send(self) -> None:
        while (event := self._waiting.get()) is not None:
            try:
                self._client.emit(event)
            except Exception:  # noqa: BLE001 -- whatever a transport raises, the job goes on
                self._is_silent()
        with suppress(Exception):
            self._client.close(PATIENCE_SECONDS)

    def _is_silent(self) -> None:
        said, self._silent = self._silent, True
        if not said:
            self._say(
                f"OpenLineage: {self._target} does not take what this run sends. The job goes on, and sends on. Look whether it runs, "
                "and at OPENLINEAGE_API_KEY."
            )


def _client(target: str) -> "OpenLineageClient":
    from openlineage.client import OpenLineageClient
    from openlineage.client.transport.file import FileConfig, FileTransport
    from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport, TokenProvider

    if target.startswith(_FILE) and len(target) > len(_FILE):
        path = target.removeprefix(_FILE)
        path = f"/{path.lstrip('/')}" if path.startswith("//") else path
        return OpenLineageClient(transport=FileTransport(FileConfig(log_file_path=path, append=True)))
    if not _COLLECTOR.match(target):
        raise ConfigurationError(
            f"--openlineage got {_shown(target)}, and nothing can be sent there.",
            required="It is the URL of a collector, or a file for the events.",
            remedy="For example: --openlineage http://localhost:5000, or --openlineage file:lineage.jsonl",
        )
    key = os.environ.get("OPENLINEAGE_API_KEY")
    token = ApiKeyTokenProvider({"api_key": key}) if key else TokenProvider({})
    return OpenLineageClient(
        transport=HttpTransport(HttpConfig(url=target, auth=token, timeout=PATIENCE_SECONDS, retry={"total": 1}))
    )


def _set_producer() -> None:
    from openlineage.client.event_v2 import set_producer

    set_producer(PRODUCER)  # each facet names it


def _shown(target: str) -> str:
    """A target without what stands for a user or a token in it."""
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else target
