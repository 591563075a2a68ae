"""Bad data: the message says where, what was found and what to do; nothing is lost, and doing it works."""

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from full_tables import full
from spark.small_job import KEPT, Binding, event, recorded
from streamproof.core.account import Account
from streamproof.errors import DataError, StreamproofError

PARQUET = Binding(format="parquet", schema="id string, v double, ts timestamp", event_time="")


SCHEMALESS = Binding(format="parquet", schema=None, event_time="")


def good(identity: str) -> dict[str, Any]:
    return {"id": [identity], "v": [1.0], "ts": pa.array([0], pa.timestamp("us", tz="UTC"))}


def test_malformed_truncated_and_empty_files_of_lines(small_job):
    """What cannot be parsed is rejected with its text; an empty file is no record; a last line without an end is one."""
    job = small_job(KEPT, Binding(files_per_batch=None))
    job.feed_bytes(b"")
    job.feed_bytes(b"\n\n")
    job.feed(["{not json", "[1, 2]", '"text"', "\ufeff", "null"])
    whole = json.dumps(event("e2", 2)).encode()
    job.feed_bytes(whole + b"\n" + whole[:20])
    job.feed_bytes(b"\x00\xff\xfe\x1f\x8b")

    result = job.run()

    assert job.ids() == ["e2"]
    rejected = job.rows("rejected")
    texts = [row["original"] for row in rejected]
    assert {"{not json", "[1, 2]", '"text"', whole[:20].decode()} <= set(texts)
    assert {row["reason"] for row in rejected} == {"not parseable"}
    assert result.accounts[0].adds_up
    assert result.account == Account(emitted=1, rejected=result.account_input - 1)


def test_wrong_types_are_rejected_with_the_line_as_it_was(small_job):
    job = small_job(KEPT)
    lines = ['{"id": "e1", "v": "much", "ts": 1}', '{"id": "e2", "v": 1, "ts": "soon"}', '{"id": {"a": 1}, "v": 1, "ts": 1}']
    job.feed([*lines, event("e3", 3), '{"id": 4, "v": 1, "ts": 4}'])

    result = job.run()

    rejected = {row["original"]: row["reason"] for row in job.rows("rejected")}
    assert rejected[lines[0]] == "not parseable: v is no double"
    assert rejected[lines[1]] == "not parseable: ts is no bigint"
    assert result.account.rejected + result.account.emitted == 5
    assert "e3" in job.ids()


@pytest.mark.parametrize(
    "behind", [',{"id":"x"}', ' x {"id":"x"}', json.dumps(event("e3", 3)), *full('{"id":"x', " x", "}", "{}", "\t[1]")]
)
def test_a_line_that_goes_on_behind_its_record_is_rejected_whole(small_job, behind):
    job = small_job(KEPT)
    line = json.dumps(event("e1", 1)) + behind
    job.feed([line, event("e2", 2)])

    assert job.run().account == Account(emitted=1, rejected=1)
    assert [row["original"] for row in job.rows("rejected")] == [line]


@pytest.mark.parametrize("text", [r"\frac{a}{}", "}{", '} {"a":', *full("} \t", "e}{1", 'e} {"2":', "e3}{")])
def test_braces_in_a_text_do_not_make_a_second_record(small_job, text):
    job = small_job(KEPT)
    job.feed([event(text, 1), json.dumps(event("e2", 2)) + " \t"])

    assert job.run().account == Account(emitted=2)


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"", "empty"), *full((b"PAR1 no PAR1", "not Parquet"), (None, "cut short"))],
    ids=["0 bytes", "not Parquet", "cut short"],
)
def test_a_file_among_parquet_that_is_none_stops_the_job_and_is_named(small_job, content, name):
    job = small_job(KEPT, PARQUET)
    job.feed_parquet(good("e1"))
    bad = job.feed_parquet(good("e2"))
    bad.write_bytes(bad.read_bytes()[:-30] if content is None else content)
    job._dated(bad)

    error = job.stopped(DataError)

    assert str(bad) in error.message
    assert "cannot be read as Parquet" in error.message
    assert "run again" in error.remedy
    assert job.ids() == ["e1"]

    pq.write_table(pa.table(good("e2")), bad)
    job.feed_parquet(good("e3"))
    assert job.run().account == Account(emitted=3)
    assert job.ids() == ["e1", "e2", "e3"]


def test_parquet_of_another_type_stops_the_job_and_is_named(small_job):
    job = small_job(KEPT, PARQUET)
    bad = job.feed_parquet(good("e1") | {"v": ["much"]})

    error = job.stopped(DataError)

    assert str(bad) in error.message
    assert "the column v is string there, and the schema says double" in error.message
    assert job.rows("kept") == []


def test_nanoseconds_of_parquet_are_read_as_the_error_says(small_job):
    """Following the remedies leads to a run: with a schema that says timestamp, and without one."""
    job = small_job(KEPT, replace(PARQUET, schema=None))
    job.feed_parquet({"id": ["e1"], "v": [1.0], "ts": pa.array([1767603600123456789], pa.timestamp("ns"))})

    unread = job.stopped(DataError)
    job.binding = PARQUET
    job.write()
    mismatch = job.stopped(DataError)

    assert 'schema = "id string, v double, ts long"' in unread.remedy
    for error in (unread, mismatch):
        assert 'unit = "nanoseconds" in event_time' in error.remedy
        assert "whole file" not in error.remedy
    assert '"ts long"' in mismatch.remedy
    job.binding = replace(
        PARQUET, schema="id string, v double, ts long", event_time='event_time = { column = "ts", unit = "nanoseconds" }'
    )
    job.write()
    assert job.run().account == Account(emitted=1)
    assert [row["ts"] for row in job.rows("kept")] == [datetime(2026, 1, 5, 9, 0, 0, 123456, UTC)]


@pytest.mark.parametrize("fill", ["nothing", "no Parquet"])
def test_no_schema_can_be_read_from_the_folder(small_job, fill):
    job = small_job(KEPT, SCHEMALESS)
    if fill == "no Parquet":
        job.feed_bytes(b"some text", "parquet")

    error = job.stopped(DataError)

    assert "[source.events]" in error.message
    assert str(job.folder / "data") in error.message
    assert "Declare schema" in error.remedy


def test_a_folder_of_data_that_is_not_there(small_job):
    job = small_job(KEPT)
    (job.folder / "data").rmdir()

    error = job.stopped(DataError)

    assert "[source.events]" in error.message
    assert str(job.folder / "data") in error.message


def test_a_file_that_vanishes_between_listing_and_reading(small_job):
    """The batch is planned with it, and takes no other input (R32); put back, the same batch is read again."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    gone = job.feed([event("e2", 2)])
    with recorded(job, "vanish") as faults:
        faults.arm("vanish", "create", "/out/kept/_staging/000001", "before", 1, "die")
        with pytest.raises(StreamproofError):
            job.run()
    aside = shutil.move(gone, job.folder / "aside")

    error = job.stopped(DataError)

    assert str(gone) in error.message
    assert "vanished" in error.message
    assert "Put it back" in error.remedy
    assert job.ids() == ["e1"]

    shutil.move(aside, gone)
    assert job.run().account == Account(emitted=2)
    assert job.ids() == ["e1", "e2"]


def test_a_file_that_is_much_older_than_the_newest_is_read(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    old = job.feed([event("e2", 2)])
    os.utime(old, (1_600_000_000,) * 2)

    job.run()

    assert job.ids() == ["e1", "e2"]
