"""The endpoint that Prometheus scrapes: the metrics of a run over HTTP, and whether it is alive and ready."""

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from streamproof.config.secret import redact
from streamproof.connectors.extras import library
from streamproof.observe.addresses import (
    METRICS_PORT,
    NO_PATIENCE,
    Patience,
    Wanted,
    is_loopback,
    listening,
    means_this_machine,
    parsed,
    url,
)
from streamproof.observe.health import Answer, Checked, OfPlainJob
from streamproof.observe.metric import SECONDS, Kind
from streamproof.observe.values import Durations, Values

if TYPE_CHECKING:
    from prometheus_client.core import Metric as Family

JOB = "job_name"
LEFT_OUT = "streamproof_series_left_out_total"
_WHAT = "a Prometheus endpoint"
_LOG = logging.getLogger("streamproof.metrics")
WANTED = Wanted("metrics", "--metrics {}", METRICS_PORT, "lets other machines read it, without a password")


class Exposed:
    """The values of a run as prometheus-client collects them. Each series has the name of the job, as `job_name`: `job` is Prometheus' own."""

    def __init__(self, job: str, values: Values) -> None:
        self.job, self.values = job, values

    def collect(self) -> "Iterator[Family]":
        """A family for each metric, also where it has no series yet: a dashboard can be made before anything happened."""
        core = library("prometheus_client.core", "monitor", _WHAT)
        made = {
            Kind.GAUGE: core.GaugeMetricFamily,
            Kind.COUNTER: core.CounterMetricFamily,
            Kind.INFO: core.GaugeMetricFamily,  # its own family would want dictionaries
            Kind.HISTOGRAM: core.HistogramMetricFamily,
        }
        for metric in self.values.metrics:
            family = made[metric.kind](metric.full_name, metric.means, labels=[JOB, *metric.labels])
            for labels, value in self.values.now(metric).items():
                if isinstance(value, Durations):
                    family.add_metric([self.job, *labels], list(_buckets(value)), value.total)
                else:
                    family.add_metric([self.job, *labels], value)
            yield family
        over = core.CounterMetricFamily(
            LEFT_OUT, "Readings that were passed over, since their metric has too many series.", labels=[JOB, "metric"]
        )
        for name, readings in self.values.left_out():
            over.add_metric([self.job, name], readings)
        yield over


def _buckets(durations: Durations) -> Iterator[tuple[str, float]]:
    counted = 0
    for bound, count in zip((*map(str, SECONDS), "+Inf"), durations.counts, strict=True):
        counted += count
        yield bound, counted


class Endpoint:
    """An HTTP server in a thread of its own, for as long as a run lasts.

    `/metrics` has the metrics in Prometheus' text format. `/health` says 200 as long as the run makes progress, else 503. `/ready` says 200 once
    every query runs, until the run is to end, else 503. Both say why, and what to do, as JSON.

    Parameters
    ----------
    job
        The name of the job.
    address
        `HOST:PORT`, or a port alone: then other machines do not reach it.
    wanted
        How it was asked for; for errors.
    checked
        How the run is; a `Health` that hears its events. Without it only what the metrics tell, as of a plain PySpark job.
    patience
        For how long a port that is taken is waited for.

    Raises
    ------
    ConfigurationError
        If the address is none.
    PortTaken
        If the port is taken.
    MissingExtra
        If prometheus-client is not installed.
    """

    def __init__(
        self,
        job: str,
        address: str,
        values: Values,
        wanted: Wanted = WANTED,
        checked: Checked | None = None,
        *,
        patience: Patience = NO_PATIENCE,
    ) -> None:
        host, port = parsed(address, wanted)
        render, asked = _renderer(Exposed(job, values)), OfPlainJob(values) if checked is None else checked
        pages: dict[str, Callable[[], tuple[int, str, bytes]]] = {
            "/metrics": render,
            "/health": lambda: _said(asked.health()),
            "/ready": lambda: _said(asked.ready()),
        }
        listens = listening(host, port, wanted, patience)
        self._server = _Server(listens, type("Handler", (_Handler,), {"pages": pages}))
        self._thread = threading.Thread(target=self._server.serve_forever, name="streamproof-metrics", daemon=True)

    @property
    def url(self) -> str:
        """Where it is scraped."""
        host, port = self._server.server_address[:2]
        return url((str(host), port), "/metrics")

    def __enter__(self) -> "Endpoint":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        with suppress(OSError):  # a process that was forked meanwhile has the socket too, and would keep the port
            self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listens: socket.socket, handler: type[BaseHTTPRequestHandler]) -> None:
        place = listens.getsockname()
        super().__init__(place[:2], handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.server_address = listens, place
        self.alone = is_loopback(str(place[0]))
        """Whether only this machine reaches it."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away before it has its answer is no news; what we did wrong is said in a line, and not as a trace on the screen."""
        problem = sys.exc_info()[1]
        if not isinstance(problem, OSError):
            _LOG.warning("The metrics could not be shown: %s.", type(problem).__name__)


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, Callable[[], tuple[int, str, bytes]]]
    server: _Server
    timeout = 10  # a client that sends nothing holds no thread for longer
    server_version = "streamproof"
    sys_version = ""

    def do_GET(self) -> None:
        code, kind, content = self._answer()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 -- http.server looks for this name

    def _answer(self) -> tuple[int, str, bytes]:
        if self.server.alone and not means_this_machine(self.headers.get("host")):
            return 421, "text/plain", b"This is for this machine alone: ask for http://127.0.0.1.\n"
        page = self.pages.get(self.path.partition("?")[0])
        return page() if page is not None else (404, "text/plain", b"There are /metrics, /health and /ready.\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing: a scrape every few seconds would fill the screen."""


def _renderer(exposed: Exposed) -> Callable[[], tuple[int, str, bytes]]:
    client = library("prometheus_client", "monitor", _WHAT)
    registry = client.CollectorRegistry(auto_describe=False)
    registry.register(exposed)
    return lambda: (200, client.CONTENT_TYPE_LATEST, client.generate_latest(registry))


def _said(answer: Answer) -> tuple[int, str, bytes]:
    found = redact(json.dumps(answer.as_dict(), ensure_ascii=False))
    return answer.code, "application/json", found.encode() + b"\n"
