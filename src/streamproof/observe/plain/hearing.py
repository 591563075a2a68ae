"""Hears Spark's listener of streaming queries. Its calls only put down what they are told; a thread of our own makes events of it.

Spark calls a listener in Python through py4j. The call that a query has started is made inside `start()`, and the query waits for it; the others come from
Spark's bus for listeners. So nothing is worked out in either, and nothing raised here reaches Spark.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.core.clock import monotonic_seconds
from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.runtime.watching.events import Emitter, Note, RunEvent
from streamproof.runtime.watching.watched import Watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

MOST_WAITING = 10_000
"""What Spark has said and no event is made of yet. What comes beyond it is passed over: a listener that hangs must not fill the memory."""
LAST_WORDS_SECONDS = 3.0
"""How long the end of a watch waits for Spark to say of queries that they have ended."""
_PATIENCE_SECONDS = 5.0
_COUNTS = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
Told = Callable[[], Iterable[RunEvent]]


class Hearing:
    """Hears the queries of one session from `begin` to `end`, and gives an emitter what it hears.

    Parameters
    ----------
    spark
        The session. Queries of another one, such as `spark.newSession()`, are not heard: Spark has listeners for each session.
    emitter
        Who hears the events.
    """

    def __init__(self, spark: "SparkSession", emitter: Emitter) -> None:
        self._spark, self._emitter = spark, emitter
        self.notes: list[CodedNote] = []
        self._known = Watched(
            counts_rows=lambda: _counts_rows(spark), trigger_seconds=lambda identity: _trigger_seconds(spark, identity)
        )
        self._waiting: queue.Queue[Told | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="streamproof-watch", daemon=True)
        self._listener: StreamingQueryListener | None = None

    def begin(self) -> None:
        """Hears from now on, and of the queries that run already."""
        self._listener = _listener(self._known, self._put)
        self._thread.start()
        self._spark.streams.addListener(self._listener)
        for running in self._spark.streams.active:
            self._put(partial(self._known.started, str(running.id), str(running.runId), running.name))

    def end(self) -> None:
        """Hears no more. Waits a moment for what Spark has still to say of queries that have ended, and until all of it is given on."""
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        self._wait_for_last_words()
        with suppress(Exception):  # Spark may have ended before
            self._spark.streams.removeListener(listener)
        with suppress(queue.Full):
            self._waiting.put(None, timeout=_PATIENCE_SECONDS)
        self._thread.join(_PATIENCE_SECONDS)

    def _put(self, told: Told) -> None:
        """Called by Spark: puts it down, and returns."""
        try:
            self._waiting.put_nowait(told)
        except queue.Full:
            self._note(
                NoteCode.PROGRESS_PASSED_OVER,
                "Listeners of the watch are too slow: what Spark says meanwhile is passed over.",
                emit=False,
            )

    def _work(self) -> None:
        while (told := self._waiting.get()) is not None:
            try:
                for event in told():
                    self._emitter.emit(event)
            except Exception as problem:  # noqa: BLE001 -- whatever Spark says in another way than it always did, the watch goes on
                said = f"Something that Spark said of a query could not be read ({type(problem).__name__}). The query goes on, and so does the watch."
                self._note(NoteCode.PROGRESS_NOT_READ, said)

    def _note(self, code: NoteCode, said: str, *, emit: bool = True) -> None:
        """Says something once. Where it cannot be given on at once, whoever asks for the notes finds it."""
        if all(note.code is not code for note in self.notes):
            self.notes.append(CodedNote(code, said))
            if emit:
                self._emitter.emit(Note(query="", text=said, code=str(code)))

    def _wait_for_last_words(self) -> None:
        until = monotonic_seconds() + LAST_WORDS_SECONDS
        gone = threading.Event()
        with suppress(Exception):  # Spark may have ended before: nothing comes any more then
            while monotonic_seconds() < until and self._known.runs - {str(one.runId) for one in self._spark.streams.active}:
                gone.wait(0.05)


def _listener(known: Watched, put: Callable[[Told], None]) -> "StreamingQueryListener":
    """Spark's listener: `onQueryIdle` is there since 3.5, the others since 3.4. The JSON of a progress has one shape in all versions."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802
            put(lambda: known.started(str(event.id), str(event.runId), event.name))

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            text = event.progress.json  # a call into the JVM: of the thread of Spark's bus, which no query waits for
            put(lambda: known.progressed(json.loads(text)))

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            put(lambda: known.idle(str(event.id), str(event.runId)))

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
            put(lambda: known.ended(str(event.id), str(event.runId), event.exception, event.errorClassOnException))

    return Listener()


def _trigger_seconds(spark: "SparkSession", identity: str) -> float | None:
    """The interval of a query's trigger, asked when it is first heard of; None where it has none, or has ended by now."""
    try:
        query = spark.streams.get(identity)
        return None if query is None else _jvm.trigger_seconds(query)
    except Exception:  # noqa: BLE001 -- Spark promises none of this: without the interval, silence is judged by what Spark has said so far
        return None


def _counts_rows(spark: "SparkSession") -> bool:
    """Whether Spark counts the rows of its states; RocksDB does unless it is told not to."""
    try:
        rocksdb = "RocksDB" in str(spark.conf.get(_PROVIDER, ""))
        return not rocksdb or str(spark.conf.get(_COUNTS, "true")).lower() == "true"
    except Exception:  # noqa: BLE001 -- a session that has ended has no settings
        return False
