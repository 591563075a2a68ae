"""`sp.watch` without Spark: what it refuses, and what the live page shows of a plain PySpark job."""

import json
import socket
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.errors import ConfigurationError
from streamproof.observe.live.board import RunBoard
from streamproof.observe.plain.hearing import Hearing
from streamproof.runtime.watching.watched import Watched
from unit.observe.live_samples import Clock

SAID = Path(__file__).parents[1] / "runtime" / "data" / "spark_says" / "4.3.0.jsonl"
SPARK = SimpleNamespace(sparkContext=SimpleNamespace(appName="clicks"), streams=SimpleNamespace(active=[]))


def board(clock: Clock, *, ended: bool = True) -> RunBoard:
    """What was heard of a job of two queries, one of which dies; `ended`: until both have ended."""
    made, known = RunBoard("clicks", clock), Watched(clock=lambda: clock.steady)
    for line in SAID.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        clock.pass_(2)
        events = {
            "started": lambda told: known.started(told["id"], told["run"], told["name"]),
            "progress": lambda told: known.progressed(told["progress"]),
            "idle": lambda told: known.idle(told["id"], told["run"]),
            "terminated": lambda told: known.ended(told["id"], told["run"], told["exception"], told["error_class"]),
        }[told["what"]](told)
        for event in events if ended or told["what"] != "terminated" else ():
            made(event)
    return made


def test_the_page_shows_a_query_that_has_died_and_late_rows_that_were_dropped():
    page = board(Clock()).now()

    assert page["word"] == "stopped"
    assert page["why"].startswith("A query has died: f2304373 of FOREACH_BATCH_USER_FUNCTION_ERROR ZeroDivisionError.")
    counts, dead = page["queries"]
    assert (counts["doing"], dead["doing"]) == ("ended", "died")
    assert (counts["account"], counts["read"], counts["committed"]) == (None, 15, 4)
    assert [state["dropped"] for state in counts["state"]] == [4]
    assert page["phases"] == ["plan", "work-and-write", "commit"]
    assert all(batch["phases_ms"][1] for batch in counts["batches"])
    assert counts["times"]["watermark"] == "2026-01-05T09:10:00+00:00"
    assert {trouble["code"] for trouble in page["troubles"]} == {"query-unnamed", "query-died", "late-rows-dropped"}
    assert all(trouble["todo"] for trouble in page["troubles"] if trouble["code"] != "query-unnamed")


def test_the_page_says_that_a_query_has_died_after_the_watch_too():
    made = board(Clock())
    made.close(None)

    assert made.now()["word"] == "stopped"


def test_a_query_of_which_spark_says_nothing_more_is_stuck():
    clock = Clock()
    made = board(clock, ended=False)

    assert made.now()["word"] == "healthy"
    clock.pass_(timedelta(minutes=11).total_seconds())
    page = made.now()

    assert page["word"] == "stuck"
    assert "Spark has said nothing of" in page["why"]


def test_a_watch_that_would_show_nothing_is_refused():
    with pytest.raises(ConfigurationError, match=r"would show nothing") as error:
        sp.watch(SPARK)

    assert 'sp.watch(spark, metrics="9464", live="9465")' in error.value.remedy


@pytest.mark.parametrize("what", ["metrics", "live"])
def test_a_port_that_is_taken_ends_no_program_of_the_users(what, monkeypatch, caplog):
    monkeypatch.setattr(Hearing, "begin", lambda _: None)
    events = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with sp.watch(SPARK, **{what: port}, listener=events.append) as watch:
            assert (watch.metrics_url, watch.live_url) == (None, None)
            (note,) = watch.notes

    assert f"127.0.0.1:{port}: address already in use. The queries go on without it." in note
    assert f'{what}="{port + 1}"' in note
    assert [event.code for event in events] == ["port-taken"]
    assert caplog.messages == [note]


@pytest.mark.parametrize("what", ["metrics", "live"])
def test_an_address_that_is_none_is_refused_in_the_words_of_the_call(what):
    with pytest.raises(ConfigurationError, match="is no address") as error:
        sp.watch(SPARK, **{what: "here"})

    assert f'{what}="0.0.0.0:946' in error.value.remedy


def test_a_session_of_spark_connect_is_refused():
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()

    with pytest.raises(ConfigurationError, match="Spark Connect"):
        sp.watch(session, metrics="0")
