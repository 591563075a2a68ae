"""The events of a sample as chunks: the same instants from every format, columns told from the records, and what is wrong said."""

import json
from datetime import UTC, datetime

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.errors import ConfigurationError, ScenarioError
from streamproof.prove.scenario import sample_pieces
from streamproof.prove.scenario.sample_events import Asked, open_sample

NINE = 1_767_603_600_000
ROWS = [{"id": f"t{place}", "device": "a" if place % 2 else None, "ts": NINE + place * 1_500} for place in range(6)]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(sample_pieces, "_ROWS", 4)


def json_file(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def csv_file(path):
    path.write_text("id,device,ts\n" + "".join(f"{row['id']},{row['device'] or ''},{row['ts']}\n" for row in ROWS))
    return path


def parquet_file(path):
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def avro_file(path):
    fields = [("id", "string"), ("device", ["null", "string"]), ("ts", "long")]
    schema = {"type": "record", "name": "R", "fields": [{"name": name, "type": type_} for name, type_ in fields]}
    with path.open("wb") as file:
        fastavro.writer(file, schema, ROWS)
    return path


def read(*paths, **asked):
    events = open_sample(paths, Asked(**asked))
    chunks = list(events.chunks())
    return events, np.concatenate([chunk.times for chunk in chunks]).tolist(), chunks


@pytest.mark.parametrize(
    ("write", "name"), [(json_file, "s.jsonl"), (csv_file, "s.csv"), (parquet_file, "s.parquet"), (avro_file, "s.avro")]
)
def test_every_format_gives_the_same_events(write, name, tmp_path):
    events, times, chunks = read(write(tmp_path / name), key="device")

    assert (events.name, events.time, events.unit, dict(events.grouped)) == ("s", "ts", "milliseconds", {"key": "device"})
    assert times == [row["ts"] * 1_000 for row in ROWS]
    assert len(chunks) == 2
    assert np.concatenate([chunk.groups["key"] for chunk in chunks]).tolist() == [0, 1, 0, 1, 0, 1]
    assert events.names["key"].all() == ["(none)", "a"]


@pytest.mark.parametrize(
    "write",
    [
        lambda at: at.isoformat(),
        lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        lambda at: at.strftime("%Y-%m-%d %H:%M:%S"),
        lambda at: at.timestamp(),
        lambda at: int(at.timestamp()),
        lambda at: int(at.timestamp()) * 10**9,
    ],
)
def test_event_times_are_read_however_they_are_written(write, tmp_path):
    instants = [datetime(2026, 1, 5, 9, 0, place, tzinfo=UTC) for place in range(5)]

    _, times, _ = read(json_file(tmp_path / "s.jsonl", [{"time": write(at)} for at in instants]))

    assert times == [int(at.timestamp()) * 10**6 for at in instants]


def test_parquet_times_of_every_kind(tmp_path):
    at = datetime(2026, 1, 5, 9, 0, 0, 123_456, tzinfo=UTC)
    types = {"ns": pa.timestamp("ns"), "ms": pa.timestamp("ms", tz="Europe/Berlin"), "us": pa.timestamp("us")}
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({name: pa.array([at, None], type_) for name, type_ in types.items()}), path)

    found = {name: read(path, time=name)[1] for name in types}

    whole = NINE * 1_000
    assert found == {"ns": [whole + 123_456], "ms": [whole + 123_000], "us": [whole + 123_456]}


def test_records_without_a_time_are_counted(tmp_path):
    rows = [*ROWS, {"id": "x"}, {"id": "y", "ts": "soon"}, {"id": "z", "ts": 10**40}, {"id": "u", "ts": True}]
    _, times, chunks = read(json_file(tmp_path / "s.jsonl", rows), time="ts", unit="milliseconds")

    assert len(times) == 6
    assert sum(chunk.unreadable for chunk in chunks) == 4


def test_several_files_and_folders_are_one_sample_and_are_told_apart(tmp_path):
    (tmp_path / "in" / "day=2").mkdir(parents=True)
    (tmp_path / "in" / "_staging").mkdir()
    json_file(tmp_path / "in" / "_staging" / "x.jsonl")
    json_file(tmp_path / "in" / "b.jsonl", ROWS[:2])
    json_file(tmp_path / "in" / "day=2" / "a.jsonl", ROWS[2:])
    csv_file(tmp_path / "c.csv")

    events, times, _ = read(tmp_path / "in", tmp_path / "c.csv")

    assert events.names["file"].all() == ["b.jsonl", "a.jsonl", "c.csv"]
    assert (events.name, len(times)) == ("in", 12)


KAFKA = [
    {
        "topic": "t",
        "partition": place % 2,
        "offset": place,
        "timestamp": NINE + place,
        "value": json.dumps({"timestamp": NINE - place * 1_000}),
    }
    for place in range(4)
]


@pytest.mark.parametrize("packed", [False, True])
def test_records_of_kafka_have_the_columns_of_their_values_and_a_partition(packed, tmp_path):
    path = tmp_path / "topic.parquet"
    rows = [{**row, "value": row["value"].encode()} if packed else row for row in KAFKA]
    if packed:
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path = json_file(tmp_path / "topic.jsonl", rows)

    events, times, _ = read(path)

    assert (events.time, dict(events.grouped), events.names["partition"].all()) == (
        "timestamp",
        {"partition": "kafka.partition"},
        ["0", "1"],
    )
    assert times == [(NINE - place * 1_000) * 1_000 for place in range(4)]
    assert "--arrival kafka.timestamp" in events.notes[0]


def test_records_of_kafka_arrive_by_their_timestamp_or_offset_where_it_is_asked(tmp_path):
    path = json_file(tmp_path / "topic.jsonl", KAFKA)
    by_clock, _, (clocked,) = read(path, arrival="kafka.timestamp")
    by_number, _, (numbered,) = read(path, arrival="kafka.offset")

    assert (by_clock.clock_known, by_number.clock_known, by_clock.notes) == (True, False, ())
    assert clocked.arrival.tolist() == [(NINE + place) * 1_000 for place in range(4)]
    assert numbered.arrival.tolist() == [0, 1, 2, 3]


def test_values_of_kafka_that_are_no_objects_leave_its_own_columns(tmp_path):
    rows = [{**row, "value": "text"} for row in KAFKA]
    events, _, _ = read(json_file(tmp_path / "topic.jsonl", rows))

    assert (events.time, dict(events.grouped)) == ("timestamp", {"partition": "partition"})


@pytest.mark.parametrize(
    ("rows", "asked", "said"),
    [
        ([{"id": "a"}, {"id": "b"}], {}, ["No column of s.jsonl looks like event time: id.", "--time COLUMN"]),
        (ROWS, {"time": "tss"}, ['--time tss: s.jsonl has no column "tss". Did you mean "ts"?', "It has id, device, ts."]),
        (ROWS, {"key": "devise"}, ['--by devise: s.jsonl has no column "devise". Did you mean "device"?']),
        (ROWS, {"partition": "p"}, ['--partition p: s.jsonl has no column "p".']),
        (ROWS, {"arrival": "seen"}, ['--arrival seen: s.jsonl has no column "seen".']),
        (ROWS, {"arrival": "id"}, ["gives no order of arrival: it holds values such as 't0'"]),
        (ROWS, {"time": "id"}, ["does not say when an event happened: it holds values such as 't0'"]),
        ([{"n": 5}, {"n": -7}], {"time": "n"}, ["are no times of the years 2000 to 2100: 5.", "--unit"]),
        ([{"n": None}, {"n": None}], {"time": "n"}, ["it holds nothing"]),
    ],
)
def test_what_cannot_be_measured_says_what_to_do(rows, asked, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = json_file(tmp_path / "s.jsonl", rows)

    with pytest.raises(ConfigurationError) as problem:
        open_sample([path], Asked(**asked))

    assert all(part in str(problem.value) for part in said)


def test_negative_numbers_are_times_where_their_unit_is_said(tmp_path):
    _, times, _ = read(json_file(tmp_path / "s.jsonl", [{"n": -5}, {"n": 7}]), time="n", unit="seconds")

    assert times == [-5_000_000, 7_000_000]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("s.jsonl", "", "is empty"), ("s.txt", "x", "ending"), ("s.jsonl", '{"ts": 1}\n[1]\n', "line 2 is no object")],
)
def test_bad_files_are_refused(name, content, said, tmp_path):
    (tmp_path / name).write_text(content)

    with pytest.raises(ScenarioError, match=said):
        open_sample([tmp_path / name], Asked())


def test_a_broken_line_far_below_is_left_out_and_named(tmp_path):
    path = json_file(tmp_path / "s.jsonl", ROWS * 1_000)
    path.write_text(path.read_text() + '{"ts": \n')

    events = open_sample([path], Asked())

    assert sum(len(chunk) + chunk.unreadable for chunk in events.chunks()) == 6_000
    assert events.broken == 1
    assert "line 6,001 (no object of JSON)" in events.notes_of_lines()[0]


def test_a_folder_without_a_sample_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="holds no file of a sample"):
        open_sample([tmp_path], Asked())


def test_a_place_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="There is no"):
        open_sample([tmp_path / "x.jsonl"], Asked())
