"""Metrics: what events make of them, what Prometheus gets, and that alerts and dashboard are about metrics that there are."""

import gc
import json
import re
import tracemalloc
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streamproof.connectors.lag import Lag
from streamproof.core.account import Account
from streamproof.observe.dashboard import dashboard, expression
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.metric import Kind
from streamproof.observe.metrics import ALERTS, METRICS, OF_PLAIN_JOBS
from streamproof.observe.metrics.queries import DIED, LAST_FAILURE, UP
from streamproof.observe.moment import Moment
from streamproof.observe.rules import alert_rules
from streamproof.observe.runbook import runbook
from streamproof.observe.values import MOST_SERIES, Values
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchPublished,
    HotKey,
    Note,
    PublicationWaiting,
    QueryEnded,
    QueryStarted,
    RuleRejected,
    RunFailed,
    TableRead,
    TableStays,
    WatermarkLeapt,
)
from streamproof.runtime.watching.failure import Failure
from streamproof.runtime.watching.figures import OperatorState
from streamproof.runtime.watching.latency import Latency, Since
from streamproof.runtime.watching.result import QueryAccount
from streamproof.runtime.watching.watched import Watched
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted

SAID = Path(__file__).parents[1] / "runtime" / "data" / "spark_says" / "4.3.0.jsonl"
PLAIN = Watched()
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
STARTED = QueryStarted("sums", "run-1", "checkpoint", {"sums": "out"}, 0, trigger_seconds=10.0, resumes=True)
PLANNED = BatchPlanned("sums", 0, AT, 1)
ENDED = QueryEnded("sums", 1, 0, 10, {"sums": 4}, QueryAccount("sums", 10, Account.of({"emitted": 9})), 0, None)


def committed(batch=0, total_ms=1_500, lag=7):
    return BatchCommitted(
        "sums",
        batch,
        {"input": 10, "emitted": 7, "late": 2, "rejected": 1, "filtered.small": 3},
        {"sums": 4},
        AT,
        {"plan": 100, "work": 1_200, "publish": 200},
        total_ms,
        5.0,
        6.0,
        (Lag("events", "clicks", 3, 93, 100, lag),),
        (OperatorState("stateStoreSave", None, 5, 1, 2_000, 3_000), OperatorState("dedupe", 8, 5, 0, 100, None)),
        (Latency("events", Since.APPEND, 10, 1_500, 9_500, 9_900, 10_000),),
    )


def shown(values, job="clicks"):
    """What Prometheus reads, by name and labels."""
    with Endpoint(job, "0", values) as endpoint:
        text = urllib.request.urlopen(endpoint.url, timeout=5).read().decode()
    labels = {metric.full_name: metric.labels for metric in METRICS}
    return {
        (
            sample.name,
            *(
                sample.labels[name]
                for name in labels.get(family.name, labels.get(f"{family.name}_total", sorted({*sample.labels} - {"job_name"})))
            ),
            *([sample.labels["le"]] if "le" in sample.labels else []),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels["job_name"] == job
    }


def heard(*events):
    values = Values()
    for event in events:
        values(event)
    return values


def values_of(events, values):
    for event in events:
        values(event)


def test_a_batch_is_shown_with_its_phases_records_lag_and_state():
    found = shown(heard(STARTED, PLANNED, committed(), PLANNED, committed(1, total_ms=45_000, lag=9)))

    assert found["streamproof_query_up", "sums"] == 1
    assert found["streamproof_batches_total", "sums"] == 2
    assert found["streamproof_input_records_total", "sums"] == 20
    assert found["streamproof_record_latency_seconds", "sums", "events", "append", "0.95"] == 9.5
    places = {key[2]: value for key, value in found.items() if key[0] == "streamproof_records_total"}
    assert places == {"emitted": 14, "late": 4, "rejected": 2}, "the parts of a place are no places"
    assert found["streamproof_phase_seconds_total", "sums", "work"] == pytest.approx(2.4)
    assert found["streamproof_consumer_lag_records", "sums", "events", "clicks", "3"] == 9
    assert found["streamproof_state_disk_bytes", "sums", "0 stateStoreSave"] == 3_000
    assert ("streamproof_state_disk_bytes", "sums", "1 dedupe") not in found
    assert found["streamproof_state_rows", "sums", "1 dedupe"] == 8
    assert found["streamproof_state_updated_rows_total", "sums", "0 stateStoreSave"] == 10
    assert found["streamproof_watermark_timestamp_seconds", "sums"] == AT.timestamp()
    buckets = {key[2]: value for key, value in found.items() if key[0] == "streamproof_batch_seconds_bucket"}
    assert (buckets["1.0"], buckets["2.5"], buckets["30.0"], buckets["60.0"], buckets["+Inf"]) == (0, 1, 1, 2, 2)
    assert found["streamproof_batch_seconds_sum", "sums"] == pytest.approx(46.5)


def test_a_batch_is_under_way_from_its_plan_to_its_commit():
    begun = ("streamproof_batch_begun_timestamp_seconds", "sums")
    before = datetime.now(UTC).timestamp()

    assert before - 1 <= shown(heard(STARTED, PLANNED))[begun] <= before + 60
    assert shown(heard(STARTED, PLANNED, committed()))[begun] == 0


def test_what_waits_and_what_went_wrong_is_shown():
    found = shown(
        heard(
            STARTED,
            PublicationWaiting("sums", "sums.postgres", 3, 10.0, "refused"),
            WatermarkLeapt("sums", 4, None, AT),
            HotKey("sums", 4, "keyed", ("client",), "17", 0.8, 5_000),
            TableRead("sums", "prices", "v1", 300, 0),
            TableStays("sums", "prices", "v1", "gone", 5),
            RuleRejected("sums", "limits", "big", "no condition", True, 5),
            Note("sums", "text", "hot-key"),
        )
    )

    assert found["streamproof_waiting_batches", "sums", "sums.postgres"] == 3
    assert found["streamproof_watermark_leaps_total", "sums"] == 1
    assert found["streamproof_hot_key_share", "sums", "keyed"] == 0.8
    assert found["streamproof_table_rows", "sums", "prices"] == 300
    assert found["streamproof_table_reads_failed_total", "sums", "prices"] == 1
    assert found["streamproof_rules_rejected_total", "sums", "limits"] == 1
    assert found["streamproof_notes_total", "sums", "hot-key"] == 1


def test_an_alert_on_one_event_asks_for_its_moment_and_no_rise_of_a_counter():
    """A counter that is 1 when Prometheus first sees it, or 1 again after a restart, has not risen."""

    def plain(batch, dropped):
        state = OperatorState("stateStoreSave", 1, 1, 0, 1, None, dropped=dropped)
        return BatchCommitted("sums", batch, {}, {}, None, {}, state=(state,))

    moments = {
        ("streamproof_watermark_leapt_timestamp_seconds", "sums"),
        ("streamproof_table_read_failed_timestamp_seconds", "sums", "prices"),
        ("streamproof_state_rows_dropped_timestamp_seconds", "sums", "0 stateStoreSave"),
    }
    well = [STARTED, TableRead("sums", "prices", "v1", 300, 0), plain(0, 0)]
    assert not moments & shown(heard(*well)).keys()

    failed = [WatermarkLeapt("sums", 1, None, AT), TableStays("sums", "prices", "v1", "gone", 1), plain(1, 3)]
    found = shown(heard(*well, *failed, plain(2, 0)))

    assert {name: found[name] for name in moments} == dict.fromkeys(moments, pytest.approx(datetime.now(UTC).timestamp(), abs=60))
    assert not [alert.name for _, alert in ALERTS if re.match(r"increase\(streamproof_\w+\[\w+\]\) > 0", alert.when)]


def test_the_age_of_the_newest_backup_is_shown_and_a_failure_does_not_make_it_younger():
    made = BackedUp("sums", 4, "backup/1", 7, 1_000, 0.5, 900.0)
    newest = ("streamproof_newest_backup_timestamp_seconds", "sums")

    assert shown(heard(STARTED, made))[newest] == pytest.approx(datetime.now(UTC).timestamp(), abs=60)
    assert shown(heard(STARTED, made, BackupFailed("sums", "the disk is full", AT, 900.0)))[newest] == AT.timestamp()
    assert shown(heard(STARTED, BackupFailed("sums", "the disk is full", None, 900.0)))[newest] == 0
    assert newest not in shown(heard(STARTED, made, ENDED))


def test_what_is_of_a_query_that_runs_ends_with_it():
    found = shown(heard(STARTED, PLANNED, committed(), BatchPublished("sums", 0, "sums", 4, 0.2, 2), ENDED))

    assert found["streamproof_query_up", "sums"] == 0
    assert found["streamproof_rows_published_total", "sums", "sums"] == 4
    assert not [
        key
        for key in found
        if key[0] in {"streamproof_consumer_lag_records", "streamproof_waiting_batches", "streamproof_state_disk_bytes"}
    ]


def test_series_beyond_the_bound_are_counted_and_not_shown():
    values = Values()
    for number in range(MOST_SERIES + 5):
        values(TableRead("sums", f"table{number}", "v", 1, 0))

    found = shown(values)

    assert sum(key[0] == "streamproof_table_rows" for key in found) == MOST_SERIES
    assert found["streamproof_series_left_out_total", "table_rows"] == 5


def test_the_series_of_the_query_that_ended_longest_ago_make_room_for_those_of_one_that_runs():
    """A query without a checkpoint has another id, and so another name, whenever it is started."""
    values = Values(OF_PLAIN_JOBS)
    for number in range(MOST_SERIES):
        values(WatchedStarted(f"q{number}", f"r{number}", f"i{number}"))
        values(WatchedEnded(f"q{number}", f"r{number}", None))
    values(WatchedStarted("q0", "r", "i0"))  # it runs again

    values(WatchedStarted("important", "run", "id"))
    values(WatchedEnded("important", "run", "ZeroDivisionError"))

    up, died = values.now(UP), values.now(DIED)
    assert (up["q0",], up["important",], died["important",]) == (1, 0, 1)
    assert ("q1",) not in up, "it ended longest ago"
    assert ("q2",) in up
    assert len(up) == MOST_SERIES
    assert [*values.left_out()] == []


def test_queries_that_come_and_go_fill_no_memory():
    values = Values(OF_PLAIN_JOBS)
    for number in range(MOST_SERIES + 3):
        values(WatchedStarted(f"q{number}", f"r{number}", f"i{number}"))
        values(WatchedEnded(f"q{number}", f"r{number}", "ZeroDivisionError"))

    assert len(values._ended) == MOST_SERIES
    assert len(values.now(LAST_FAILURE)) == MOST_SERIES
    assert ("q2",) not in values.now(UP)


def test_of_a_query_the_last_failure_is_shown_by_its_code_and_no_other():
    values = Values()
    for code in ("data", "sink-unavailable"):
        values(RunFailed("SinkError", "a text with ann@example.org", code, Failure("clicks", "sums")))
    values(WatchedEnded("other", "run", "DIVIDE_BY_ZERO SparkArithmeticException"))

    found = {key[1:]: value for key, value in shown(values).items() if key[0] == "streamproof_last_failure_info"}

    assert found == {
        ("sums", "sink-unavailable", "docs/reference/codes.md#error-sink-unavailable"): 1,
        ("other", "DIVIDE_BY_ZERO SparkArithmeticException", "https://spark.apache.org/docs/latest/sql-error-conditions.html"): 1,
    }


def test_a_plain_job_is_shown_as_far_as_spark_tells():
    values = Values(OF_PLAIN_JOBS)
    for line in SAID.read_text().splitlines():
        told = json.loads(line)
        if told["what"] == "progress":
            values_of(PLAIN.progressed(told["progress"]), values)
        elif told["what"] == "terminated":
            values_of(PLAIN.ended(told["id"], told["run"], told["exception"], told["error_class"]), values)
    found = shown(values)
    ((dead,),) = [key[1:] for key, value in found.items() if key[0] == "streamproof_query_died" and value == 1]

    assert found["streamproof_query_up", "counts"] == found["streamproof_query_up", dead] == 0
    assert found["streamproof_query_died", "counts"] == 0
    assert found["streamproof_batches_total", "counts"] == 4
    assert found["streamproof_input_records_total", "counts"] == 15
    assert found["streamproof_state_dropped_rows_total", "counts", "0 stateStoreSave"] == 4
    assert {key[2] for key in found if key[0] == "streamproof_phase_seconds_total"} == {"plan", "work-and-write", "commit"}
    names = {key[0] for key in found}
    assert not {name for name in names if "latency" in name or "records_total" in name} - {"streamproof_input_records_total"}
    assert "streamproof_batch_begun_timestamp_seconds" not in names
    assert "streamproof_watermark_leaps_total" not in names


def test_what_a_plain_job_has_is_in_the_guide_and_nothing_else():
    page = (Path(__file__).parents[3] / "docs" / "guides" / "watching.md").read_text()
    _, _, section = page.partition("## A job that nobody wrote for Streamproof")

    told = set(re.findall(r"`(streamproof_\w+)`", section.partition("What Spark does not tell")[0]))
    assert told == {metric.full_name for metric in OF_PLAIN_JOBS}


def test_names_are_those_that_prometheus_asks_for():
    names = [metric.full_name for metric in METRICS]
    assert len(names) == len({*names})
    for metric in METRICS:
        assert metric.full_name.endswith("_total") == (metric.kind is Kind.COUNTER)
        assert metric.kind is not Kind.HISTOGRAM or metric.full_name.endswith("_seconds")
        assert metric.means.endswith(".")
        assert metric.bad.endswith(".")
        assert metric.todo.endswith(".")


SUFFIXES = r"(_bucket|_sum|_count)?$"


@pytest.mark.parametrize("said", [*(alert.condition() for _, alert in ALERTS), *map(expression, METRICS)])
def test_what_is_asked_is_of_metrics_that_there_are(said):
    asked = re.findall(r"streamproof_\w+", said)
    assert asked
    for name in asked:
        assert any(re.fullmatch(metric.full_name + SUFFIXES, name) for metric in METRICS), name
    labels = {label for metric in METRICS for label in metric.labels} | {"job_name", "le"}
    assert {
        label.strip() for group in re.findall(r"(?:by|on|without|ignoring) \(([^)]*)\)", said) for label in group.split(",")
    } <= labels


def test_each_alert_says_whom_it_is_about_and_what_to_do():
    for metric, alert in ALERTS:
        assert "{{ $labels.job_name }}" in alert.says
        assert {*re.findall(r"\$labels\.(\w+)", alert.says)} <= {"job_name", *metric.labels}
        assert alert.todo.endswith(".")


def test_the_reference_is_the_runbook():
    page = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"

    assert page.read_text() == runbook(), "write it anew: streamproof monitoring DIR, and copy DIR/streamproof-runbook.md"


def test_the_rules_are_yaml_with_every_alert():
    yaml = pytest.importorskip("yaml")
    ((group,),) = yaml.safe_load(alert_rules()).values()

    assert [rule["alert"] for rule in group["rules"]] == [alert.name for _, alert in ALERTS]
    assert [rule["expr"] for rule in group["rules"]] == [alert.condition() for _, alert in ALERTS]


def test_the_dashboard_has_a_panel_for_each_metric():
    panels = json.loads(dashboard())["panels"]
    flat = [panel for row in panels for panel in (row, *row.get("panels", ()))]

    assert [panel["title"] for panel in flat if panel["type"] != "row"] == [metric.name for metric in METRICS]
    assert {query["expr"] for panel in flat for query in panel.get("targets", ())} == {*map(expression, METRICS)}


def test_readings_fit_their_labels():
    """Each kind of event that a metric reads gives as many label values as it has labels."""
    events = [
        STARTED,
        PLANNED,
        committed(),
        ENDED,
        BatchPublished("sums", 0, "sums", 4, 0.2),
        PublicationWaiting("sums", "sums", 1, 1.0, "refused"),
        WatermarkLeapt("sums", 4, None, AT),
        HotKey("sums", 4, "keyed", ("client",), "17", 0.8, 5_000),
        TableRead("sums", "prices", "v1", 300, 0),
        TableStays("sums", "prices", "v1", "gone", 5),
        RuleRejected("sums", "limits", "big", "no condition", True, 5),
        Note("sums", "text", "hot-key"),
        BackedUp("sums", 4, "backup/1", 7, 1_000, 0.5, 900.0),
        BackupFailed("sums", "the disk is full", None, 900.0),
        WatchedStarted("sums", "run-1", "a1b2", 10.0),
        WatchedHeard("sums", 0, 10.0, AT),
        WatchedEnded("sums", "run-1", "IOException"),
        BatchCommitted(
            "sums", 0, {}, {}, AT, {}, newest_event=AT, state=(OperatorState("stateStoreSave", 1, 1, 0, 1, None, dropped=4),)
        ),
    ]
    for metric in METRICS:
        readings = [
            reading for event in events if type(event) in metric.readings for reading in metric.readings[type(event)](event)
        ]
        assert readings or metric.name == "batch_limit", metric.name
        assert {len(labels) for labels, _ in readings} <= {len(metric.labels)}


class Clocks:
    """Both clocks, in the hands of a test."""

    def __init__(self):
        self.wall, self.steady = AT, 5_000.0

    def __call__(self):
        return Moment(self.wall, self.steady)

    def pass_(self, seconds):
        self.wall, self.steady = self.wall + timedelta(seconds=seconds), self.steady + seconds


@pytest.mark.parametrize("days", [1, -1], ids=["forth", "back"])
def test_a_clock_that_jumps_changes_no_age(days):
    clocks = Clocks()
    values = Values(clock=clocks)
    values_of([STARTED, PLANNED], values)
    (under_way,) = [metric for metric in METRICS if metric.name == "batch_begun_timestamp_seconds"]
    clocks.pass_(100)
    assert values.now(under_way) == {("sums",): AT.timestamp()}

    clocks.wall += timedelta(days=days)
    clocks.pass_(20)

    ((_, begun),) = values.now(under_way).items()
    assert clocks.wall.timestamp() - begun == pytest.approx(120), "what the alert on it goes by"


def test_a_moment_is_told_alike_each_time_although_clocks_run_apart_a_little():
    """Prometheus counts how often `query_started_timestamp_seconds` changes."""
    clocks = Clocks()
    values = Values(clock=clocks)
    values(STARTED)
    (started,) = [metric for metric in METRICS if metric.name == "query_started_timestamp_seconds"]
    told = set()
    for _ in range(100):
        clocks.pass_(15)
        clocks.wall += timedelta(milliseconds=1)
        told |= set(values.now(started).values())
    assert told == {AT.timestamp()}


def test_without_anybody_who_scrapes_the_memory_is_bounded():
    """Whatever hears a run for its metrics, its health and its page, and nobody ever asks them."""
    from streamproof.observe.health import Health
    from streamproof.observe.live.board import RunBoard

    listeners = [Values(), Health(), RunBoard("clicks")]

    def run(batches):
        for number in batches:
            for event in (replace(PLANNED, batch=number), committed(number), Note("sums", f"note {number}", "hot-key")):
                for listener in listeners:
                    listener(event)

    for listener in listeners:
        listener(STARTED)
    run(range(1_500))
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run(range(1_500, 3_500))
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 160_000, f"2,000 batches have left {grown:,} bytes"
