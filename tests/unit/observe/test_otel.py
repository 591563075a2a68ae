"""OpenTelemetry: the same numbers by the same definitions, a span for each batch, and a collector that is not there stops nothing."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from streamproof.core.account import Account
from streamproof.errors import ConfigurationError
from streamproof.lab.process import free_ports
from streamproof.observe.metric import SECONDS, Kind
from streamproof.observe.metrics import METRICS
from streamproof.observe.otel import naming, sending, spans
from streamproof.observe.otel.instruments import Instruments
from streamproof.observe.otel.sending import OpenTelemetry
from streamproof.observe.otel.spans import Spans
from streamproof.observe.values import MOST_SERIES, Durations, Values
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchPublished,
    BatchStaged,
    Note,
    PublicationWaiting,
    QueryEnded,
    QueryStarted,
    RunFailed,
)
from streamproof.runtime.watching.figures import OperatorState
from streamproof.runtime.watching.result import QueryAccount
from unit.observe.otlp import plain, receiving

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
STARTED = QueryStarted("sums", "run-1", "checkpoint", {"sums": "out"}, 0)
PLANNED = BatchPlanned("sums", 4, AT, 1)
STAGED = BatchStaged("sums", 4, {"input": 10}, {"sums": 4}, replayed=True, seconds=1.0)
PUBLISHED = BatchPublished("sums", 4, "sums", 4, 0.25)
PHASES = {"plan": 100, "work": 1_200, "stage": 50, "publish": 200, "commit": 30}
COMMITTED = BatchCommitted(
    "sums",
    4,
    {"input": 10, "emitted": 7, "late": 2, "rejected": 1},
    {"sums": 4, "late": 2},
    AT,
    PHASES,
    1_600,
    5.0,
    6.0,
    (),
    (OperatorState("stateStoreSave", 8, 5, 1, 2_000, 3_000),),
)
WAITING = PublicationWaiting("sums", "sums.postgres", 3, 10.0, "refused")
ENDED = QueryEnded("sums", 1, 0, 10, {"sums": 4}, QueryAccount("sums", 10, Account.of({"emitted": 9})), 0, None)
_ENDINGS = {"s": "_seconds", "By": "_bytes"}


@pytest.fixture(autouse=True)
def without_settings(monkeypatch):
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def by_prometheus(name: str, unit: str, kind: Kind) -> str:
    """The name that the specification makes of it for Prometheus: "OTLP Metric points to Prometheus" in OpenTelemetry's data model."""
    made = re.sub(r"[^a-zA-Z0-9_:]", "_", name) + _ENDINGS.get(unit, "")
    return f"{made}_total" if kind is Kind.COUNTER else made


def test_the_names_are_those_of_opentelemetry_and_make_ours_for_prometheus():
    named = [(metric, naming.name(metric), naming.unit(metric)) for metric in METRICS]

    assert len({name for _, name, _ in named}) == len(METRICS)
    for metric, name, unit in named:
        assert by_prometheus(name, unit, metric.kind) == metric.full_name
        assert re.fullmatch(r"streamproof(\.[a-z][a-z_]*[a-z])+", name)
        assert not name.endswith(("_total", "_seconds", "_bytes")), "the unit and the kind say so"
        assert re.fullmatch(r"s|By|\{[a-z]+\}", unit), "UCUM"
    assert {(name, unit) for _, name, unit in named} >= {
        ("streamproof.batch", "s"),
        ("streamproof.phase", "s"),
        ("streamproof.records", "{record}"),
        ("streamproof.state_disk", "By"),
    }


def measured(*events, values=None):
    """What a reader of the SDK gets after these events: by name, and by the values of the labels."""
    reader, values = InMemoryMetricReader(), values or Values()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    instruments = Instruments(provider.get_meter("test"), "clicks", values)
    for event in events:
        values(event)
        instruments(event)
    data = reader.get_metrics_data()
    provider.shutdown()
    found = data.resource_metrics[0].scope_metrics[0].metrics if data is not None else []
    return values, {
        metric.name: {
            tuple(value for label, value in point.attributes.items() if label != "job_name"): point
            for point in metric.data.data_points
        }
        for metric in found
    }


def test_each_number_is_the_one_that_prometheus_gets():
    values, sent = measured(STARTED, PLANNED, STAGED, PUBLISHED, COMMITTED, replace(COMMITTED, batch=5, total_ms=45_000), WAITING)

    shown = {naming.name(metric): values.now(metric) for metric in METRICS}
    assert {name: {*series} for name, series in sent.items()} == {name: {*series} for name, series in shown.items() if series}
    for name, series in sent.items():
        for labels, point in series.items():
            value = shown[name][labels]
            assert point.attributes["job_name"] == "clicks"
            if isinstance(value, Durations):
                assert (tuple(point.explicit_bounds), list(point.bucket_counts)) == (SECONDS, value.counts)
                assert point.sum == pytest.approx(value.total)
            else:
                assert point.value == value
    assert sent["streamproof.batch"]["sums",].count == 2


def test_a_duration_as_long_as_a_bound_is_in_the_bucket_that_prometheus_has_it_in():
    _, sent = measured(*(replace(PUBLISHED, seconds=seconds) for seconds in (*SECONDS, 601.0)))

    (point,) = sent["streamproof.publish"].values()
    assert list(point.bucket_counts) == [1] * (len(SECONDS) + 1)


def test_a_series_of_a_running_query_goes_with_it_and_a_counter_stays():
    _, sent = measured(STARTED, COMMITTED, WAITING, ENDED)

    assert "streamproof.waiting_batches" not in sent
    assert sent["streamproof.batches"]["sums",].value == 1


def test_too_many_series_are_left_out_and_counted():
    events = [replace(PUBLISHED, output=f"o{number}") for number in range(MOST_SERIES + 3)]
    notes = [Note("sums", "text", f"code-{number}") for number in range(MOST_SERIES + 2)]
    _, sent = measured(*events, *notes)

    assert len(sent["streamproof.publish"]) == MOST_SERIES
    assert sent["streamproof.series_left_out"]["notes_total",].value == 2


@pytest.fixture
def traced(monkeypatch):
    """Hears events at given moments, and gives the spans."""
    exporter, clock = InMemorySpanExporter(), [AT]
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "now_utc", lambda: clock[0])

    def made(*events):
        heard = Spans(provider.get_tracer("test"), "clicks")
        for seconds, event in events:
            clock[0] = AT + timedelta(seconds=seconds)
            heard(event)
        return exporter.get_finished_spans()

    return made


def seconds(span):
    """When it begins and ends, in seconds after nine o'clock."""
    start = int(AT.timestamp() * 1e9)
    return ((span.start_time - start) / 1e9, (span.end_time - start) / 1e9)


def test_a_batch_is_a_span_with_one_for_each_phase_below_it(traced):
    found = traced((1, STARTED), (2.1, PLANNED), (3.4, STAGED), (3.6, PUBLISHED), (4.5, COMMITTED))

    *phases, batch = found
    assert batch.name == "batch"
    assert batch.parent is None
    assert seconds(batch) == (2.0, 3.6), "from where its plan began, for as long as Spark says it took"
    assert dict(batch.attributes) == {"job": "clicks", "query": "sums", "batch": 4, "rows": 6, "input": 10, "replayed": True}
    assert batch.status.status_code is StatusCode.UNSET
    assert [(span.name, *seconds(span)) for span in phases] == [
        ("plan", 2.0, 2.1),
        ("work", 2.1, 3.3),
        ("stage", 3.3, 3.35),
        ("publish", 3.35, 3.55),
        ("commit", 3.55, 3.58),
    ]
    assert {span.parent.span_id for span in phases} == {batch.context.span_id}
    (published,) = batch.events
    assert (published.name, dict(published.attributes)) == ("published", {"output": "sums", "rows": 4})


def test_each_batch_is_a_trace_of_its_own(traced):
    found = traced((1, PLANNED), (3, COMMITTED), (4, replace(PLANNED, batch=5)), (6, replace(COMMITTED, batch=5)))

    assert len({span.context.trace_id for span in found if span.name == "batch"}) == 2


def test_a_batch_whose_begin_nobody_heard_ends_when_its_end_is_heard(traced):
    *_, batch = traced((9, COMMITTED))

    assert seconds(batch) == (7.4, 9.0)


def test_a_batch_that_fails_is_an_error_by_its_name_and_not_by_what_it_says(traced):
    (batch,) = traced((2, PLANNED), (5, RunFailed("SinkUnavailable", "client 4711 is wrong", "sink-down")))

    assert (batch.name, seconds(batch)) == ("batch", (2.0, 5.0))
    assert batch.status.status_code is StatusCode.ERROR
    assert batch.attributes["error.type"] == "SinkUnavailable"
    assert batch.attributes["batch"] == 4
    assert "4711" not in batch.to_json()


def test_a_run_that_fails_between_batches_is_an_error_too(traced):
    (run,) = traced((2, RunFailed("AccountError", "one is missing", "account")))

    assert (run.name, run.status.status_code, run.attributes["code"]) == ("run", StatusCode.ERROR, "account")


def sent_to(url, monkeypatch, *events, said=None, **environment):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with OpenTelemetry("clicks", (said if said is not None else []).append) as listener:
        for event in events:
            listener(event)


EVENTS = (STARTED, PLANNED, STAGED, PUBLISHED, COMMITTED)


def test_a_collector_gets_metrics_and_spans_by_http(monkeypatch):
    said = []
    with receiving() as received:
        sent_to(received.url, monkeypatch, *EVENTS, said=said, OTEL_EXPORTER_OTLP_HEADERS="api-key=secret")

    assert received.service == "clicks"
    assert {headers["api-key"] for headers in received.headers} == {"secret"}
    assert {"streamproof.batch", "streamproof.batches"} <= {*received.newest()}
    assert sorted(span.name for span in received.spans()) == ["batch", "commit", "plan", "publish", "stage", "work"]
    assert said == []


def test_the_environment_names_the_service_and_what_is_sent(monkeypatch):
    with receiving() as received:
        sent_to(received.url, monkeypatch, *EVENTS, OTEL_SERVICE_NAME="shop", OTEL_TRACES_EXPORTER="none")

    assert received.service == "shop"
    assert received.traces == []


def test_resource_attributes_of_the_environment_are_kept(monkeypatch):
    with receiving() as received:
        sent_to(received.url, monkeypatch, *EVENTS, OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=prod")

    attributes = plain(received.metrics[-1].resource_metrics[0].resource.attributes)
    assert (attributes["service.name"], attributes["deployment.environment.name"]) == ("clicks", "prod")


def test_a_collector_that_takes_neither_metrics_nor_traces_is_said_once(monkeypatch):
    said = []
    with receiving(answers=403) as received:
        sent_to(received.url, monkeypatch, *EVENTS, said=said)

    assert (len(received.metrics), len(received.traces)) == (1, 1)
    (note,) = said
    assert f"{received.url} does not take what this run sends. The job goes on" in note


def test_a_collector_that_is_not_there_is_said_and_its_token_is_not(monkeypatch):
    (port,) = free_ports(1)
    said = []
    monkeypatch.setattr(sending, "PATIENCE_SECONDS", 0.5)

    sent_to(f"http://user:token@127.0.0.1:{port}", monkeypatch, *EVENTS, said=said, OTEL_METRIC_EXPORT_INTERVAL="50")

    (note,) = said
    assert f"http://127.0.0.1:{port} does not take" in note
    assert "token" not in note


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_what_can(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)

    with pytest.raises(ConfigurationError, match=f"{variable} is {value}") as error:
        OpenTelemetry("clicks", print)

    assert "OTLP over HTTP" in str(error.value)
