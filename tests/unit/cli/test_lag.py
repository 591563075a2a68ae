"""`streamproof lag`: what it prints, what it recommends, and how it ends."""

import json
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from streamproof.report import skew as drawn
from streamproof.report import skew_page

NINE = 1_767_603_600_000


@pytest.fixture
def clicks(tmp_path):
    """A thousand clicks a second apart: every twentieth 40 seconds behind, those of d7 among them 5 minutes."""
    rows = []
    for place in range(1_000):
        behind = 0 if place % 20 else 300_000 if place % 100 == 0 else 40_000
        rows.append(
            {"id": f"c{place}", "device": "d7" if place % 100 == 0 else "d1", "ts": NINE + place * 1_000 - behind, "p": place % 2}
        )
    path = tmp_path / "clicks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_it_says_how_far_events_are_behind_and_which_lag_is_enough(streamproof, clicks):
    result = streamproof("lag", "clicks.jsonl", "--lose", "2%", "--by", "device", "--partition", "p")

    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == "clicks · 1,000 events · event time ts · 2 partitions · 2 keys"
    assert "p50 0 s" in lines[1]
    assert "p95 39 s" in lines[1] or "p95 0 s" in lines[1]
    assert "longest 4 min 59 s" in lines[1]
    assert any("1 minute" in line and "9" in line and "← recommended for at most 2 % late" in line for line in lines)
    assert any(line.startswith("  slowest keys") and "d7 (p99 4 min 59 s, 90.00 % late) · d1" in line for line in lines)
    assert lines[-1].split(None, 1) == ["next", 'event_time = { column = "ts", unit = "milliseconds", lag = "1 minute" }']
    assert tomllib.loads(lines[-1].split(None, 1)[1])["event_time"]["lag"] == "1 minute"
    assert len(lines) < 26


def test_as_json_it_is_the_same(streamproof, clicks):
    result = streamproof("lag", "clicks.jsonl", "--lose", "0.02", "--by", "device", "--json", "--lag", "40 seconds")

    found = json.loads(result.out)
    assert (found["sample"], found["event_time"], found["unit"], found["events"]) == ("clicks", "ts", "milliseconds", 1_000)
    assert (found["recommended"]["lag"], found["recommended"]["late"]) == ("1 minute", 9)
    assert found["asked"] == next(one for one in found["lags"] if one["lag"] == "40 seconds")
    assert [group["name"] for group in found["groups"]["key"]] == ["d7", "d1"]
    assert found["max_future"]["clock"] == "neighbours"


@pytest.mark.parametrize(("lag", "code"), [("30 seconds", 1), ("1 minute", 0)])
def test_a_lag_that_is_asked_about_loses_too_much_or_not(lag, code, streamproof, clicks):
    result = streamproof("lag", "clicks.jsonl", "--lose", "2%", "--lag", lag)

    assert result.code == code
    assert lag in result.out


def test_batches_and_the_order_of_arrival_count(streamproof, clicks):
    by_time = json.loads(streamproof("lag", "clicks.jsonl", "--arrival", "ts", "--json").out)
    whole = json.loads(streamproof("lag", "clicks.jsonl", "--batch", "1000", "--json").out)

    assert (by_time["longest_us"], by_time["max_future"]["clock"]) == (0, "arrival")
    assert whole["longest_us"] == 0


def test_no_lag_is_enough_for_times_before_1970(streamproof):
    Path("old.jsonl").write_text('{"n": -5}\n{"n": 7}\n{"n": 8}\n')

    result = streamproof("lag", "old.jsonl", "--time", "n", "--unit", "seconds", "--max-future", "none")

    assert result.code == 1
    assert "no delay up to a year loses at most 0.1 %" in result.out
    assert "before 1970         1 event, late whatever the delay" in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lose", "much"], "--lose is much."),
        (["--lose", "100%"], "--lose is 100%."),
        (["--lag", "soon"], '--lag: "soon" is not a duration'),
        (["--max-future", "1 parsec"], "--max-future:"),
        (["--lag", "400000000 days"], "--lag is 400000000 days."),
        (["--lag", "99999999999999999999 days"], "is longer than any duration can be"),
        (["--max-future", "400000000 days"], 'With "none" no event is too far ahead.'),
        (["--batch", "99999999999999999999"], "less than or equal to 1000000000"),
        (["--unit", "weeks"], "--unit is weeks."),
        (["--by", "devise"], 'Did you mean "device"?'),
        (["--html", "no/where.html"], "no/where.html cannot be written"),
    ],
)
def test_wrong_usage_says_what_is_required(arguments, said, streamproof, clicks):
    result = streamproof("lag", "clicks.jsonl", *arguments)

    assert result.code == 2
    assert said in result.err
    assert "Unexpected" not in result.err


def test_the_longest_durations_and_the_largest_batch_are_taken(streamproof, clicks):
    bounds = ["--lag", "36500 days", "--max-future", "36500 days", "--batch", "1000000000"]

    assert streamproof("lag", "clicks.jsonl", *bounds).code == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("one.jsonl", '{"ts": 1767603600}\n', "The sample has one event with a usable time"),
        ("empty.jsonl", "", "is empty"),
        ("untimed.csv", "id,amount\na,1\nb,2\n", "No column of untimed.csv looks like event time: id, amount."),
        ("nothing.csv", "ts,amount\n", "has no record"),
    ],
)
def test_bad_samples_are_refused(name, content, said, streamproof):
    Path(name).write_text(content)

    result = streamproof("lag", name)

    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err


def test_the_page_has_the_figures_and_escapes_names(streamproof, clicks, monkeypatch):
    text = clicks.read_text().replace('"d7"', '"<b>d7"')
    clicks.write_text(text)

    assert streamproof("lag", "clicks.jsonl", "--lose", "2%", "--by", "device", "--html", "lag.html").code == 0

    page = Path("lag.html").read_text()
    assert "A delay of 1 minute" in page
    assert "&lt;b&gt;d7" in page
    assert "<b>d7" not in page
    assert ("<svg" in page) == (find_spec("altair") is not None)
    monkeypatch.setattr(skew_page.picture, "installed", lambda: False)
    assert streamproof("lag", "clicks.jsonl", "--html", "plain.html").code == 0
    assert "<svg" not in Path("plain.html").read_text()
    assert "pip install" in Path("plain.html").read_text()


@pytest.mark.parametrize(
    ("micros", "said"),
    [
        (0, "0 s"),
        (340, "340 µs"),
        (12_000, "12 ms"),
        (999_900, "1 s"),
        (1_200_000, "1.2 s"),
        (2_000_000, "2 s"),
        (250_000_000, "4 min 10 s"),
        (11_520_000_000, "3 h 12 min"),
        (7_200_000_000, "2 h"),
        (187_200_000_000, "2 d 4 h"),
    ],
)
def test_durations_are_said_in_a_few_letters(micros, said):
    assert drawn.short(micros) == said


@pytest.mark.parametrize(("share", "said"), [(0.0461, "4.61 %"), (0.0009, "0.09 %"), (0.000003, "0.0003 %"), (0, "0 %")])
def test_shares_are_said_as_percentages(share, said):
    assert drawn.percent(share) == said
