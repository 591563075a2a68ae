"""That a batch is committed: said once Spark has committed it, with what Spark measured."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.watching.events import BatchCommitted, QueryEvents
from streamproof.runtime.watching.measures import Measures

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass
class Commits:
    """Emits of each batch once that it is committed; asked by the thread of the query and by that of the run."""

    logs: QueryLogs
    events: QueryEvents
    measures: Measures
    stream: "StreamingQuery | None" = None
    """Which of Spark's queries it is, once it has started."""
    newest: BatchCommitted | None = None
    """What is said of the newest batch once Spark has committed it."""
    _committing: threading.RLock = field(default_factory=threading.RLock)

    def another_begins(self) -> None:
        """Spark begins no batch before it has committed the one before."""
        self._is_committed(self.newest)

    def look(self) -> None:
        """Emits that the newest batch is committed, as soon as Spark's commit log says so; the run asks now and then, from its own thread.

        Spark tells what a batch took right after it has committed it. So a query that still runs is waited for until it has.
        """
        newest = self.newest
        if newest is not None and self.logs.committed(newest.batch):
            self._is_committed(newest, measured_only=self.stream is not None and self.stream.isActive)

    def _is_committed(self, event: BatchCommitted | None, *, measured_only: bool = False) -> None:
        """Emits it, unless the other thread has; with `measured_only` not before Spark has told what it took."""
        with self._committing:
            if event is None or event is not self.newest:
                return
            progress = self._progress_of(event.batch)
            if progress is None and measured_only and self.events.emitter.heard:
                return
            self.newest = None
            self.events.emit(event if progress is None else self.measures.complete(event, progress))

    def _progress_of(self, batch: int) -> Mapping[str, Any] | None:
        """What Spark says of the newest batch that it has committed; None where nobody listens, or it has not said it yet, or not in a way we know."""
        if self.stream is None or not self.events.emitter.heard:
            return None
        try:
            found = _jvm.newest_progress(self.stream)
            return found if found is not None and found["batchId"] == batch else None
        except Exception:  # noqa: BLE001 -- it is only shown: no batch fails for it
            return None
