"""Spark's logs as text."""

import json

import pytest

from streamproof.checkpoint.logs import (
    files_of_batch,
    is_initial_positions,
    log_number,
    parse_commit,
    parse_initial_positions,
    parse_offsets,
    parse_source_log,
    positions_in,
    source_entries,
)
from streamproof.errors import TornCheckpoint, UnknownFormat

METADATA = {"batchWatermarkMs": 50_000, "batchTimestampMs": 1_767_603_600_000, "conf": {"spark.sql.shuffle.partitions": "2"}}
OFFSETS = f'v1\n{json.dumps(METADATA)}\n{{"logOffset":3}}\n-'


def line(name, entry):
    return json.dumps({"path": f"file:///in/{name}", "timestamp": 1_000, "batchId": entry})


def test_an_offset_log_is_read():
    log = parse_offsets(OFFSETS)

    assert (log.watermark_ms, log.timestamp_ms, log.sources) == (50_000, 1_767_603_600_000, ('{"logOffset":3}', None))
    assert (log.log_offset(0), log.log_offset(1), log.log_offset(2)) == (3, -1, -1)
    assert log.settings == {"spark.sql.shuffle.partitions": "2"}


@pytest.mark.parametrize("end", [0, 2, 3, 40])
def test_an_offset_log_that_is_cut_short_is_torn(end):
    with pytest.raises(TornCheckpoint, match="offsets/3"):
        parse_offsets(OFFSETS[:end], where="offsets/3")


def test_an_offset_log_of_another_version_is_refused():
    with pytest.raises(UnknownFormat, match=r'begins with "v2"[\s\S]*It must begin with v1'):
        parse_offsets(OFFSETS.replace("v1", "v2"))


def test_the_offset_of_another_source_is_refused():
    with pytest.raises(TornCheckpoint, match="not one of a file source"):
        parse_offsets(OFFSETS.replace('{"logOffset":3}', '{"topic":{"0":1}}')).log_offset(0)


def test_commits_of_both_checkpoint_formats_are_read():
    assert parse_commit('v1\n{"nextBatchWatermarkMs":5}') == 5
    assert parse_commit('v2\n{"nextBatchWatermarkMs":6,"stateUniqueIds":{}}') == 6
    with pytest.raises(TornCheckpoint):
        parse_commit("v1")


def test_a_source_log_is_read():
    entry = parse_source_log(f"v1\n{line('a.json', 2)}\n{line('b.json', 2)}")

    assert [(file.path, file.timestamp_ms, file.entry) for file in entry] == [
        ("file:///in/a.json", 1_000, 2),
        ("file:///in/b.json", 1_000, 2),
    ]
    assert parse_source_log("v1") == ()
    with pytest.raises(TornCheckpoint, match="cut short"):
        parse_source_log(f"v1\n{line('a.json', 2)[:20]}")


def test_trap_21_a_batch_takes_all_entries_behind_the_batch_before():
    entries = source_entries({str(number): f"v1\n{line(f'{number}.json', number)}" for number in range(4)})

    assert files_of_batch(entries, -1, 0) == ("file:///in/0.json",)
    assert files_of_batch(entries, 0, 2) == ("file:///in/1.json", "file:///in/2.json")
    assert files_of_batch(entries, 2, 2) == ()


def test_compact_files_hold_all_entries_before_them():
    compact = "\n".join(["v1", *(line(f"{number}.json", number) for number in range(3))])
    entries = source_entries(
        {"2.compact": compact, "3": f"v1\n{line('3.json', 3)}", "1": f"v1\n{line('1.json', 1)}", ".3.crc": "?"}
    )

    assert files_of_batch(entries, 0, 3) == ("file:///in/1.json", "file:///in/2.json", "file:///in/3.json")


def test_only_numbers_and_compact_files_are_log_files():
    assert [log_number(name) for name in ("3", "9.compact", ".3.crc", "3.tmp", "x")] == [3, 9, None, None, None]


def test_the_rate_source_has_a_number_for_an_offset_and_a_time_for_a_start():
    assert positions_in("17") == {"rate": {0: 17}}
    assert is_initial_positions("v1\n1767603600000")
    assert parse_initial_positions("v1\n1767603600000") == {"rate": {0: 0}}
    assert not is_initial_positions("v1\n17676"), "a torn one"
