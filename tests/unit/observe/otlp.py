"""A stand-in for an OpenTelemetry collector: a real HTTP server that decodes what OTLP sends, by OpenTelemetry's own protobuf."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Received:
    """What has come, decoded."""

    url: str
    headers: list[dict[str, str]] = field(default_factory=list)
    metrics: list[Any] = field(default_factory=list)
    traces: list[Any] = field(default_factory=list)

    @property
    def service(self) -> str:
        return plain(self.metrics[-1].resource_metrics[0].resource.attributes)["service.name"]

    def newest(self) -> dict[str, Any]:
        """The metrics of the newest request, by name."""
        return {
            metric.name: metric
            for resource in self.metrics[-1].resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def spans(self) -> list[Any]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


def plain(attributes: Any) -> dict[str, Any]:
    """Attributes as a dict."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


def points(metric: Any) -> list[Any]:
    return list(getattr(metric, metric.WhichOneof("data")).data_points)


def number(point: Any) -> float:
    return getattr(point, point.WhichOneof("value"))


@contextmanager
def receiving(answers: int = 200) -> Iterator[Received]:
    """One that listens as long as the block lasts, and answers with this code."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            received.headers.append(dict(self.headers))
            kept, request = {
                "/v1/metrics": (received.metrics, ExportMetricsServiceRequest()),
                "/v1/traces": (received.traces, ExportTraceServiceRequest()),
            }[self.path]
            request.ParseFromString(body)
            kept.append(request)
            self.send_response(answers)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received = Received(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
