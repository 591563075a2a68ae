"""The summary: what it says, that it fits a screen, and that it is plain where there is no terminal."""

import io
import re

import pytest
from rich.console import Console

from streamproof.report.shape import Report
from streamproof.report.terminal import print_summary

PAGE = ".streamproof/runs/0007/report.html"


def printed(report: Report, *, columns: int = 100, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=columns, force_terminal=terminal, color_system="standard" if terminal else None)
    print_summary(report, console, where=PAGE)
    return out.getvalue()


def test_a_pass_says_what_was_proved_the_account_and_what_it_means(green):
    text = printed(green)

    assert text.startswith("PASS  standard plan: 265 scenarios, every fault fired, 3 min 41 s\n")
    assert "account of 50,000 trades   emitted 47,912 · open 1,020 · late 318 · rejected 201 · duplicate 549" in text
    assert "these events, these crash points, this file system; not your cluster" in text
    assert PAGE in text


def test_a_quick_plan_is_named_in_the_verdict_whatever_that_is(green, red):
    for report in (green, red):
        report["plan"] = "quick"

    assert printed(green).startswith("PASS  quick plan: 265 scenarios, every fault fired")
    assert printed(red).splitlines()[0].endswith("(7 of 265 scenarios of the quick plan)")


def test_a_failure_names_the_trade_the_crash_both_sides_and_the_line_that_replays_it(red):
    lines = printed(red).splitlines()
    text = "\n".join(lines)

    assert lines[0].startswith("FAIL  exactly-once: trade t-014014 is counted twice   ")
    assert lines[0].endswith("(7 of 265 scenarios)")
    assert "crash       after output exposure of batch 3 was published, before Spark committed the batch" in text
    assert "expected    client c17  09:01:00-09:01:30   exposure 48,210.50   trades 31" in text
    assert "found       client c17  09:01:00-09:01:30   exposure 49,905.50   trades 32" in text
    assert "how         batch 3 ran again after the crash" in text
    assert "arrived as row 1,515 of batch 3" in text
    assert "batch 3 took 2 attempts" in text
    assert "  code        exactly-once/counted-again" in lines
    assert "account     4,166 too many: 54,166 places for 50,000 records" in text
    assert "  replay      streamproof prove my_job --only publish/exposure@3:after --seed 7" in lines
    assert "read on     docs/incidents/appends-on-replay" in text


def test_further_failures_are_counted_and_at_most_five_are_named(red):
    text = " ".join(printed(red).split())

    assert "also fail 6 more: publish/exposure@4:after, publish/exposure@5:after" in text
    assert "publish/exposure@8:after and 1 more" in text
    assert "publish/exposure@9:after" not in text


def test_unknown_says_why_and_how_to_go_on(unknown):
    text = " ".join(printed(unknown).split())

    assert text.startswith(
        "UNKNOWN 2 of 177 scenarios could not be decided; 1 fault did not fire; 175 of 516 crash points were not tried"
    )
    assert "state-contents: the checker crashed: KeyError('window_start')" in text
    assert "Cut short by --time-budget 2 minutes" in text
    assert "again streamproof prove my_job --seed 7" in text


def test_what_was_not_read_back_comes_with_the_command_and_a_function_to_begin_with(unknown):
    sketch = ["# in job.py, beside the job", "def read_out(path):", "    return [...]"]
    says = "foreachBatch writes out where no proof looks, so its rows were not compared. Say how they are read back: --read out=job:read_out"
    one = {"code": "output-not-read", "name": "out", "says": says, "add": "--read out=job:read_out", "sketch": sketch}
    unknown["not_exercised"] = [one]
    lines = printed(unknown).splitlines()

    assert "nobody has looked at out" in lines[0]
    assert f"  again       {unknown['command']} --read out=job:read_out" in lines
    assert [line.removeprefix("  sketch    ").strip() for line in lines if "read_out(" in line or "[...]" in line] == [
        "def read_out(path):",
        "return [...]",
    ]
    assert "              def read_out(path):" in lines
    assert len(lines) <= 24


def test_a_failure_names_what_was_not_read_back_too(red):
    red["not_exercised"] = [{"code": "output-not-read", "name": "out", "says": "...", "add": "--read out=job:read_out"}]
    lines = printed(red).splitlines()

    assert "  not read    out: add --read out=job:read_out" in lines
    assert len(lines) <= 24


def test_an_interrupted_proof_has_a_summary_too(empty):
    text = printed(empty)

    assert text.startswith("UNKNOWN  no scenario was finished\n")
    assert "Interrupted while the fault-free run was being recorded." in text


@pytest.mark.parametrize("kind", ["green", "red", "unknown", "empty"])
@pytest.mark.parametrize("terminal", [True, False])
def test_it_fits_a_screen(kind, terminal, request):
    lines = printed(request.getfixturevalue(kind), terminal=terminal).splitlines()

    assert len(lines) <= 24
    if not terminal:
        assert max(map(len, lines)) <= 100


def test_it_fits_a_screen_when_every_text_is_long(red):
    first = red["scenarios"][[entry["verdict"] for entry in red["scenarios"]].index("fail")]
    finding = first["checks"][1]["findings"][0]
    finding |= dict.fromkeys(("what", "expected", "found", "how"), "many words " * 80)
    first |= {"crash": "many words " * 80, "read_on": "many/words " * 80}
    red["notes"] = ["many words " * 80] * 9

    red["scenarios"] = [entry for entry in red["scenarios"] if entry["verdict"] != "unknown"]

    lines = printed(red).splitlines()

    assert max(map(len, lines)) <= 100
    for_causes = 3 * (len("many words " * 80) // (100 - len("  found       ")) + 1)
    assert len(lines) <= 24 + for_causes


def test_a_cause_is_never_cut(red):
    first = red["scenarios"][[entry["verdict"] for entry in red["scenarios"]].index("fail")]
    long = "many words " * 30
    first["checks"] = [
        {
            **check,
            "findings": [
                {**finding, "event": None, "what": f"{long}the cause", "found": f"{long}the remedy", "how": f"{long}the hint"}
                for finding in check["findings"]
            ],
        }
        for check in first["checks"]
    ]

    said = " ".join(printed(red).split())

    assert all(end in said for end in ("the cause", "the remedy", "the hint"))


def test_the_replay_line_is_never_folded(red):
    replay = red["scenarios"][0]["replay"] = "streamproof prove my_job --only " + "a" * 150
    red["scenarios"] = [red["scenarios"][0] | {"verdict": "fail"}]

    assert replay in printed(red, columns=60, terminal=True)


def test_without_a_terminal_it_is_plain_and_with_one_the_colour_says_nothing_new(red):
    plain, coloured = printed(red), printed(red, terminal=True)

    assert "\x1b[1;31mFAIL" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_an_event_id_cannot_command_the_terminal(red):
    for entry in red["scenarios"]:
        for check in entry["checks"]:
            for finding in check["findings"]:
                finding["event"] = "\x1b[2Jgone\x07"

    text = printed(red)

    assert "\x1b" not in text
    assert "\\x1b[2Jgone\\x07" in text


def test_an_event_time_beyond_the_calendar_is_said_and_breaks_nothing(red):
    for point in red["event_time"]["points"]:
        point["time_us"] = 10**20

    assert "event time out of range" in printed(red)


VACUOUS = [
    {
        "code": f"{name}-not-exercised",
        "name": name,
        "says": f"Nothing was {name}. Let some be; or let it be: [expect] may_be_unexercised = [{name}]" + " many words" * 30,
    }
    for name in ("late", "rejected", "duplicate", "filtered.small")
]


def test_what_was_never_exercised_is_said_first_with_what_to_write(green):
    green |= {"verdict": "unknown", "not_exercised": VACUOUS}
    text = printed(green)

    assert text.startswith("UNKNOWN  never exercised: late, rejected, duplicate, filtered.small\n")
    assert "  unexercised Nothing was late. Let some be; or let it be: [expect] may_be_unexercised = [late]" in text
    assert "  unexercised filtered.small\n" in text
    assert len(text.splitlines()) <= 24


def test_behind_a_failure_it_is_one_line(red):
    red["not_exercised"] = VACUOUS
    lines = printed(red).splitlines()

    assert [line for line in lines if "unexercised" in line] == ["  unexercised late, rejected, duplicate, filtered.small"]
    assert len(lines) <= 24


def test_p9_a_failure_has_the_command_that_follows_its_event(red: Report) -> None:
    red["scenarios"] = [
        {
            **one,
            "checks": [
                {**check, "findings": [{**each, "event": "e-000100|e-000200"} for each in check["findings"]]}
                for check in one["checks"]
            ],
        }
        for one in red["scenarios"]
    ]  # a row of a join: its first record is followed

    assert "  trace       streamproof trace my_job e-000100 --scenario publish/exposure@3:after\n" in printed(red)
