"""The endpoint that Prometheus scrapes: the metrics of a run over HTTP, and whether it is alive and ready."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from streamproof.config.secret import redact
from streamproof.connectors.extras import library
from streamproof.observe.addresses import Wanted, parsed, taken, url
from streamproof.observe.health import Answer, Checked, OfPlainJob
from streamproof.observe.metric import SECONDS, Kind
from streamproof.observe.values import Durations, Values

if TYPE_CHECKING:
    from prometheus_client.core import Metric as Family

JOB = "job_name"
LEFT_OUT = "streamproof_series_left_out_total"
_WHAT = "a Prometheus endpoint"
WANTED = Wanted("metrics", "--metrics {}", 9464, "lets other machines read it, without a password")


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

    Raises
    ------
    ConfigurationError
        If the address is none, or the port is taken.
    MissingExtra
        If prometheus-client is not installed.
    """

    def __init__(self, job: str, address: str, values: Values, wanted: Wanted = WANTED, checked: Checked | None = None) -> None:
        host, port = parsed(address, wanted)
        render, asked = _renderer(Exposed(job, values)), OfPlainJob(values) if checked is None else checked
        pages: dict[str, Callable[[], tuple[int, str, bytes]]] = {
            "/metrics": render,
            "/health": lambda: _said(asked.health()),
            "/ready": lambda: _said(asked.ready()),
        }
        handler = type("Handler", (_Handler,), {"pages": pages})
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as problem:
            raise taken(host, port, wanted, problem) from problem
        self._server.daemon_threads = True
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
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, Callable[[], tuple[int, str, bytes]]]
    timeout = 10  # a client that sends nothing holds no thread for longer
    server_version = "streamproof"
    sys_version = ""

    def do_GET(self) -> None:
        page = self.pages.get(self.path.partition("?")[0])
        code, kind, content = page() if page is not None else (404, "text/plain", b"There are /metrics, /health and /ready.\n")
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
