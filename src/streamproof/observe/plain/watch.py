"""`sp.watch`: metrics and the live page of a plain PySpark job, by one line in it."""

import logging
from collections import deque
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.notes import NoteCode
from streamproof.errors import ConfigurationError, PortTaken
from streamproof.observe.addresses import LIVE_PORT, METRICS_PORT, Wanted
from streamproof.observe.metrics import OF_PLAIN_JOBS
from streamproof.observe.plain.hearing import Hearing
from streamproof.runtime.watching.events import Emitter, Listener, Note, RunEvent
from streamproof.runtime.watching.listeners import listeners_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_METRICS = Wanted("metrics", 'metrics="{}"', METRICS_PORT, "lets other machines read it, without a password")
_LIVE = Wanted("live page", 'live="{}"', LIVE_PORT, "lets other machines look at it, with a token")
_MOST_SAID = 1_000
"""A query that is started again and again without a name is another one each time, and is noted each time."""
_LOG = logging.getLogger("streamproof.watch")


class Watch:
    """A watch that goes on until `stop`, or to the end of a `with` block. `sp.watch` makes one.

    Parameters
    ----------
    job
        The name of the job.
    """

    def __init__(self, job: str, spark: "SparkSession", listeners: Iterable[Listener]) -> None:
        self.job = job
        self.metrics_url: str | None = None
        """Where Prometheus finds the metrics; None where they were not asked for, or the port was taken."""
        self.live_url: str | None = None
        """Where the live page is; None where it was not asked for, or the port was taken."""
        self._said: deque[str] = deque(maxlen=_MOST_SAID)
        self._emitter = Emitter(self._keep, *listeners)
        self._hearing = Hearing(spark, self._emitter)
        self._open = ExitStack()

    @property
    def notes(self) -> list[str]:
        """What is worth knowing, each thing once: queries without a name, listeners that raised."""
        return list(dict.fromkeys((*self._said, *map(str, self._hearing.notes), *map(str, self._emitter.failures))))

    def stop(self) -> None:
        """Ends the watch: the metrics and the page are there no longer. The queries go on. A second call does nothing."""
        self._hearing.end()
        self._open.close()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        where = ", ".join(url for url in (self.metrics_url, self.live_url) if url)
        return f"<streamproof watch of {self.job}{': ' if where else ''}{where}>"

    def _keep(self, event: RunEvent) -> None:
        if isinstance(event, Note) and event.text not in self._said:
            self._said.append(event.text)
            _LOG.warning("%s", event.text)

    def _show(self, metrics: str | None, live: str | None) -> None:
        """What cannot be shown since its port is taken is not shown, and noted: the queries of the user's program are worth more."""
        for show, address in ((self._show_metrics, metrics), (self._show_page, live)):
            if address is not None:
                try:
                    show(address)
                except PortTaken as problem:
                    said = f"{problem.message} The queries go on without it. {problem.remedy}"
                    self._emitter.emit(Note(query="", text=said, code=str(NoteCode.PORT_TAKEN)))

    def _show_metrics(self, address: str) -> None:
        from streamproof.observe.endpoint import Endpoint
        from streamproof.observe.values import Values

        values = Values(OF_PLAIN_JOBS)
        endpoint = Endpoint(self.job, address, values, _METRICS)
        self._emitter.also(values)
        self.metrics_url = self._open.enter_context(endpoint).url

    def _show_page(self, address: str) -> None:
        from streamproof.observe.live.place import place

        at = place(address, Path.cwd(), _LIVE)
        from streamproof.observe.live.board import RunBoard
        from streamproof.observe.live.server import LivePage

        board = RunBoard(self.job)
        self._emitter.also(board)
        page = LivePage(board, at.listens, at.access)
        # What ends a `with` block is an error of Spark as a rule, whose text may hold values of rows: the page has no need of it.
        page.__enter__()
        self._open.callback(page.__exit__, None, None, None)
        self.live_url = page.url


def watch(
    spark: "SparkSession",
    *,
    metrics: str | int | None = None,
    live: str | int | None = None,
    job: str | None = None,
    listener: Listener | Iterable[Listener] | None = None,
) -> Watch:
    """Watches the queries of a plain PySpark job: metrics for Prometheus, a live page, events.

    One line, before or after the queries start. What it knows is what Spark tells its listener of streaming queries (Spark 3.5 to 4.3). What Spark
    does not tell is not shown. No query waits for it, and nothing in it ends one.

    Parameters
    ----------
    spark
        The session that the queries run in. Another one, such as `spark.newSession()`, needs a watch of its own.
    metrics
        Where Prometheus finds the metrics: a port of this machine, or `HOST:PORT`. Needs the extra `monitor`.
    live
        Where the live page is, in the same way. Needs the extra `live`.
    job
        How the job is called; the name of the Spark application where it is not given.
    listener
        Is called with each event (docs/reference/events.md), in a thread of the watch; one, or several in their order.

    Returns
    -------
    Watch
        A context manager with `stop`, `metrics_url`, `live_url` and `notes`. What was to be shown on a port that another program listens on is not
        shown, and a note says so, in the log too: the job goes on.

    Raises
    ------
    ConfigurationError
        If nothing would hear the events, if an address is none, or if the session is one of Spark Connect.
    MissingExtra
        If a library is not installed.
    """
    listeners = listeners_in(listener)
    if metrics is None and live is None and not listeners:
        raise ConfigurationError(
            "sp.watch(spark) would show nothing.",
            required="metrics=, live= or listener=: somebody who hears what Spark says.",
            remedy=f"Give a port: sp.watch(spark, {_METRICS.by(METRICS_PORT)}, {_LIVE.by(LIVE_PORT)}).",
        )
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise ConfigurationError(
            "This session is one of Spark Connect: its listener runs in the server, and not in this process.",
            required="A session that has its own JVM.",
            remedy='Make it without remote(...), such as SparkSession.builder.master("local[*]"), or by spark-submit.',
        )
    made = Watch(job or str(spark.sparkContext.appName), spark, listeners)
    try:
        made._show(_text(metrics), _text(live))
        made._hearing.begin()
    except BaseException:
        made.stop()
        raise
    return made


def _text(address: str | int | None) -> str | None:
    return None if address is None else str(address)
