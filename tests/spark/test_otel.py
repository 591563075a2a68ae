"""A real job on Spark, and what it sends by OpenTelemetry: to a stand-in for a collector, which decodes OTLP by OpenTelemetry's protobuf."""

import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from spark.small_job import SUMS, WINDOWED, event
from streamproof.core.phases import Phase
from streamproof.errors import StreamproofError
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.metrics import METRICS
from streamproof.observe.otel import naming
from streamproof.observe.otel.sending import OpenTelemetry
from streamproof.observe.values import Values
from streamproof.runtime.watching.events import BatchCommitted
from unit.observe.otlp import number, plain, points, receiving


def by_prometheus(url):
    """What Prometheus' text says: by metric, labels and what is said of it."""
    text = urllib.request.urlopen(url, timeout=10).read().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def by_opentelemetry(received):
    """The same of the newest metrics that came by OTLP, as Prometheus writes it."""
    newest, found = received.newest(), {}
    for metric in METRICS:
        for point in points(newest[naming.name(metric)]) if naming.name(metric) in newest else ():
            labels = plain(point.attributes)
            if not hasattr(point, "bucket_counts"):
                found[metric.full_name, tuple(sorted(labels.items()))] = number(point)
                continue
            found[f"{metric.full_name}_count", tuple(sorted(labels.items()))] = point.count
            found[f"{metric.full_name}_sum", tuple(sorted(labels.items()))] = pytest.approx(point.sum)
            counted = 0
            for bound, count in zip((*map(str, point.explicit_bounds), "+Inf"), point.bucket_counts, strict=True):
                counted += count
                found[f"{metric.full_name}_bucket", tuple(sorted({**labels, "le": bound}.items()))] = counted
    return found


def test_a_collector_gets_what_prometheus_gets_and_a_trace_of_each_batch(small_job, monkeypatch):
    job = small_job(SUMS, WINDOWED)
    for batch in range(3):
        job.feed([event(f"e{batch}{number}", 60 * batch + number, v=number - 1) for number in range(3)] + [event(f"l{batch}", 0)])
    values, said, committed = Values(), [], []

    def keep(event):
        if isinstance(event, BatchCommitted):
            committed.append(event)

    with receiving() as received, Endpoint("small", "0", values) as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", received.url)
        with OpenTelemetry("small", said.append) as sending:
            result = job.run(listener=[values, sending, keep], latency=True)
        shown = by_prometheus(endpoint.url)

    sent = by_opentelemetry(received)
    assert {*sent} == {*shown}
    moments = ("_query_started_timestamp_seconds", "_last_commit_timestamp_seconds")
    different = {key: (sent[key], shown[key]) for key in sent if sent[key] != shown[key] and not key[0].endswith(moments)}
    assert different == {}, "but for the moments when each of the two has heard an event"
    assert sent["streamproof_input_records_total", (("job_name", "small"), ("query", "sums"))] == result.rows_in == 12
    assert said == []

    batches = [span for span in received.spans() if span.name == "batch"]
    assert [plain(span.attributes)["batch"] for span in batches] == [event.batch for event in committed]
    for span, told in zip(batches, committed, strict=True):
        assert plain(span.attributes) == {
            "job": "small",
            "query": "sums",
            "batch": told.batch,
            "rows": sum(told.rows.values()),
            "input": told.counts["input"],
            "replayed": False,
        }
        below = [one for one in received.spans() if one.parent_span_id == span.span_id]
        assert [one.name for one in below] == [Phase.PLAN, Phase.WORK, Phase.STAGE, Phase.PUBLISH, Phase.COMMIT]
        assert {one.name: round((one.end_time_unix_nano - one.start_time_unix_nano) / 1e6) for one in below} == told.phases_ms
        assert span.start_time_unix_nano <= below[0].start_time_unix_nano
        assert below[-1].end_time_unix_nano <= span.end_time_unix_nano


def test_a_run_that_fails_sends_its_batch_as_an_error(small_job, monkeypatch):
    failing = 'checked = events.transform(lambda rows: rows.filter("raise_error(id) is null")).require(v="v >= 0")'
    job = small_job(SUMS.replace('checked = events.require(v="v >= 0")', failing), WINDOWED)
    job.feed([event("e-4711", 1)])

    with receiving() as received:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", received.url)
        with OpenTelemetry("small", print) as sending, pytest.raises(StreamproofError):
            job.run(listener=sending)

    (span,) = [span for span in received.spans() if span.name == "batch"]
    assert span.status.code == 2, "error"
    assert plain(span.attributes)["batch"] == 0
    assert "4711" not in str(span)
