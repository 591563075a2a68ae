"""`run --log-format json`: each line on standard error is one object with the keys of the page, of events, notes, errors and the job's own loggers."""

import json
import logging
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import streamproof as package
from streamproof.cli import log_lines
from streamproof.core.log_lines import KEYS, OF_THE_JVM, log_line, rfc3339
from streamproof.errors import DataError
from streamproof.runtime.failing import failure_of, keep_failure
from streamproof.runtime.spark.run_log import open_log, python_side
from streamproof.runtime.spark.session import start_session
from streamproof.runtime.watching import backup_events, death_events, planned_events
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchStaged,
    Emitter,
    Note,
    PublicationWaiting,
    QueryStarted,
    RunEvent,
    RunFailed,
)
from streamproof.runtime.watching.failure import Failure, Read

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "logs.md").read_text(encoding="utf-8")
HOME = Path(package.__file__).parent
assert backup_events.BackedUp.kind
assert death_events.QueryDied.kind
assert planned_events.QueryPlanned.kind
KINDS = {event.kind for event in RunEvent.__subclasses__() if not event.kind.startswith("watched-")}


@pytest.fixture
def lines(streamproof, my_job, monkeypatch):
    """Runs the job, whose run does as it is told, and gives its lines."""

    def lines(work, *options: str) -> list[dict]:
        monkeypatch.setattr("streamproof.runtime.run.run_job", work)
        monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest has some
        monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)
        shown = streamproof("run", "my_job", "--log-format", "json", *options)
        return [json.loads(line) for line in shown.err.splitlines()]

    return lines


def failed() -> DataError:
    problem = DataError("A file vanished.", required="It stays.", remedy="Put it back.").is_at(
        query="exposure",
        batch=3,
        reads=[Read("trades", "trades", 0, 100, 200)],
        step="require()",
        sample={"client": "text of 7 characters"},
    )
    keep_failure(problem, failure_of(problem, "risk_exposure"))
    return problem


def test_each_line_is_one_object_with_the_keys_of_the_page(lines):
    def work(config, listener, **_):
        emitter = Emitter(*listener)
        emitter.emit(QueryStarted("exposure", "run", "c", {}, batch=3))
        emitter.emit(BatchStaged("exposure", 3, {}, {}, False, 0.1))
        emitter.emit(BatchCommitted("exposure", 3, {"input": 5_000}, {}, None, {}))
        emitter.emit(PublicationWaiting("exposure", "exposure", 2, 5.0, "connection refused"))
        emitter.emit(Note("", "something to know", "not-bound"))
        logging.getLogger("my.own").warning("said by the job")
        emitter.emit(RunFailed("DataError", "A file vanished.", "data", None))
        raise failed()

    said = lines(work)

    assert all(tuple(line) == KEYS for line in said)
    assert tuple(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))[: len(KEYS)] == KEYS
    assert [(line["level"], line["logger"], line["event"], line["batch"]) for line in said] == [
        ("INFO", "streamproof", "query-started", 3),
        ("INFO", "streamproof", "batch-committed", 3),
        ("WARNING", "streamproof", "publication-waiting", None),
        ("INFO", "streamproof", "note", None),
        ("WARNING", "my.own", None, None),
        ("ERROR", "streamproof", "run-failed", 3),
    ]
    assert {line["job"] for line in said} == {"risk_exposure"}
    assert said[3]["code"] == "not-bound"
    assert said[2]["message"] == "2 batches wait for exposure: connection refused."
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) for line in said)


def test_a_failure_is_one_line_with_all_that_is_around_it(lines):
    def work(config, **_):
        raise failed()

    (line,) = lines(work)

    assert (line["query"], line["batch"], line["step"], line["code"]) == ("exposure", 3, "require()", "data")
    assert line["message"] == "A file vanished."
    failure = line["failure"]
    assert set(failure) == set(Failure.__dataclass_fields__)
    assert failure["reads"][0] == {
        "source": "trades",
        "topic": "trades",
        "partition": 0,
        "start": 100,
        "end": 200,
        "files": [],
        "of_files": 0,
    }
    assert (failure["sample"], failure["next"]) == ({"client": "text of 7 characters"}, "Put it back.")
    assert failure["page"] == "docs/reference/codes.md#error-data"


def test_an_error_before_the_run_is_a_line_too_with_its_remedy(streamproof, my_job):
    (my_job / "streamproof.toml").write_text("[job]\nnothing = 1\n")

    shown = streamproof("run", "my_job", "--log-format", "json")

    (line,) = (json.loads(line) for line in shown.err.splitlines())
    assert (shown.code, line["code"], line["job"]) == (2, "configuration", None)
    assert "streamproof.toml" in line["message"]


def test_a_secret_is_in_no_line(lines):
    def work(config, listener, **_):
        Emitter(*listener).emit(Note("", "password=hunter2", "x"))
        raise failed()

    assert "hunter2" not in json.dumps(lines(work))


def test_the_next_command_speaks_as_ever(streamproof, my_job):
    streamproof("run", "nowhere", "--log-format", "json")

    assert streamproof("run", "nowhere").err.startswith("error  ")


def test_traces_on_the_screen_exclude_it(streamproof, my_job):
    assert "exclude each other" in streamproof("run", "my_job", "--log-format", "json", "--debug").err


def test_each_kind_of_event_has_a_sentence_or_none():
    assert log_lines._SAID.keys() | log_lines.UNSAID == KINDS
    assert not log_lines._SAID.keys() & log_lines.UNSAID
    assert re.findall(r"`([\w-]+)`", re.search(r"Not said are ([^.]*)", PAGE)[1]) == sorted(log_lines.UNSAID)


def test_a_line_has_no_other_keys():
    with pytest.raises(ValueError, match="colour"):
        log_line("INFO", "x", "y", {"colour": 1})


def test_what_the_jvm_logs_has_the_first_keys():
    assert tuple(json.loads((HOME / "log4j2-record.json").read_text())) == OF_THE_JVM
    assert "eventTemplateUri = ${sys:streamproof.log.record}" in (HOME / "log4j2-json.properties").read_text()


def test_the_log_of_the_run_is_json_lines_too_and_its_name_says_so(tmp_path):
    log = open_log(tmp_path, as_json=True)

    with python_side(log):
        try:
            raise ValueError("ann@example.org")
        except ValueError:
            logging.getLogger("py4j.clientserver").exception("There was an exception.")

    (line,) = map(json.loads, log.read_text().splitlines())
    assert tuple(line) == KEYS
    assert log.suffix == ".jsonl"
    assert (line["level"], line["logger"]) == ("ERROR", "py4j.clientserver")
    assert line["message"].startswith("There was an exception.\nTraceback (most recent call last):\n")
    assert "ann@example.org" not in line["message"]


def test_the_jvm_is_told_by_the_name_of_the_log(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("streamproof._jvm.launch", lambda settings, log: told.append(settings["spark.driver.extraJavaOptions"]))
    monkeypatch.setattr("pyspark.sql.SparkSession.Builder.getOrCreate", lambda _: None)
    monkeypatch.setattr("streamproof._jvm.jars", lambda **_: [])

    for name in ("a.log", "a.jsonl"):
        start_session("small", {"spark.driver.extraJavaOptions": "-Dmine=1"}, log=tmp_path / name)

    text, as_json = (re.findall(r"log4j2\.configurationFile=\S*/(\S+)", options)[-1] for options in told)
    assert (text, as_json) == ("log4j2.properties", "log4j2-json.properties")


def test_instants_are_utc():
    assert rfc3339(datetime(2026, 1, 5, 10, 5, 0, 120_000, UTC)) == "2026-01-05T10:05:00.120Z"


def test_a_format_is_that_of_one_command(lines):
    def work(*_, **__):
        raise failed()

    assert lines(work)
    assert not log_lines.is_json()
