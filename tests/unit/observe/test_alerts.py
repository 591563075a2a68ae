"""Each alert fires under what it is for, and not beside it: on made-up series, by Prometheus' own test of rules."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamproof.observe.metrics import ALERTS
from streamproof.observe.rules import FILE, alert_rules

QUERY = 'job_name="clicks", query="sums"'
RUNS = {f"streamproof_query_up{{{QUERY}}}": "1x200"}


@dataclass(frozen=True)
class Case:
    """Series, a value each minute in promtool's notation; and when an alert is looked for, by minutes."""

    series: dict[str, str]
    fires_at: int
    quiet_at: int | None = None
    labels: str = QUERY


def of(name: str, values: str, labels: str = QUERY) -> dict[str, str]:
    return {f"streamproof_{name}{{{labels}}}": values}


def at(instance: str, given: dict[str, str]) -> dict[str, str]:
    """These series of one of several processes that run a job of one name: staging and production, or two pods in turn."""
    return {f'{name[:-1]}, instance="{instance}"}}': values for name, values in given.items()}


OUTPUT = f'{QUERY}, output="sums.postgres"'
CLICKS = f'{QUERY}, source="events", topic="clicks"'
INPUT = of("input_records_total", "0+600x200")
BATCHES = of("batch_seconds_sum", "0+10x200") | of("batch_seconds_count", "0+10x200")
HEARD = of("heard_interval_seconds_sum", "0+60x200") | of("heard_interval_seconds_count", "0+6x200")
DEATH = f'{QUERY}, code="DIVIDE_BY_ZERO", page="https://spark.apache.org/x"'
PRICES = f'{QUERY}, table="prices"'
DROPS = f'{QUERY}, operator="0 stateStoreSave"'
EVER = of("trigger_interval_seconds", "10x200")
CASES = {
    "StreamproofRestarts": Case(EVER | of("query_started_timestamp_seconds", "1x30 2 3 4 4x100"), 34, 32),
    "StreamproofQueryDied": Case(of("query_died", "0x10 1x10"), 11, 9),
    # Spark says something each ten seconds, and nothing after minute 60.
    "StreamproofSilent": Case(HEARD | of("last_heard_timestamp_seconds", "0+60x60 3600x60"), 71, 69),
    "StreamproofManyLate": Case(
        INPUT | of("records_total", "0+6x60 360+120x100", f'{QUERY}, place="late"'), 90, 60, f'{QUERY}, place="late"'
    ),
    "StreamproofManyRejected": Case(
        INPUT | of("records_total", "0+1x60 60+60x100", f'{QUERY}, place="rejected"'), 90, 60, f'{QUERY}, place="rejected"'
    ),
    "StreamproofWatermarkLeapt": Case(of("watermark_leapt_timestamp_seconds", "_x11 660x10"), 11, 9),
    # A batch takes a second; one begins at minute 60 and does not end.
    "StreamproofStuck": Case(BATCHES | of("batch_begun_timestamp_seconds", "0x59 3600x60"), 63, 61),
    "StreamproofWatermarkStands": Case(RUNS | INPUT | of("watermark_timestamp_seconds", "0+60x60 3600x60"), 85, 70),
    "StreamproofFallsBack": Case(
        INPUT | of("consumer_lag_records", "100x60 100+400x60", f'{CLICKS}, partition="0"'), 90, 62, f'{QUERY}, topic="clicks"'
    ),
    "StreamproofOutputWaits": Case(of("waiting_batches", "0x10 3x10", OUTPUT), 14, 11, OUTPUT),
    "StreamproofStateGrows": Case(
        of("state_disk_bytes", "2000000000+10000000x3000", f'{QUERY}, operator="0 keyed"'),
        1_700,
        1_000,
        f'{QUERY}, operator="0 keyed"',
    ),
    "StreamproofLateRowsDropped": Case(of("state_rows_dropped_timestamp_seconds", "_x11 660x10", DROPS), 11, 9, DROPS),
    "StreamproofTableStays": Case(of("table_read_failed_timestamp_seconds", "_x11 660x10", PRICES), 11, 9, PRICES),
    "StreamproofBackupOld": Case(of("newest_backup_timestamp_seconds", "0x200") | of("backup_interval_seconds", "900x200"), 46, 44),
}
HOURLY = "_x10 10x59 20x59 30x59 40x59 50x59"
LATE, FRESH = f'{QUERY}, place="late", instance="a"', f'{QUERY}, topic="clicks", instance="b"'
FURTHER = {
    "one of two instances has late records": (
        "StreamproofManyLate",
        Case(
            at("a", INPUT | of("records_total", "0+6x60 360+120x100", f'{QUERY}, place="late"'))
            | at("b", INPUT | of("records_total", "0+6x200", f'{QUERY}, place="late"')),
            90,
            60,
            LATE,
        ),
    ),
    "a new pod takes over, and falls back as the one before": (
        "StreamproofFallsBack",
        Case(
            at("a", of("input_records_total", "0+600x40") | of("consumer_lag_records", "100+4000x40", f'{CLICKS}, partition="0"'))
            | at(
                "b",
                of("input_records_total", "_x41 0+600x100")
                | of("consumer_lag_records", "_x41 160000+4000x100", f'{CLICKS}, partition="0"'),
            ),
            54,
            5,
            FRESH,
        ),
    ),
    "rows are dropped in the first batch of a watch": (
        "StreamproofLateRowsDropped",
        Case(
            of("state_dropped_rows_total", "_x10 4x60", DROPS) | of("state_rows_dropped_timestamp_seconds", "_x10 600x60", DROPS),
            12,
            30,
            DROPS,
        ),
    ),
    "as many rows are dropped in each of two runs on one machine": (
        "StreamproofLateRowsDropped",
        Case(
            of("state_dropped_rows_total", "0 4x14 _ 4x60", DROPS)
            | of("state_rows_dropped_timestamp_seconds", "_ 30x14 _ 930x60", DROPS),
            25,
            35,
            DROPS,
        ),
    ),
    "it is known what a query died of": (
        "StreamproofQueryDied",
        Case(of("query_died", "0x10 1x10") | of("last_failure_info", "_x10 1x10", DEATH), 11, 9, DEATH),
    ),
    "the watermark leaps in the first batch, before Prometheus asks": (
        "StreamproofWatermarkLeapt",
        Case(of("watermark_leaps_total", "_x2 1x60") | of("watermark_leapt_timestamp_seconds", "_x2 90x60"), 3, 30),
    ),
    "the watermark leaps once in each of two runs on one machine": (
        "StreamproofWatermarkLeapt",
        Case(
            of("watermark_leaps_total", "0 1x14 _ 1x60") | of("watermark_leapt_timestamp_seconds", "_ 30x14 _ 930x60"),
            25,
            35,
        ),
    ),
    "the watermark leaps, and the run ends": (
        "StreamproofWatermarkLeapt",
        Case(of("watermark_leaps_total", "0x4 1") | of("watermark_leapt_timestamp_seconds", "_x5 290"), 15, 21),
    ),
    "a table cannot be read once in each of two runs on one machine": (
        "StreamproofTableStays",
        Case(
            of("table_reads_failed_total", "0 1x29 _ 1x60", PRICES)
            | of("table_read_failed_timestamp_seconds", "_ 30x29 _ 1830x60", PRICES),
            45,
            65,
            PRICES,
        ),
    ),
    "Spark says nothing of the first batch": ("StreamproofSilent", Case(of("last_heard_timestamp_seconds", "0x60"), 31, 29)),
    "Spark says nothing for twice the interval of the trigger": (
        "StreamproofSilent",
        Case(of("last_heard_timestamp_seconds", "0x200") | of("trigger_interval_seconds", "3600x200"), 121, 119),
    ),
    "Kubernetes starts a job that dies again after longer and longer pauses": (
        "StreamproofRestarts",
        Case(
            # A life of a minute, then five minutes without one.
            of("query_started_timestamp_seconds", " ".join(f"{360 * number} _x4" for number in range(33)))
            | of("trigger_interval_seconds", " ".join(["10 _x4"] * 33)),
            118,
            10,
        ),
    ),
    "an available-now job dies in its batch each time that a timer starts it": (
        "StreamproofRestarts",
        Case(
            of("query_started_timestamp_seconds", " ".join(f"{600 * number} _x9" for number in range(12)))
            | of("batch_resumed_timestamp_seconds", "_x10 " + " ".join(f"{600 * number} _x9" for number in range(1, 12))),
            31,
            25,
        ),
    ),
    "the watermark stands, and a batch comes each hour": (
        "StreamproofWatermarkStands",
        Case(RUNS | of("input_records_total", HOURLY) | of("watermark_timestamp_seconds", "1000x300"), 200, 83),
    ),
    "the watermark stands, and a batch comes each ten minutes": (
        "StreamproofWatermarkStands",
        Case(
            RUNS
            | of("input_records_total", "_x10 10x9 20x9 30x9 40x9 50x9 60x9 70x9 80x9")
            | of("watermark_timestamp_seconds", "1000x200"),
            60,
            34,
        ),
    ),
    "the first batch hangs": ("StreamproofStuck", Case(of("batch_begun_timestamp_seconds", "60x200"), 120, 30)),
    # Of the last hour nothing is left to compare with then.
    "a batch hangs for hours, and took five minutes before": (
        "StreamproofStuck",
        Case(
            of("batch_seconds_sum", "0+60x60 3600x300")
            | of("batch_seconds_count", "0+0.2x60 12x300")
            | of("batch_begun_timestamp_seconds", "0x59 3600x300"),
            180,
            109,
        ),
    ),
    "a batch hangs, and took forty minutes before": (
        "StreamproofStuck",
        Case(
            of("batch_seconds_sum", "2400x39 4800x700")
            | of("batch_seconds_count", "1x39 2x700")
            | of("batch_begun_timestamp_seconds", "1x39 2400x700"),
            450,
            430,
        ),
    ),
    "a batch hangs after a restart, and took a second before": (
        "StreamproofStuck",
        Case(
            of("batch_seconds_sum", "0+10x60 _x200")
            | of("batch_seconds_count", "0+10x60 _x200")
            | of("batch_begun_timestamp_seconds", "0x60 _ 3720x200"),
            180,
            61,
        ),
    ),
}
QUIET = {
    "one of two instances has nothing to do": at(
        "a", RUNS | INPUT | of("watermark_timestamp_seconds", "0+60x200") | of("query_up", "1x200")
    )
    | at("b", RUNS | of("input_records_total", "7x200") | of("watermark_timestamp_seconds", "7x200")),
    "a job that has nothing to do": RUNS
    | of("newest_backup_timestamp_seconds", "0x14 900x14 1800x14 2700x14 3600x14 4500+60x130")
    | of("backup_interval_seconds", "900x200")
    | of("batch_begun_timestamp_seconds", "0x200")
    | of("input_records_total", "7x200")
    | of("watermark_timestamp_seconds", "7x200"),
    "a job that is well": RUNS
    | INPUT
    | BATCHES
    | of("batch_begun_timestamp_seconds", "0+60x200")
    | of("watermark_timestamp_seconds", "0+60x200")
    | of("records_total", "0+10x200", f'{QUERY}, place="late"')
    | of("consumer_lag_records", "100 200 100 300x200", f'{CLICKS}, partition="0"')
    | of("waiting_batches", "0x5 1 0x200", OUTPUT)
    | of("query_started_timestamp_seconds", "1x200"),
    "a plain PySpark job that is well": RUNS
    | HEARD
    | of("last_heard_timestamp_seconds", "0+60x200")
    | of("query_died", "0x200")
    | of("state_dropped_rows_total", "0x200", DROPS),
    "a plain PySpark job with a batch each hour": RUNS
    | of("heard_interval_seconds_sum", "0x59 3600x60 7200x100")
    | of("heard_interval_seconds_count", "0x59 1x60 2x100")
    | of("last_heard_timestamp_seconds", "3000x50 3600x69 7200x100"),
    "a job whose batches take an hour": of("batch_seconds_sum", "3600x59 7200x59 10800x59 14400x30")
    | of("batch_seconds_count", "1x59 2x59 3x59 4x30")
    | of("batch_begun_timestamp_seconds", "1x59 3601x59 7201x59 10801x30"),
    "a job whose batches take an hour, which is started again on its machine": of("batch_seconds_sum", "3600x20 _x300")
    | of("batch_seconds_count", "1x20 _x300")
    | of("batch_begun_timestamp_seconds", "1x20 _x39 3600x55 _x100"),
    "a plain PySpark job whose trigger is an hour, and that has just begun": RUNS
    | of("trigger_interval_seconds", "_x60 3600x140")
    | of("last_heard_timestamp_seconds", "_x61 3660x58 7200x80"),
    "a plain PySpark job whose trigger is an hour, and that has begun a minute before the hour": RUNS
    | of("trigger_interval_seconds", "_x60 3600x140")
    | of("heard_interval_seconds_sum", "_x62 60x57 3600x80")
    | of("heard_interval_seconds_count", "_x62 1x57 2x80")
    | of("last_heard_timestamp_seconds", "_x61 3660 3720x57 7200x80"),
    "an available-now job that a timer starts each three minutes": of(
        "query_started_timestamp_seconds", " ".join(f"{180 * number} _x1" for number in range(67))
    ),
    "a job that is started three times within an hour": of("trigger_interval_seconds", "10x200")
    | of("query_started_timestamp_seconds", "1x30 2x20 3x150"),
    "a job with a batch of ten minutes each hour": RUNS
    | of("watermark_timestamp_seconds", "1000x76 4600x59 8200x59 11800x30")
    | of("input_records_total", "0x26 1000x59 2000x59 3000x60"),
    "a job with a batch of ten minutes each hour, and a second batch right after it": RUNS
    | of("watermark_timestamp_seconds", "1000x76 4600x59 8200x59 11800x30")
    | of("input_records_total", "0x26 1000 1100x58 2000 2100x58 3000x60"),
    "a job whose batches take a minute": of("batch_seconds_sum", "0+60x200")
    | of("batch_seconds_count", "0+1x200")
    | of("batch_begun_timestamp_seconds", "-300+60x200"),
    "a query that has read everything, beside one that runs": RUNS | of("query_up", "0x200", 'job_name="other", query="sums"'),
}


def promtool() -> str:
    """Prometheus' own tool; without it the test is skipped, and fails where CI is set."""
    found = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if found is None:
        why = "promtool is not there: install Prometheus, or name the program in PROMTOOL"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return found


def verdict(folder: Path, *tests: dict[str, object]) -> str:
    """What promtool says of tests; empty where they hold."""
    (folder / FILE).write_text(alert_rules())
    (folder / "tests.yml").write_text(json.dumps({"rule_files": [FILE], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run([promtool(), "test", "rules", "tests.yml"], cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}"


def series(given: dict[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": values} for name, values in given.items()]


def counted(name: str, at: int, firing: int, labels: str = "") -> dict[str, object]:
    """That an alert fires for so many series with these labels. Its texts are not compared."""
    expr = f'count(ALERTS{{alertname="{name}", alertstate="firing", {labels}}}) or vector(0)'
    return {"expr": expr, "eval_time": f"{at}m", "exp_samples": [{"labels": "{}", "value": firing}]}


def test_the_alert_of_a_query_that_died_says_the_code_and_its_page_once(tmp_path):
    """A query that died twice has one code, the last; one that is not known keeps no alert from firing."""
    ((alert,),) = ([alert for _, alert in ALERTS if alert.name == "StreamproofQueryDied"],)
    annotations = {
        "summary": "clicks: query sums has died, and its process goes on.",
        "description": alert.todo,
        "runbook": "streamproof-runbook.md#streamproof_query_died",
        "code": "DIVIDE_BY_ZERO",
        "page": "https://spark.apache.org/x",
    }
    labels = {"severity": "page", **dict(re.findall(r'(\w+)="([^"]*)"', DEATH))}
    fired = {"eval_time": "11m", "alertname": alert.name, "exp_alerts": [{"exp_labels": labels, "exp_annotations": annotations}]}
    given = of("query_died", "0x10 1x10") | of("last_failure_info", "_x10 1x10", DEATH)

    assert not verdict(tmp_path, {"interval": "1m", "input_series": series(given), "alert_rule_test": [fired]})


def test_every_alert_has_a_case():
    assert [*CASES] == [alert.name for _, alert in ALERTS]


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_of_each_of_two_instances_that_have_one_name(tmp_path, name):
    """Prometheus refuses a rule for all jobs where two series on its right have the labels that it matches by."""
    case = CASES[name]
    asked = [counted(name, case.fires_at, 1, f'{case.labels}, instance="{instance}"') for instance in "ab"]

    given = at("a", case.series) | at("b", case.series)
    assert verdict(tmp_path, {"interval": "1m", "input_series": series(given), "promql_expr_test": asked}) == ""


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_under_what_it_is_for_and_not_before(tmp_path, name):
    case = CASES[name]
    asked = [counted(name, case.fires_at, 1, case.labels)]
    asked += [] if case.quiet_at is None else [counted(name, case.quiet_at, 0)]

    assert verdict(tmp_path, {"interval": "1m", "input_series": series(case.series), "promql_expr_test": asked}) == ""


@pytest.mark.parametrize("what", FURTHER)
def test_an_alert_fires_in_a_further_case(tmp_path, what):
    name, case = FURTHER[what]
    asked = [counted(name, case.fires_at, 1, case.labels), counted(name, case.quiet_at or 0, 0)]

    assert verdict(tmp_path, {"interval": "1m", "input_series": series(case.series), "promql_expr_test": asked}) == ""


@pytest.mark.parametrize("what", QUIET)
def test_no_alert_fires_where_all_is_well(tmp_path, what):
    asked = [counted(alert.name, at, 0) for _, alert in ALERTS for at in (30, 100, 199)]

    assert verdict(tmp_path, {"interval": "1m", "input_series": series(QUIET[what]), "promql_expr_test": asked}) == ""
