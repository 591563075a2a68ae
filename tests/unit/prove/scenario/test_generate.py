"""The generator: byte-identical anywhere, every kind of fault in it, written as the source declares."""

import hashlib
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from streamproof.config import EventTime, FilesSource
from streamproof.core.clock import from_micros
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.generate import Kind, generate, without_trace
from streamproof.prove.scenario.scenario import Scenario, load_scenario
from streamproof.prove.scenario.schedule import write_events
from streamproof.prove.scenario.written_time import SourceShape, shape_of_source

EXAMPLE = Path(__file__).parents[4] / "examples" / "risk_exposure"
MILLISECONDS = SourceShape("json", "ts", "milliseconds")


@pytest.fixture(scope="module")
def scenario():
    return load_scenario(EXAMPLE, events=2_000)


@pytest.fixture(scope="module")
def events(scenario):
    return generate(scenario, "trades", MILLISECONDS)


def small(**changes):
    columns = {"id": {"kind": "id"}, "client": {"kind": "key", "count": 3, "hot": 0.5}, "ts": {"kind": "event_time"}}
    source = {"columns": {**columns, **changes.pop("columns", {})}, **changes}
    return Scenario.model_validate({"seed": 1, "events": 400, "batches": 4, "source": {"s": source}})


def test_the_bytes_are_pinned():
    plan = small(
        columns={"total": {"kind": "number", "min": -5, "max": 5}, "side": {"kind": "choice", "values": ["buy", "sell", "größer"]}},
        disorder={"typical": "2 seconds", "delayed": 0.05},
        rhythm={"bursts": 1, "idle": 1},
        faults=dict.fromkeys(("malformed", "missing_time", "unparseable_time", "future_time", "duplicates"), 0.01),
    )
    digest = hashlib.sha256(b"\n".join(event.record for event in generate(plan, "s", MILLISECONDS))).hexdigest()

    assert digest == "5f0fabee32dc9bd7b9d7d12369b4fba59619737b8b7381a9a191ccf1c072468f"


def test_the_first_records_read_like_this(events):
    assert events[0].record.startswith(b'{"_trace": "e-')
    assert list(json.loads(events[0].record)) == ["_trace", "trade_id", "client", "notional", "ts"]


def test_another_seed_gives_other_events_of_the_same_number(scenario, events):
    others = generate(scenario.model_copy(update={"seed": 8}), "trades", MILLISECONDS)

    assert len(others) == len(events) == 2_000
    assert [event.record for event in others] != [event.record for event in events]


def test_every_kind_is_there_in_the_number_that_the_shares_say(events):
    counted = {kind: sum(event.kind is kind for event in events) for kind in Kind}

    assert counted == {
        Kind.OK: 2_000 - 20 - 2 - 1 - 1 - 1 - 5,
        Kind.DUPLICATE: 20,
        Kind.MALFORMED: 2,
        Kind.MISSING_TIME: 1,
        Kind.UNPARSEABLE_TIME: 1,
        Kind.FUTURE_TIME: 1,
        Kind.INVALID: 5,
    }


def test_copies_differ_from_their_event_in_the_trace_only_and_come_later(events):
    by_trace = {event.trace: event for event in events}
    for copy in (event for event in events if event.kind is Kind.DUPLICATE):
        original = by_trace[copy.event_id]
        assert without_trace(copy.record) == without_trace(original.record)
        assert copy.arrival > original.arrival


def test_malformed_records_are_no_json_of_the_schema_and_name_their_trace():
    made = generate(small(faults={"malformed": 0.1}, columns={"total": {"kind": "number"}}), "s", MILLISECONDS)
    ways = set()
    for event in (event for event in made if event.kind is Kind.MALFORMED):
        assert event.record.startswith(f'{{"_trace": "{event.trace}", '.encode())
        try:
            ways.add("number" if isinstance(json.loads(event.record.decode())["total"], str) else "sound")
        except UnicodeDecodeError:
            ways.add("not UTF-8")
        except ValueError:
            ways.add("cut short")

    assert ways == {"number", "not UTF-8", "cut short"}


def test_missing_times_are_null_or_absent():
    made = generate(small(faults={"missing_time": 0.1}), "s", MILLISECONDS)
    missing = [json.loads(event.record) for event in made if event.kind is Kind.MISSING_TIME]

    assert {"ts" in record for record in missing} == {True, False}
    assert all(record.get("ts") is None for record in missing)


def test_future_times_lie_far_beyond_any_wall_clock():
    made = generate(small(faults={"future_time": 0.1}), "s", MILLISECONDS)

    assert {from_micros(event.time_us).year for event in made if event.kind is Kind.FUTURE_TIME} == {2999}


def test_idle_stretches_hold_no_event_and_bursts_many():
    rhythm = {"idle": 1, "idle_length": "10 minutes", "bursts": 1, "burst_share": 0.5, "burst_length": "10 seconds"}
    times = sorted(event.time_us for event in generate(small(rhythm=rhythm), "s", MILLISECONDS))

    assert max(later - earlier for earlier, later in itertools.pairwise(times)) >= 600 * 1_000_000
    assert max(sum(begin <= time < begin + 10_000_000 for time in times) for begin in times) > 150


def test_a_source_that_is_quiet_behind_some_batches_has_all_its_events_in_those():
    made = generate(small(batches=2), "s", MILLISECONDS)

    assert {event.batch for event in made} == {0, 1}
    assert len(made) == 400
    with pytest.raises(ValidationError, match=r"comes in 5"):
        small(batches=5)


def test_delayed_events_come_out_of_order():
    plan = small(disorder={"delayed": 0.1, "delayed_by": ["10 minutes", "20 minutes"]})
    made = generate(plan, "s", MILLISECONDS)

    newest, behind = 0, 0
    for event in made:
        behind += event.time_us < newest - 500_000_000
        newest = max(newest, event.time_us)
    assert 30 <= behind <= 40


def test_the_hot_key_has_its_share():
    made = generate(small(), "s", MILLISECONDS)

    assert 0.4 < sum(event.values["client"] == "0" for event in made) / 400 < 0.6


@pytest.mark.parametrize(
    ("shape", "written"),
    [
        (SourceShape("json", "ts", "seconds"), 1_767_603_600),
        (SourceShape("json", "ts", "milliseconds"), 1_767_603_600_123),
        (SourceShape("json", "ts", "microseconds"), 1_767_603_600_123_000),
        (SourceShape("json", "ts", "nanoseconds"), 1_767_603_600_123_000_000),
        (SourceShape("json", "ts"), "2026-01-05T09:00:00.123Z"),
        (SourceShape("json", "ts", None, "dd.MM.yyyy HH:mm:ss", "Europe/Berlin"), "05.01.2026 10:00:00"),
        (SourceShape("json", "ts", None, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "Asia/Kolkata"), "2026-01-05T14:30:00.123+05:30"),
        (SourceShape("parquet", "ts"), datetime(2026, 1, 5, 9, 0, 0, 123_000, tzinfo=UTC)),
    ],
)
def test_event_time_is_written_as_the_source_declares(shape, written):
    assert shape.written(1_767_603_600_123_000) == written


def test_intended_times_are_no_finer_than_what_is_written():
    made = generate(small(), "s", SourceShape("json", "ts", "seconds"))

    assert all(event.time_us % 1_000_000 == 0 and event.values["ts"] * 1_000_000 == event.time_us for event in made)


def test_a_pattern_that_cannot_be_written_is_refused():
    with pytest.raises(ScenarioError, match='does not know "E"'):
        SourceShape("json", "ts", None, "EEE dd").written(0)


def test_a_source_with_another_event_time_column_is_refused(scenario):
    with pytest.raises(ScenarioError, match='event time of trades is the column "when"'):
        generate(scenario, "trades", SourceShape("json", "when", "milliseconds"))


def test_the_files_hold_every_event_once_and_are_ordered_by_time(events, tmp_path):
    traces = write_events(events, tmp_path, "json", schema_columns={})

    files = sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert [path.name for path in files] == [f"part-{batch}-{part}.json" for batch in range(5) for part in range(2)]
    assert {b.stat().st_mtime_ns - a.stat().st_mtime_ns for a, b in itertools.pairwise(files)} == {1_000_000_000}
    assert sorted(trace for names in traces.values() for trace in names) == sorted(event.trace for event in events)
    assert files[0].read_bytes().splitlines()[0] == events[0].record


def test_the_shipped_plan_reads_the_same_records_without_trace(events, tmp_path):
    write_events(events, tmp_path, "json", schema_columns={}, trace=False)

    assert b"_trace" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_parquet_has_no_malformed_records_and_typed_columns(scenario, tmp_path):
    made = generate(scenario, "trades", SourceShape("parquet", "ts"))
    columns = {"trade_id": "string", "client": "string", "notional": "decimal(18,2)", "ts": "timestamp"}
    write_events(made, tmp_path, "parquet", schema_columns=columns)

    assert not {event.kind for event in made} & {Kind.MALFORMED, Kind.UNPARSEABLE_TIME}
    table = pq.read_table(tmp_path / "part-0-0.parquet")
    assert table.column_names == ["_trace", "trade_id", "client", "notional", "ts"]
    assert str(table.schema.field("notional").type) == "decimal128(18, 2)"


def test_orc_has_no_malformed_records_and_a_timestamp_in_its_own_type():
    table = {"connector": "files", "path": "x", "format": "orc", "event_time": {"column": "ts"}, "schema": "ts timestamp"}
    shape = shape_of_source(FilesSource.model_validate(table))

    assert shape == SourceShape("parquet", "ts")


def test_a_column_type_that_parquet_cannot_be_given_is_refused(scenario, tmp_path):
    made = generate(scenario, "trades", SourceShape("parquet", "ts"))

    with pytest.raises(ScenarioError, match='the column "client" of type "map<string,string>"'):
        write_events(made, tmp_path, "parquet", schema_columns={"client": "map<string,string>"})


def test_a_number_in_quotes_is_written_so():
    source = FilesSource(
        connector="files", path="data", format="json", schema="ts string", event_time=EventTime(column="ts", unit="milliseconds")
    )

    assert shape_of_source(source).written(1_767_603_600_123_000) == "1767603600123"
