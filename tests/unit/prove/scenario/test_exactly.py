"""Events written out one by one: what is written is what is read, and what is no event is refused with its place."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.exactly import Exactly, exactly_of
from streamproof.prove.scenario.generate import Edge, Event, Kind, record_of
from streamproof.prove.scenario.schedule import write_events


def event(trace: str, number: int, **others: object) -> Event:
    values = {"id": trace, "ts": 1_767_603_600_000 + number, "notional": 12.5}
    record = record_of(trace, {name: json.dumps(value) for name, value in values.items()})
    return replace(
        Event(trace, Kind.OK, values, 1_767_603_600_000_000 + number * 1_000, record, number, number // 2, number % 2), **others
    )


SOUND = event("e-000000", 0)


def test_what_is_written_is_what_is_read_through_json():
    events = [
        SOUND,
        event("e-000001", 1, kind=Kind.MALFORMED, record=b'{"_trace": "e-000001", \xff\xfe'),
        event(
            "e-000002",
            2,
            kind=Kind.MISSING_TIME,
            time_us=None,
            values={"id": "e-000002", "ts": None},
            record=b'{"_trace": "e-000002", "id": "e-000002"}',
        ),
        event("e-000002+1", 3, kind=Kind.DUPLICATE),
        event("e-000004", 4, values={"at": datetime(2026, 1, 5, 9, tzinfo=UTC)}),
        event("e-000005", 5, edge=Edge("a microsecond below the late bound", ("exposure",), late=True, bound_us=17)),
    ]

    again = exactly_of(json.loads(json.dumps(Exactly({"trades": events}).as_value())))

    assert list(again.of_source["trades"]) == [
        one if one.record == two.record else replace(one, record=two.record)
        for one, two in zip(events, again.of_source["trades"], strict=True)
    ]
    assert [one.record for one in again.of_source["trades"]][1:3] == [one.record for one in events][1:3]
    assert (again.batches, again.events, again.total) == (3, 6, 6)


def test_a_sound_record_is_not_written_beside_its_values():
    [written] = Exactly({"trades": [SOUND]}).as_value()["trades"]

    assert set(written) == {"event", "batch", "time", "values"}


def test_a_file_is_named_so_that_a_command_can_say_it(tmp_path):
    file = tmp_path / "smallest.json"
    file.write_text(json.dumps(Exactly({"trades": [SOUND], "quotes": []}).as_value()))

    assert exactly_of(file).file == str(file)
    assert exactly_of(str(file)).of_source == {"trades": (SOUND,), "quotes": ()}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "names no sources"),
        ({"trades": []}, "there is no event"),
        ({"trades": [{"batch": 0, "values": {}}]}, "event 1 of trades cannot be read: KeyError"),
        ({"trades": [{"event": "e", "batch": -1, "values": {}}]}, "count from 0"),
        ({"trades": [{"event": "e", "batch": 0, "values": {}, "wehn": 1}]}, 'has the key "wehn"'),
        ({"trades": [{"event": "e", "batch": 0, "values": {}, "kind": "odd"}]}, "'odd' is not a valid Kind"),
        ({"trades": [{"event": "e", "batch": 0, "values": {}, "time": "noon"}]}, "Invalid isoformat"),
        (
            {"trades": [{"event": "e", "batch": 1, "values": {}}, {"event": "f", "batch": 0, "values": {}}]},
            "event 2 of trades is of batch 0",
        ),
        ({"trades": [{"event": "e", "batch": 0, "values": {}}, {"event": "e", "batch": 0, "values": {}}]}, "are called e"),
    ],
)
def test_what_is_no_event_is_refused(given, said):
    with pytest.raises(ScenarioError, match=said):
        exactly_of(given)


@pytest.mark.parametrize("text", [None, "{", "[1]", b"\xff"])
def test_a_file_without_events_is_refused(tmp_path, text):
    file = tmp_path / "smallest.json"
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    with pytest.raises(ScenarioError, match=r"smallest\.json"):
        exactly_of(file)


def test_a_batch_with_a_hole_has_an_empty_file_so_that_spark_takes_none_of_the_next_for_it(tmp_path):
    events = [event("e-000001", 1), event("e-000004", 4), event("e-000005", 5)]  # batch 0, file 1; batch 2, both files

    traces = write_events(events, tmp_path, "json", schema_columns={}, partitions=2)

    assert traces == {
        "part-0-0.json": [],
        "part-0-1.json": ["e-000001"],
        "part-1-0.json": [],
        "part-1-1.json": [],
        "part-2-0.json": ["e-000004"],
        "part-2-1.json": ["e-000005"],
    }
    by_age = sorted(tmp_path.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    assert [file.name for file in by_age] == list(traces)
    assert (tmp_path / "part-1-0.json").read_bytes() == b""


@pytest.mark.parametrize("file_format", ["parquet", "avro", "orc"])
def test_a_file_without_rows_can_be_written_in_each_format_of_columns(tmp_path, file_format):
    columns = {"id": "string", "notional": "double"}

    write_events([event("e-000001", 1)], tmp_path, file_format, schema_columns=columns, partitions=2)

    assert (tmp_path / f"part-0-0.{file_format}").stat().st_size > 0
