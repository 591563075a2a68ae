"""A perturbed sample is the sample: every record once as it is, and besides only copies and cut lines."""

import csv
import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.perturb import UNPERTURBED, Perturbation, SampleEvent, perturb
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_records import Record
from streamproof.prove.scenario.sample_time import TimeColumn

START_US = 1_767_603_600_000_000


def sample_of(records: list[Record], format_: str = "json", time_column: str | None = "ts") -> Sample:
    columns = {"id": "long", "ts": "long"}
    time = TimeColumn(time_column, "microseconds") if time_column is not None else None
    return Sample("trades", Path("trades.json"), format_, "id long, ts long", records, time, "id", columns)


def trades(seconds: list[float | None], format_: str = "json") -> Sample:
    records = []
    for number, second in enumerate(seconds):
        values = {"id": number, "ts": None if second is None else START_US + int(second * 1_000_000)}
        raw = json.dumps(values) if format_ == "json" else f"{values['id']},{values['ts'] or ''}"
        records.append(Record(None if format_ == "parquet" else raw.encode(), values))
    return sample_of(records, format_)


HOUR = trades([second * 3.6 for second in range(1_000)])


def kinds(events: list[SampleEvent]) -> Counter[str]:
    return Counter(event.kind for event in events)


def originals(events: list[SampleEvent]) -> list[SampleEvent]:
    return [event for event in events if "+" not in event.trace]


durations = st.none() | st.integers(0, 7_200).map(lambda seconds: timedelta(seconds=seconds))
perturbations = st.builds(
    Perturbation,
    disordered=st.floats(0, 1),
    disordered_by=durations,
    late=st.floats(0, 1),
    late_by=st.none() | st.tuples(st.just(timedelta(seconds=30)), st.just(timedelta(seconds=300))),
    duplicates=st.floats(0, 1),
    duplicated_within=durations,
    malformed=st.floats(0, 1),
    gaps=st.integers(0, 3),
    gap_length=durations,
    bursts=st.integers(0, 3),
    burst_length=durations,
)
samples = st.builds(trades, st.lists(st.none() | st.floats(-600, 600), max_size=60), st.sampled_from(["json", "csv", "parquet"]))


@settings(deadline=None)
@given(samples, perturbations, st.integers(0, 2**32))
def test_every_record_is_there_once_and_nothing_is_invented(sample, perturbation, seed):
    events = perturb(sample, perturbation, seed)

    of_trace = {event.trace: event for event in events}
    assert len(of_trace) == len(events), "a trace twice"
    assert sorted(event.trace for event in originals(events)) == [f"trades-{number:06d}" for number in range(len(sample.records))]
    for event in events:
        record = sample.records[int(event.event_id[-6:])]
        if event.kind == "malformed":
            assert record.raw.startswith(event.record.raw)
            assert len(event.record.raw) < len(record.raw)
        else:
            assert (event.record.raw, event.record.values) == (record.raw, record.values)
        assert ("+" in event.trace) == (event.kind in ("duplicate", "malformed"))
    assert events == perturb(sample, perturbation, seed)


@settings(deadline=None)
@given(samples, perturbations, st.integers(0, 2**32))
def test_the_kind_says_what_can_be_seen(sample, perturbation, seed):
    events = perturb(sample, perturbation, seed)

    furthest = -1
    for event in originals(events):
        number = int(event.trace[-6:])
        assert (event.kind == "plain") == (number > furthest)
        furthest = max(furthest, number)
    places = {event.trace: place for place, event in enumerate(events)}
    assert all(places[event.event_id] < places[event.trace] for event in events if event.kind == "duplicate")
    assert not (sample.format == "parquet" and kinds(events)["malformed"])


@settings(deadline=None)
@given(samples, st.integers(0, 2**32))
def test_cut_lines_are_no_records(sample, seed):
    cut = [event.record.raw for event in perturb(sample, Perturbation(malformed=1), seed) if event.kind == "malformed"]

    for line in cut:
        if sample.format == "csv":
            assert len(next(csv.reader([line.decode()]))) < 2
        else:
            with pytest.raises(json.JSONDecodeError):
                json.loads(line)


@given(samples)
def test_unperturbed_is_the_file(sample):
    events = perturb(sample, UNPERTURBED, 7)

    assert [event.record for event in events] == list(sample.records)
    assert {event.kind for event in events} <= {"plain"}


def test_the_defaults_do_a_little_of_everything():
    found = kinds(perturb(HOUR, Perturbation(), 7))

    assert found["late"] == 5
    assert 45 <= found["delayed"] <= 90, "50 out of order, and those of a gap and of a burst"
    assert found["duplicate"] == 10
    assert found["malformed"] == 2
    assert found.total() == 1_012


def test_another_seed_gives_another_order():
    assert perturb(HOUR, Perturbation(), 7) != perturb(HOUR, Perturbation(), 8)


def clocks(events: list[SampleEvent]) -> list[tuple[SampleEvent, int]]:
    """Each record with how far behind the newest one it arrives, in microseconds."""
    newest, found = 0, []
    for event in originals(events):
        instant = event.record.values["ts"]
        newest = max(newest, instant)
        found.append((event, newest - instant))
    return found


def test_disorder_stays_within_a_minute():
    behind = clocks(perturb(HOUR, replace(UNPERTURBED, disordered=0.05), 7))

    assert 0 < max(lag for _, lag in behind) <= 60_000_000
    assert sum(lag > 0 for _, lag in behind) == 50


def test_the_late_come_far_behind():
    behind = clocks(perturb(HOUR, replace(UNPERTURBED, late=0.01), 7))

    assert all(lag >= 0.24 * 3_600_000_000 for event, lag in behind if event.kind == "late")
    assert sum(event.kind == "late" for event, _ in behind) == 10


def test_a_gap_holds_a_stretch_back_and_lets_it_come_at_once():
    events = perturb(HOUR, replace(UNPERTURBED, gaps=1, gap_length=timedelta(minutes=5)), 7)

    held = [place for place, event in enumerate(events) if event.kind == "delayed"]
    numbers = [int(events[place].trace[-6:]) for place in held]
    assert held == list(range(held[0], held[0] + len(held))), "at once"
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "a whole stretch, in its order"
    assert 80 <= len(numbers) <= 84, "five minutes of a record each 3.6 seconds"


def test_a_burst_holds_every_second_record_back():
    events = perturb(HOUR, replace(UNPERTURBED, bursts=1, burst_length=timedelta(minutes=5)), 7)

    held = [place for place, event in enumerate(events) if event.kind == "delayed"]
    numbers = [int(events[place].trace[-6:]) for place in held]
    assert held == list(range(held[0], held[0] + len(held))), "at once"
    assert numbers == list(range(numbers[0], numbers[0] + 2 * len(numbers), 2))
    assert len(numbers) >= 40


def test_without_event_time_the_places_are_the_clock():
    events = perturb(replace(HOUR, time=None), Perturbation(), 7)

    assert {"late", "delayed", "duplicate", "malformed"} <= set(kinds(events))
    moved = [abs(place - int(event.trace[-6:])) for place, event in enumerate(originals(events)) if event.kind == "delayed"]
    assert max(moved) <= 60, "2 % of a thousand, and what else is moved around it"


@pytest.mark.parametrize(
    "wrong",
    [{"late": 1.5}, {"duplicates": -0.1}, {"gaps": -1}, {"gap_length": timedelta(-1)}, {"late_by": (timedelta(-1), timedelta(1))}],
    ids=str,
)
def test_what_cannot_be(wrong):
    with pytest.raises(ScenarioError, match="perturbation of a sample"):
        Perturbation(**wrong)
