"""Alerts worked out in Python over samples: what comes out is what Prometheus' own engine says of the same series."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from streamproof.core.randomness import Seeded
from streamproof.errors import ConfigurationError
from streamproof.observe.metrics import ALERTS
from streamproof.observe.rehearsal.history import Scraped
from streamproof.observe.rehearsal.promql import Moment, Vector, parsed
from streamproof.observe.rehearsal.raised import looked_at
from streamproof.observe.rehearsal.samples import Labels, Scrape, labelled
from streamproof.observe.rules import alert_rules
from streamproof.observe.spans import shrunk
from unit.observe.test_alerts import CASES, FURTHER, QUIET, of, series, verdict

_PART = re.compile(r"(?P<first>_|-?[\d.]+)((?P<step>[+-][\d.]+)?x(?P<times>\d+))?")


def values_of(notation: str) -> Iterator[float | None]:
    """The values that promtool makes of its notation; None where there is no sample."""
    for part in notation.split():
        found = _PART.fullmatch(part)
        assert found is not None, part
        times, step = int(found["times"] or 0), float(found["step"] or 0)
        if found["first"] == "_":
            yield from [None] * max(times, 1)
        else:
            yield from (float(found["first"]) + step * number for number in range(times + 1))


def named(text: str) -> tuple[str, Labels]:
    name, _, rest = text.partition("{")
    return name, labelled(**dict(re.findall(r'(\w+)="([^"]*)"', rest)))


def scraped(given: dict[str, str], seconds: float = 60) -> Scraped:
    """These series, in promtool's notation, as one process has shown them."""
    every: dict[float, dict[tuple[str, Labels], float]] = {}
    for text, notation in given.items():
        for number, value in enumerate(values_of(notation)):
            there = every.setdefault(number * seconds, {})
            if value is not None:
                there[named(text)] = value
    return Scraped([[Scrape(at, found) for at, found in sorted(every.items())]])


def fires(history: Scraped, name: str, at: float) -> bool:
    """Whether an alert is firing at a moment: it has fired by then, and its condition holds."""
    raised = [one for one in looked_at(history).raised if one.alert.name == name]
    ((condition, wait),) = [(alert.condition(), alert.lasting) for _, alert in ALERTS if alert.name == name]
    assert wait
    holds = Moment(history, at).value(parsed(condition))
    return any(one.at <= at for one in raised) and bool(holds)


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_when_promtool_says_so(name):
    case = CASES[name]
    history = scraped(case.series)

    assert fires(history, name, case.fires_at * 60)
    assert case.quiet_at is None or not fires(history, name, case.quiet_at * 60)
    labels = {one.labels for one in looked_at(history).raised if one.alert.name == name}
    assert labels == {named(f"x{{{case.labels}}}")[1]}


@pytest.mark.parametrize("what", FURTHER)
def test_an_alert_fires_in_a_further_case_as_well(what):
    name, case = FURTHER[what]

    assert fires(scraped(case.series), name, case.fires_at * 60)
    assert not fires(scraped(case.series), name, (case.quiet_at or 0) * 60)


@pytest.mark.parametrize("what", QUIET)
def test_nothing_is_raised_where_all_is_well(what):
    assert [one.alert.name for one in looked_at(scraped(QUIET[what])).raised] == []


QUERY = 'job_name="clicks", query="sums"'
ASKED = [
    *(alert.condition() for _, alert in ALERTS),
    "rate(streamproof_input_records_total[15m])",
    "increase(streamproof_input_records_total[15m])",
    "changes(streamproof_waiting_batches[15m])",
    "deriv(streamproof_waiting_batches[15m])",
    "predict_linear(streamproof_waiting_batches[15m], 300)",
    "min_over_time(streamproof_waiting_batches[15m])",
    "last_over_time(streamproof_waiting_batches[15m])",
    "sum by (job_name) (streamproof_waiting_batches)",
    "sum without (output) (streamproof_waiting_batches)",
    "streamproof_waiting_batches offset 15m - 2",
    'rate(streamproof_records_total{place="late"}[15m]) / on (job_name, query) group_left rate(streamproof_input_records_total[15m])',
    "streamproof_waiting_batches > 3 unless on (query) streamproof_query_died == 1",
    "streamproof_query_died > 3 or streamproof_query_up",
    "streamproof_waiting_batches and on (query) streamproof_query_died > 3",
    "time() - streamproof_batch_begun_timestamp_seconds",
    "clamp_min(streamproof_waiting_batches * -1, -4) / 0",
]


def some_series(seed: int) -> dict[str, str]:
    """Series whose values are drawn: gauges go up and down, counters rise and begin anew."""
    dice = Seeded(seed, "series")

    def gauge() -> str:
        return " ".join(str(dice.below(10)) for _ in range(60))

    def counter() -> str:
        found, value = list[str](), 0
        for _ in range(60):
            value = 0 if dice.below(20) == 0 else value + dice.below(50)
            found.append(str(value))
        return " ".join(found)

    def both(name: str, made: str, labels: str = "") -> dict[str, str]:
        return of(name, made, f"{QUERY}{labels}")

    lags = {
        key: value
        for number in range(2)
        for key, value in both("consumer_lag_records", gauge(), f', source="events", topic="clicks", partition="{number}"').items()
    }
    outputs = {key: value for name in ("a", "b") for key, value in both("waiting_batches", gauge(), f', output="{name}"').items()}
    return {
        **lags,
        **outputs,
        **both("input_records_total", counter()),
        **both("records_total", counter(), ', place="late"'),
        **both("records_total", counter(), ', place="rejected"'),
        **both("query_up", "1x59"),
        **both("query_died", gauge()),
        **both("query_started_timestamp_seconds", gauge()),
        **both("batch_begun_timestamp_seconds", gauge()),
        **both("watermark_leapt_timestamp_seconds", "_x5 300x5 _x5 1000x40"),
        **both("batch_seconds_sum", counter()),
        **both("batch_seconds_count", counter()),
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_those_of_prometheus(tmp_path: Path, seed: int) -> None:
    """Off the grid of the samples: versions of Prometheus differ in whether a range has the sample at its beginning."""
    given = some_series(seed)
    history = scraped(given)
    tests = []
    for asked in ASKED:
        for minute in (20, 41):
            found = Moment(history, minute * 60 + 30.0).value(parsed(asked))
            # A sample of a scrape holds until the next one: Prometheus, too, looks back to it.
            assert isinstance(found, dict), asked
            for labels, value in found.items():
                tests.append(alike(asked, minute, labels, value, found))
            tests.append({"expr": f"count({asked}) or vector(0)", "eval_time": f"{minute}m30s", "exp_samples": [said(len(found))]})

    assert len(tests) > 3 * len(ASKED)
    assert verdict(tmp_path, {"interval": "1m", "input_series": series(given), "promql_expr_test": tests}) == ""


def said(value: float) -> dict[str, object]:
    return {"labels": "{}", "value": value}


def alike(asked: str, minute: int, labels: Labels, value: float, found: Vector) -> dict[str, object]:
    """That Prometheus has this value for these labels, but for rounding; infinity is itself."""
    group = ", ".join(f'"{name}", "{text}"' for name, text in labels)
    assert group
    wanted = {name for name, _ in labels}
    one = f"sum by ({', '.join(sorted(wanted))}) ({asked})"
    same = [other for other in found if {name for name, _ in other} == wanted]
    close = (
        f"({one} - ({value!r})) > -1e-6 and ({one} - ({value!r})) < 1e-6" if abs(value) != float("inf") else f"{one} == {value:+}"
    )
    near = sum(1 for other in same if abs(found[other] - value) < 1e-6 or found[other] == value)
    return {"expr": f"count({close.replace('inf', 'Inf')}) or vector(0)", "eval_time": f"{minute}m30s", "exp_samples": [said(near)]}


def test_an_alert_on_two_processes_in_turn_begins_to_wait_anew():
    """A process that is gone is scraped no more: what waited on its alert waits from the beginning."""
    waits = named(f'streamproof_waiting_batches{{{QUERY}, output="a"}}')

    def life(begin: int, end: int) -> list[Scrape]:
        return [Scrape(float(at), {waits: 3.0}) for at in range(begin, end)]

    def raised(*lives: list[Scrape]) -> list[float]:
        return [one.at for one in looked_at(Scraped(lives), minute=timedelta(seconds=1)).raised]

    assert raised(life(0, 4)) == [2.0]
    assert raised(life(0, 2), life(2, 4)) == []
    assert raised(life(0, 2), life(2, 6)) == [4.0]


def test_two_drivers_at_once_do_not_look_like_one_that_starts_again_and_again():
    started = named(f"streamproof_query_started_timestamp_seconds{{{QUERY}}}")
    one, other = ([Scrape(at + number / 2, {started: float(number)}) for at in range(10)] for number in range(2))

    assert [found.alert.name for found in looked_at(Scraped([one, other]), minute=timedelta(seconds=1)).raised] == []


def test_all_times_of_a_rule_become_shorter_alike():
    assert shrunk("x[15m] > $2m * y offset 1d", timedelta(seconds=1)) == "x[15s] > 2 * y offset 1440s"
    assert shrunk("x[15m] > $2m and x > 1e9") == "x[15m] > 120 and x > 1e9"
    assert shrunk("2m", timedelta(milliseconds=100)) == "200ms"
    assert "$" not in "".join(line for line in alert_rules().splitlines() if "expr" in line)


@pytest.mark.parametrize("text", ["avg(x)", "histogram_quantile(0.9, x)", 'x{a=~"b"}', "x / on (a) group_right (b) y"])
def test_what_is_not_known_is_said(text):
    with pytest.raises(ConfigurationError, match="Proofs do not work out"):
        Moment(scraped({"x": "1x3", "y": "1x3"}), 60).value(parsed(text))


def test_what_is_no_expression_is_said():
    with pytest.raises(ConfigurationError, match="is no expression of PromQL"):
        parsed("x >")
