"""What `run` prints, as UX.md draws it; no Spark is started."""

import json
import logging
import os
import signal
import socket
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from itertools import count
from pathlib import Path

import pytest
from rich.console import Console

from streamproof.cli.run_screen import EventLines, RunProgress, print_result
from streamproof.connectors.lag import PartitionLag
from streamproof.connectors.source import Limit
from streamproof.core.account import Account
from streamproof.core.ends import End
from streamproof.core.notes import Note, NoteCode
from streamproof.core.opened import Opened
from streamproof.errors import AccountError, JobDefinitionError, StreamproofError
from streamproof.observe import addresses
from streamproof.observe.addresses import Patience
from streamproof.runtime.spark.failures import jvm_gone
from streamproof.runtime.watching.events import (
    BatchCommitted,
    BatchPlanned,
    BatchPublished,
    BatchStaged,
    Emitter,
    PublicationWaiting,
    QueryFinishing,
    QueryStarted,
    QueryStarting,
    RunEnded,
    SparkStarting,
)
from streamproof.runtime.watching.listeners import listeners_in
from streamproof.runtime.watching.result import OutputResult, QueryAccount, RunResult
from unit.cli.conftest import Clock


def result(tmp_path: Path, *, read: int = 50_000):
    account = Account(emitted=47_912, open_state=1_020, late=318, rejected=201, duplicate=549, filtered=0)
    return RunResult(
        job="risk_exposure",
        batches=12,
        without_input=1,
        rows_in=50_000,
        seconds=9.8,
        outputs=[
            OutputResult("exposure", str(tmp_path / "out/exposure"), "parquet", 4_310, "exactly once"),
            OutputResult("rejected", "s3a://b/rejected", "json", 201, "exactly once", {"notional > 0": 186, "not parseable": 15}),
        ],
        account=account,
        account_input=read,
        open_windows=34,
        closes_after=datetime(2026, 1, 5, 10, 5, tzinfo=UTC),
        notes=[Note(NoteCode.NOT_BOUND, "something to know")],
        accounts=[QueryAccount("exposure", read, account, open=34, open_until=datetime(2026, 1, 5, 10, 5, tzinfo=UTC))],
        lag=[
            PartitionLag("trades", "trades", 0, 500, 1_500, 1_000),
            PartitionLag("trades", "trades", 1, 1_500, 1_500, 0),
            PartitionLag("clients", "clients", 0, 7, 7, 0, 3),
        ],
    )


COUNTS = {"input": 50, "emitted": 50, "late": 0, "rejected": 0, "duplicate": 0, "filtered": 0}
EVENTS = (
    SparkStarting("risk_exposure"),
    QueryStarting("exposure"),
    QueryStarted("exposure", "feedbeef", "checkpoint/exposure", {"exposure": "out/exposure"}),
    BatchCommitted("exposure", 0, COUNTS, {"exposure": 50}, None, {"stage": 1_000, "publish": 500}),
)


@pytest.fixture
def ran(streamproof, my_job, monkeypatch, tmp_path):
    calls = []

    def ran(*arguments: str, read: int = 50_000, ends: int = 0):
        def run_job(config, **options):
            emitter, end, _ = Emitter(*listeners_in(options.pop("listener"))), options.pop("end"), options.pop("log")
            if ends:
                os.kill(os.getpid(), ends)
                end.wait(10)
            calls.append(options)
            done = replace(result(tmp_path, read=read), end=End.INTERRUPTED if end.is_set() else End.DONE)
            for event in (*EVENTS, RunEnded(done)):
                emitter.emit(event)
            if read < 50_000:
                raise AccountError("The account of exposure does not add up.", done, remedy="Look at job.py line 3.")
            return done

        monkeypatch.setattr("streamproof.runtime.run.run_job", run_job)
        monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)
        return streamproof("run", "my_job", *arguments), calls[-1]

    return ran


def test_outputs_account_and_open_windows(ran):
    shown, _ = ran()

    assert shown.code == 0
    assert shown.out.splitlines() == [
        "risk_exposure · 12 batches (1 without input, as the watermark went on) · 50,000 rows in · 9.8 s",
        "  exposure   out/exposure       parquet   4,310 rows   exactly once",
        "  rejected   s3a://b/rejected   json        201 rows   exactly once     186 notional > 0 · 15 not parseable",
        "  account    emitted 47,912 + open 1,020 + late 318 + rejected 201 + duplicate 549 + filtered 0 = 50,000",
        "             34 windows are open until the watermark passes 2026-01-05 10:05:00",
        "  lag        trades is 1,000 records behind, of these partitions:",
        "               trades-0   read to 500   of 1,500   1,000 behind",
        "             clients is read to its end (1 partition); 3 more lie in or after a transaction that is open",
        "  note       something to know",
    ]


def test_an_account_of_more_than_this_run_says_so(ran):
    shown, _ = ran(read=60_000)

    assert "= 50,000, since the checkpoint began\n" in shown.out


def test_each_query_says_what_is_open_and_a_deduplication_by_an_order_has_no_windows(tmp_path, capsys):
    done = result(tmp_path)
    (windows,) = done.accounts
    newest = replace(windows, query="newest", open=1, open_are=Opened.KEY)

    print_result(replace(done, accounts=[windows, newest]), Console(width=200))

    shown = capsys.readouterr().out
    assert " exposure: 34 windows are open until the watermark passes 2026-01-05 10:05:00\n" in shown
    assert " newest: 1 key waits until the watermark passes 2026-01-05 10:05:00\n" in shown


@pytest.mark.parametrize(("written", "said"), [(549, "549 (in output again)"), (12, "549 (12 of them in output again)")])
def test_the_account_says_in_which_output_the_duplicates_are(tmp_path, capsys, written, said):
    done = result(tmp_path)
    named = [replace(account, duplicates_in="again", duplicates_written=written) for account in done.accounts]

    print_result(replace(done, accounts=named), Console(width=200))

    assert f" + duplicate {said} + filtered 0 = 50,000\n" in capsys.readouterr().out


def test_r31_an_account_that_does_not_add_up_is_exit_code_4_behind_all_that_was_done(ran):
    shown, _ = ran(read=49_997)

    assert "  exposure   out/exposure " in shown.out
    assert "3 too many: 49,997 were read" in shown.out
    assert shown.err.endswith("error  The account of exposure does not add up.\n       Look at job.py line 3.\n")
    assert shown.code == 4


def test_r31_in_json_the_result_is_whole_and_says_which_account_it_is(ran):
    shown, _ = ran("--json", read=49_997)
    (account,) = json.loads(shown.out)["accounts"]

    assert (account["query"], account["input"], account["account"]["late"], account["adds_up"]) == ("exposure", 49_997, 318, False)
    assert shown.code == 4


def test_r31_a_run_that_was_ended_also_says_by_its_code_that_the_account_does_not_add_up(ran):
    shown, _ = ran(read=49_997, ends=signal.SIGTERM)

    assert "3 too many: 49,997 were read" in shown.out
    assert "error  The account of exposure does not add up." in shown.err
    assert shown.err.endswith("Ended by SIGTERM. Go on with: streamproof run my_job\n")
    assert shown.code == 4


@pytest.mark.parametrize(("sent", "called", "code"), [(signal.SIGINT, "Ctrl-C", 130), (signal.SIGTERM, "SIGTERM", 143)])
def test_a_run_that_is_asked_to_end_still_says_where_every_event_is(ran, sent, called, code):
    shown, _ = ran(ends=sent)

    assert "account    emitted 47,912" in shown.out
    assert shown.err.endswith(f"Ended by {called}. Go on with: streamproof run my_job\n")
    assert shown.code == code


def stopping(monkeypatch, problem, *, logged=""):
    """Lets the work write to the log as the JVM does, and py4j as it does where the JVM has gone, and stop."""

    def run_job(config, *, log, **_):
        if log is not None:
            log.write_text(logged)
        try:
            raise ConnectionRefusedError(111)
        except OSError:
            logging.getLogger("py4j.clientserver").exception("There was an exception while sending a command.")
        raise problem

    monkeypatch.setattr("streamproof.runtime.run.run_job", run_job)
    monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)


def test_a_jvm_that_died_is_75_in_a_few_lines_which_name_the_log(streamproof, my_job, monkeypatch):
    stopping(monkeypatch, jvm_gone(), logged="OutOfMemoryError\n")

    shown = streamproof("run", "my_job")

    assert shown.code == 75
    assert "Traceback" not in shown.err
    doing, first, *said, last = shown.err.splitlines()
    assert doing.endswith("loading PySpark")
    assert first == "error  The JVM is gone: it was killed, or ran out of memory."
    said = [first, *said]
    assert len(said) == 3
    log = Path(last.partition("Spark's log: ")[2])
    assert "OutOfMemoryError" in log.read_text()
    assert "Traceback" in log.read_text()
    assert log.parent == Path("my_job/.streamproof/logs")
    assert log.stat().st_mode & 0o077 == 0, "it may hold values of rows"


def test_what_the_user_must_change_does_not_send_him_to_the_log(streamproof, my_job, monkeypatch):
    stopping(monkeypatch, JobDefinitionError("wrong"), logged="something\n")

    assert "log" not in streamproof("run", "my_job").err


def test_debug_leaves_all_on_the_screen(streamproof, my_job, monkeypatch):
    stopping(monkeypatch, StreamproofError("stopped"))

    shown = streamproof("run", "my_job", "--debug")

    assert "Traceback" in shown.err
    assert "Spark's log" not in shown.err
    assert not (my_job / ".streamproof").exists()


def test_of_older_logs_the_newest_stay(streamproof, my_job, monkeypatch):
    logs = my_job / ".streamproof" / "logs"
    logs.mkdir(parents=True)
    for day in range(10, 30):
        (logs / f"run-202601{day}T000000-1.log").touch()
    (logs / "mine.txt").touch()
    stopping(monkeypatch, StreamproofError("stopped"))

    streamproof("run", "my_job")

    left = sorted(file.name for file in logs.iterdir())
    assert left[:2] == ["mine.txt", "run-20260121T000000-1.log"]
    assert len(left) == 11


def test_r31_an_account_that_is_unknown_says_so_in_place_of_what_misses(streamproof, my_job, monkeypatch, tmp_path):
    done = result(tmp_path, read=50_003)
    unknown = replace(done, accounts=[replace(done.accounts[0], unknown_since=7)])
    monkeypatch.setattr("streamproof.runtime.run.run_job", lambda config, listener, **_: Emitter(*listener).emit(RunEnded(unknown)))
    monkeypatch.setattr("streamproof.runtime.spark.environment.find_java", lambda: None)

    shown = streamproof("run", "my_job")

    assert shown.code == 0
    assert "  unknown since batch 7" in shown.out
    assert "missing" not in shown.out
    (account,) = json.loads(streamproof("run", "my_job", "--json").out)["accounts"]
    assert (account["adds_up"], account["unknown_since"]) == (False, 7)


def test_json_is_one_object_and_nothing_else(ran):
    shown, _ = ran("--json")
    found = json.loads(shown.out)

    assert (found["job"], found["account"]["late"], found["closes_after"]) == ("risk_exposure", 318, "2026-01-05T10:05:00+00:00")
    assert [account["adds_up"] for account in found["accounts"]] == [True]
    assert (found["notes"], found["note_codes"]) == (["something to know"], ["output-not-bound"])
    assert (found["end"], found["ended_early"]) == ("done", False)


def test_events_are_a_json_line_each_and_nothing_else_and_the_last_has_the_result(ran):
    shown, _ = ran("--events")
    lines = [json.loads(line) for line in shown.out.splitlines()]

    assert [line["kind"] for line in lines] == ["spark-starting", "query-starting", "query-started", "batch-committed", "run-ended"]
    assert all(datetime.fromisoformat(line["at"]).tzinfo is not None for line in lines)
    assert lines[3] == {"at": lines[3]["at"], **EVENTS[3].as_dict()}
    assert lines[-1]["result"] == json.loads(ran("--json")[0].out)
    assert (shown.code, shown.err) == (0, "")


def test_events_of_a_run_whose_account_does_not_add_up_are_followed_by_the_error(ran):
    shown, _ = ran("--events", read=49_997)

    assert json.loads(shown.out.splitlines()[-1])["result"]["accounts"][0]["adds_up"] is False
    assert "error  The account of exposure does not add up." in shown.err
    assert shown.code == 4


def test_events_and_json_exclude_each_other(ran, streamproof):
    shown = streamproof("run", "my_job", "--events", "--json")

    assert shown.code == 2
    assert "--json and --events exclude each other" in shown.err
    assert shown.out == ""


def test_a_bounded_run_has_none_of_the_options_of_a_stream(ran, streamproof):
    for given in (["--events"], ["--new-output", "x"], ["--replay-last"], ["--accept-replay", "0"], ["--accept-topic", "t"]):
        shown = streamproof("run", "my_job", "--bounded", *given)

        assert shown.code == 2
        assert f"--bounded and {given[0]} exclude each other" in " ".join(shown.err.split())
    shown = streamproof("run", "my_job", "--to", "once")
    assert "--to goes with --bounded" in shown.err


def test_help_says_what_events_are(streamproof):
    shown = " ".join(streamproof("run", "--help").out.split())

    assert "--events" in shown
    assert "one JSON line" in shown


def test_what_the_run_is_doing_is_drawn_from_its_events(ran):
    """Without a terminal in lines, each of another shape."""
    shown, _ = ran()

    said = [line.partition("running risk_exposure: ")[2] for line in shown.err.splitlines()]
    assert said == [
        "loading PySpark",
        "starting Spark",
        "looking at checkpoint and outputs of exposure",
        "batch 0, looking for input",
        "batch 1, 50 rows in (looking for input)",
    ]


def test_progress_says_what_is_done_from_the_first_second_and_for_how_long():
    said, clock = [], Clock()
    progress = RunProgress(said.append, clock)
    progress.begin("loading PySpark")
    clock.now = 40
    progress.say_again()
    progress(SparkStarting("risk_exposure"))

    assert said == ["loading PySpark", "loading PySpark (40 s)", "starting Spark"]


def test_progress_names_the_batch_that_is_under_way_and_what_becomes_of_it():
    """The checkpoint has three batches already; each step may take minutes."""
    said, clock = [], Clock()
    progress = RunProgress(said.append, clock)
    progress(QueryStarted("exposure", "r", "checkpoint", {}, batch=3))
    steps = (
        BatchPlanned("exposure", 3, None, 2),
        BatchStaged("exposure", 3, COUNTS, {}, replayed=False, seconds=1.0),
        BatchCommitted("exposure", 3, COUNTS, {}, None, {}),
        BatchPlanned("exposure", 4, None, 2),
    )
    for step in steps:
        clock.now += 70
        progress.say_again()
        progress(step)
    clock.now += 12
    progress.say_again()

    assert said == [
        "batch 3, looking for input",
        "batch 3, looking for input (70 s)",
        "batch 3, computing",
        "batch 3, computing (70 s)",
        "batch 3, publishing",
        "batch 3, publishing (70 s)",
        "batch 4, 50 rows in (looking for input)",
        "batch 4, 50 rows in (looking for input, 70 s)",
        "batch 4, 50 rows in (computing)",
        "batch 4, 50 rows in (computing, 12 s)",
    ]


def test_progress_says_what_waits_and_when_it_is_asked_again_and_that_it_is_being_asked():
    said, clock = [], Clock()
    progress = RunProgress(said.append, clock)
    progress.say_again()
    assert said == [], "nothing is known yet"
    for event in EVENTS:
        progress(event)
    begins = "batch 1, 50 rows in (looking for input)"
    assert said[-1] == begins

    progress(PublicationWaiting("exposure", "exposure", 3, 8.0, "it is down."))
    assert said[-1] == f"{begins}; 3 batches wait for exposure: it is down. (asked again in 8 s)"
    clock.now = 6
    progress.say_again()
    assert said[-1].endswith("(asked again in 2 s)")
    clock.now = 57  # a store that does not answer is waited for as long as its time-out
    progress.say_again()
    assert said[-1].endswith("(being asked again, no answer for 49 s)")
    progress(BatchPublished("exposure", 0, "exposure", 50, 0.1, waiting=2))
    assert "wait for exposure" in said[-1]
    progress(BatchPublished("exposure", 2, "exposure", 50, 0.1, waiting=0))
    assert "wait" not in said[-1]
    progress(PublicationWaiting("exposure", "late", 1, 8.0, "it is down."))
    progress(PublicationWaiting("exposure", "late", 0, 0.0, ""))
    assert "wait" not in said[-1]


def test_progress_of_several_queries_is_that_of_each():
    said = []
    progress = RunProgress(said.append, Clock())
    for query in ("exposure", "other"):
        progress(QueryStarting(query))
        progress(QueryStarted(query, "r", "checkpoint", {}))
    for batch in range(2):
        progress(BatchCommitted("other", batch, COUNTS, {}, None, {}))
    progress(BatchPlanned("exposure", 0, None, 1))

    assert said[-1] == "exposure: batch 0, computing; other: batch 2, 100 rows in (looking for input)"


def test_progress_says_by_which_limits_a_batch_is_read():
    """Of several sources each by its name: the limits are of each."""
    said = []
    progress = RunProgress(said.append, Clock())
    progress(QueryStarted("exposure", "r", "checkpoint", {}))
    files, records = Limit("trades", 40, "files"), Limit("prices", 10_000, "records")
    progress(BatchPlanned("exposure", 0, None, 40, (files,)))
    progress(BatchPlanned("exposure", 1, None, 40, (files, records)))

    assert said[-2:] == [
        "batch 0, computing at most 40 files",
        "batch 1, computing at most 40 files of trades and 10,000 records of prices",
    ]


def test_progress_says_how_a_run_ends():
    said = []
    progress = RunProgress(said.append)
    progress(QueryFinishing("exposure", asked_to_end=False))
    progress(QueryFinishing("exposure", asked_to_end=True))

    assert said == ["waiting for what exposure still has to publish", "ending exposure after the batch that is under way"]


def test_a_reader_of_the_events_that_has_gone_stops_nothing(monkeypatch):
    class Gone(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    silenced = []
    monkeypatch.setattr("streamproof.cli.screen.silence_output", lambda: silenced.append(True))

    EventLines(Gone())(EVENTS[0])

    assert silenced == [True]


def test_the_ways_out_are_passed_on(ran):
    assert ran("--new-output", "out/x", "--accept-replay", "7", "--accept-topic", "trades")[1] == {
        "new_output": "out/x",
        "replace_output": False,
        "accept_replay": 7,
        "accept_topics": ["trades"],
        "accept_lateness": False,
        "accept_missing": False,
        "replay_last": False,
        "latency": False,
        "lineage": False,
    }
    assert ran("--replace-output")[1]["replace_output"] is True


def test_what_came_from_the_environment_is_shown_nowhere(ran, monkeypatch, my_job):
    """Once a configuration has named a value, no line of the command shows it, wherever it comes from."""
    monkeypatch.setenv("HIDDEN", "something to know")
    config = my_job / "streamproof.toml"
    config.write_text(config.read_text().replace('path = "out/', 'path = "${env:HIDDEN}/'))
    assert "${env:HIDDEN}" in config.read_text()

    for arguments in ((), ("--json",), ("--events",)):
        shown, _ = ran(*arguments)
        assert "something to know" not in shown.out
        assert "${env:HIDDEN}" in shown.out


def test_columns_stay_aligned_where_an_address_is_hidden(ran, monkeypatch, my_job):
    monkeypatch.setenv("HIDDEN", "s3a://b")
    config = my_job / "streamproof.toml"
    config.write_text(config.read_text().replace('path = "out/', 'path = "${env:HIDDEN}/'))

    lines = ran()[0].out.splitlines()[1:3]

    assert "${env:HIDDEN}/rejected" in lines[1]
    assert len({line.index(" rows ") for line in lines}) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--hang-after", "10 minutes"), "nobody would be told of a hang"),
        (("--hang-after", "soon", "--metrics", "0"), "soon"),
        (("--hang-after", "0 seconds", "--metrics", "0"), "it is 0"),
    ],
)
def test_a_bound_that_nobody_would_be_told_by_or_that_is_none_is_refused(ran, streamproof, monkeypatch, arguments, said):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    ran()
    shown = streamproof("run", "my_job", *arguments)

    assert shown.code == 2
    assert said in shown.err


def test_a_service_manager_that_has_started_the_run_is_told(ran, monkeypatch, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        ran("--hang-after", "10 minutes")
        told = [listening.recv(4_096).decode()]
        while told[-1] != "STOPPING=1":
            told.append(listening.recv(4_096).decode())

    assert told[0].startswith("WATCHDOG=1\n")


@pytest.mark.parametrize("option", ["--metrics", "--live"])
def test_a_run_waits_for_the_port_of_a_driver_that_is_ending(ran, option, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        monkeypatch.setattr(addresses, "FOR_A_DRIVER_THAT_ENDS", Patience(30, lambda _: taken.close()))
        shown, _ = ran(option, port)

    assert shown.code == 0
    assert f"http://127.0.0.1:{port}/" in shown.err


@pytest.mark.parametrize("option", ["--metrics", "--live"])
def test_a_port_that_stays_taken_is_said_before_anything_begins_and_a_restart_may_mend_it(ran, streamproof, option, monkeypatch):
    """A service manager starts the run again, as it does not where a person is needed: a port for scrapes must not keep a job down."""
    _, _ = ran()
    waited, now = [], count()
    monkeypatch.setattr(addresses, "FOR_A_DRIVER_THAT_ENDS", Patience(30, waited.append, lambda: next(now)))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = streamproof("run", "my_job", option, str(taken.getsockname()[1]))

    assert len(waited) == 29
    assert shown.code == 75
    assert "address already in use" in shown.err
    assert "Port 0 takes one that is free" in shown.err
    assert not shown.out
