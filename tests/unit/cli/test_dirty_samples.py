"""Samples as people have them: broken lines are left out, counted and named, and the scenario has as large a share of them."""

import csv
import io
import json
import random
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
COUNTRIES = ("AT", "CH", "DE", "FR", "IT", "NL")


def orders(count: int = 300) -> list[dict]:
    """Orders out of order by up to an hour, over ten hours; each twentieth comes twice; every merchant has a country."""
    chance = random.Random(5)
    rows = [
        {
            "order": f"o-{n:05d}",
            "amount": n % 50 + 0.5,
            "merchant": {"name": f"m{n % 30:02d}", "country": COUNTRIES[n % 6]},
            "at": (NINE + timedelta(minutes=2 * n - (59 if chance.random() < 0.01 else 0))).isoformat().replace("+00:00", "Z"),
        }
        for n in range(count)
    ]
    return [row for n, row in enumerate(rows) for _ in range(2 if n % 20 == 7 else 1)]


def text_of(rows, broken: dict[int, str | bytes]) -> bytes:
    """JSON lines, with other lines in some places, counted from 1."""
    lines = [json.dumps(row).encode() for row in rows]
    for place, line in sorted(broken.items()):
        lines.insert(place - 1, line if isinstance(line, bytes) else line.encode())
    return b"\n".join(lines) + b"\n"


def made(streamproof, name: str, content: bytes):
    Path(name).write_bytes(content)
    result = streamproof("init", "my_job", "--from", name)
    assert result.code == 0, result.err
    scenario = tomllib.loads(Path("my_job/scenario.toml").read_text())
    config = tomllib.loads(Path("my_job/streamproof.toml").read_text())
    return result.out.replace("\n", " "), scenario, config


BROKEN = {
    "cut": '{"order": "secret-1", "amo',
    "text": "secret-2 started",
    "array": '[{"order": "secret-3"}]',
    "comma": '{"order": "secret-4"},',
    "latin-1": '{"order": "secret-5-ö"}'.encode("latin-1"),
    "carriage return": '{"order": "secret-6",\r "amount": 1}',
    "number": "17",
    "null": "null",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_init_and_lag_go_on_after_lines_that_are_no_records(streamproof, kind):
    content = text_of(orders(), {3: BROKEN[kind], 40: "", 100: BROKEN[kind], 250: BROKEN[kind]})

    out, scenario, _ = made(streamproof, "orders.jsonl", content)

    assert "orders.jsonl: 3 lines hold no record and are left out, beside 315 that do: lines 3, 100 and 250" in out
    assert scenario["source"]["orders"]["faults"]["malformed"] == pytest.approx(3 / 318, abs=0.001)
    assert scenario["expect"]["rejected_at_most"] >= 0.02
    assert "secret" not in out
    assert "secret" not in "".join(path.read_text() for path in Path("my_job").rglob("*") if path.is_file())
    lag = streamproof("lag", "orders.jsonl")
    assert lag.code == 0, lag.err
    assert "lines 3, 100 and 250" in lag.out.replace("\n", " ")
    assert "secret" not in lag.out
    assert streamproof("check", "my_job").code == 0


def test_many_broken_lines_are_counted_and_the_first_are_named(streamproof):
    content = text_of(orders(), {10 * n: "?" for n in range(1, 31)})

    out, scenario, _ = made(streamproof, "orders.jsonl", content)

    assert "30 lines hold no record" in out
    assert "lines 10, 20, 30, 40, 50 and 25 more" in out
    assert scenario["source"]["orders"]["faults"]["malformed"] == 0.087
    assert scenario["expect"]["rejected_at_most"] > 0.087


def test_a_file_that_is_mostly_something_else_is_refused(streamproof):
    for command in (("init", "my_job", "--from"), ("lag",)):
        Path("notes.jsonl").write_text('{"at": "2026-01-05T09:00:00Z"}\nfirst\nsecond\nthird\n')
        result = streamproof(*command, "notes.jsonl")

        assert result.code == 2
        assert "line 2 is no object of JSON" in result.err


def test_numbers_in_quotes_are_numbers_and_the_records_malformed(streamproof):
    rows = orders()
    for place in (5, 60, 61):
        rows[place]["amount"] = "12.5"
    rows[90]["amount"] = "n/a"

    out, scenario, config = made(streamproof, "orders.jsonl", text_of(rows, {}))

    assert "amount double" in config["source"]["orders"]["schema"]
    assert "lines 6, 61, 62 and 91 (amount is a number in quotes; amount is no number)" in out
    assert scenario["source"]["orders"]["faults"]["malformed"] == pytest.approx(4 / 315, abs=0.001)
    assert scenario["source"]["orders"]["columns"]["amount"] == {"kind": "number", "min": 0.5, "max": 49.5, "decimals": 1}
    assert 'amount=F.sum("amount")' in Path("my_job/job.py").read_text()


def test_a_column_with_a_few_copies_is_still_the_key(streamproof):
    _, scenario, _ = made(streamproof, "orders.jsonl", text_of(orders(), {}))

    assert 'deduplicate("order")' in Path("my_job/job.py").read_text()
    assert scenario["source"]["orders"]["faults"]["duplicates"] == pytest.approx(15 / 315, abs=0.001)


def test_the_span_and_the_lag_are_those_of_the_sample(streamproof):
    _, scenario, config = made(streamproof, "orders.jsonl", text_of(orders(), {}))
    said = json.loads(streamproof("lag", "orders.jsonl", "--json").out)

    assert config["source"]["orders"]["event_time"]["lag"] == "1 hour"
    assert said["recommended"]["lag"] == "1 hour"
    assert scenario["source"]["orders"]["span"].startswith("9 hours 5"), "the sample covers ten hours less two minutes"


def test_nested_values_keep_their_own_spread(streamproof):
    _, scenario, _ = made(streamproof, "orders.jsonl", text_of(orders(), {}))
    values = scenario["source"]["orders"]["columns"]["merchant"]["values"]

    assert len({value["name"] for value in values}) == 30
    assert {value["country"] for value in values} == set(COUNTRIES)


def as_csv(rows) -> list[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["order", "amount", "country", "at"])
    writer.writerows([row["order"], row["amount"], row["merchant"]["country"], row["at"]] for row in rows)
    return out.getvalue().splitlines()


def test_csv_with_broken_lines_a_bom_a_second_header_and_commas_at_the_end(streamproof):
    lines = as_csv(orders())
    lines[10] = lines[10] + ",more"
    lines[20] = 'o-00020,"cut'
    lines[30] = lines[0]
    lines[40] = lines[40] + ",,"
    lines[50] = "o-x,n/a,DE,2026-01-05T10:00:00Z"
    lines[60] = ""
    content = b"\xef\xbb\xbf" + "\n".join(lines[:100]).encode() + b"\n\xef\xbb\xbf" + "\n".join(lines[100:]).encode() + b"\n"

    out, scenario, config = made(streamproof, "orders.csv", content)

    assert "4 lines hold no record and are left out" in out
    assert "lines 11, 21, 31 and 51" in out
    assert "amount double" in config["source"]["orders"]["schema"]
    assert scenario["source"]["orders"]["faults"]["malformed"] == pytest.approx(4 / 315, abs=0.001)
    lag = streamproof("lag", "orders.csv")
    assert "lines 11, 21 and 31" in lag.out.replace("\n", " "), "a number that is none has no part in the lag"


def test_times_in_several_ways_are_the_event_time_and_the_others_unparseable(streamproof):
    rows = orders()
    for place in range(0, 315, 9):
        rows[place]["at"] = "05/01/2026 10:00" if place % 2 else 1_767_603_600
    rows[1]["at"] = None

    _, scenario, config = made(streamproof, "orders.jsonl", text_of(rows, {}))

    assert config["source"]["orders"]["event_time"]["column"] == "at"
    faults = scenario["source"]["orders"]["faults"]
    assert faults["unparseable_time"] == pytest.approx(35 / 315, abs=0.001)
    assert faults["missing_time"] == pytest.approx(1 / 315, abs=0.001)
    lag = json.loads(streamproof("lag", "orders.jsonl", "--json").out)
    assert (lag["event_time"], lag["unreadable"]) == ("at", 18), "lag takes a number by its size"


def test_what_json_does_not_have_is_no_number(streamproof):
    content = text_of(orders(), {}).replace(b'"amount": 7.5', b'"amount": NaN')

    out, scenario, config = made(streamproof, "orders.jsonl", content)

    assert "amount double" in config["source"]["orders"]["schema"]
    assert streamproof("check", "my_job").code == 0
    assert scenario["source"]["orders"]["columns"]["amount"]["max"] == 49.5
    assert "amount is no number" in out


def test_lines_with_commas_behind_them_say_how_to_take_them_off(streamproof):
    Path("orders.jsonl").write_text("".join(json.dumps(row) + ",\n" for row in orders()))

    result = streamproof("init", "my_job", "--from", "orders.jsonl")

    assert result.code == 2
    assert "line 1 is no object of JSON: a comma follows the object" in result.err
    assert "sed" in result.err


def test_numbers_that_all_stand_in_quotes_stay_texts_that_are_numbers(streamproof):
    rows = [row | {"amount": f"{row['amount']:.2f}"} for row in orders()]

    _, scenario, config = made(streamproof, "orders.jsonl", text_of(rows, {}))
    values = scenario["source"]["orders"]["columns"]["amount"]["values"]

    assert "amount string" in config["source"]["orders"]["schema"]
    assert (values[0], values[-1], len(values)) == ("0.50", "49.50", 20)


def test_a_line_that_is_too_long_is_left_out(streamproof, monkeypatch):
    monkeypatch.setattr("streamproof.prove.scenario.sample_lines._LONGEST", 1_000)

    out, _, _ = made(streamproof, "orders.jsonl", text_of(orders(), {3: '{"order": "' + 2_500 * "x" + '"}'}))

    assert "one line holds no record and is left out, beside 315 that do: line 3 (longer than 16 MB)" in out
