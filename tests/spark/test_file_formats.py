"""Avro in, and every format of files out: the same rows, whatever they stand in."""

from collections.abc import Callable
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.orc as po
import pytest

from full_tables import full
from spark.small_job import EVENT_TIME, KEPT, Binding, SmallJob, event, instant
from streamproof.core.clock import to_micros
from streamproof.errors import ConfigurationError, DataError

AVRO = {
    "type": "record",
    "name": "Trade",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "client", "type": ["null", "string"], "default": None},
        {"name": "v", "type": ["null", "double"], "default": None},
        {"name": "ts", "type": "long"},
    ],
}
ODD = [None, "", "7", "true", 'say "hi", then\ngo', " blanks ", "\\", "ä"]
"""Texts that a careless writer of CSV changes."""


def feed_avro(job: SmallJob, rows: list[dict[str, object]], codec: str = "null") -> Path:
    path = job._next("avro")
    with path.open("wb") as file:
        fastavro.writer(file, AVRO, rows, codec=codec)
    return job._dated(path)


@pytest.mark.parametrize("schema", [Binding().schema, None], ids=["declared", "of the files"])
def test_files_of_avro_are_read_by_their_own_columns(small_job: Callable[..., SmallJob], schema: str | None) -> None:
    job = small_job(KEPT, Binding(format="avro", schema=schema))
    feed_avro(job, [event("a", 0), event("b", 1, -1), event("c", 2, None)])
    feed_avro(job, [event("d", 3)], "deflate")

    result = job.run()

    assert job.ids() == ["a", "d"]
    assert result.rows_in == 4
    assert [(row["id"], "ts" in row["original"]) for row in job.rows("rejected")] == [("b", True), ("c", True)]


@pytest.mark.parametrize("content", [b"", *full(b"Obj\x01 and no more", b"id,client\n")], ids=["empty", "cut short", "no Avro"])
def test_a_file_that_is_no_avro_stops_the_job_and_is_named(small_job: Callable[..., SmallJob], content: bytes) -> None:
    job = small_job(KEPT, Binding(format="avro"))
    path = job.feed_bytes(content, "avro")

    error = job.stopped(DataError)

    assert path.name in error.message
    assert "stops the job" in error.required


def feed_orc(job: SmallJob, rows: list[dict[str, object]]) -> Path:
    path = job._next("orc")
    po.write_table(pa.Table.from_pylist(rows), path)
    return job._dated(path)


@pytest.mark.parametrize("schema", [Binding().schema, None], ids=["declared", "of the files"])
def test_files_of_orc_are_read_by_their_own_columns(small_job: Callable[..., SmallJob], schema: str | None) -> None:
    job = small_job(KEPT, Binding(format="orc", schema=schema))
    feed_orc(job, [event("a", 0), event("b", 1, -1), event("c", 2, None)])
    feed_orc(job, [event("d", 3)])

    result = job.run()

    assert job.ids() == ["a", "d"]
    assert result.rows_in == 4
    assert [(row["id"], "ts" in row["original"]) for row in job.rows("rejected")] == [("b", True), ("c", True)]


@pytest.mark.parametrize("content", [b"", *full(b"ORC and no more", b"id,client\n")], ids=["empty", "cut short", "no ORC"])
def test_a_file_that_is_no_orc_stops_the_job_and_is_named(small_job: Callable[..., SmallJob], content: bytes) -> None:
    job = small_job(KEPT, Binding(format="orc"))
    path = job.feed_bytes(content, "orc")

    error = job.stopped(DataError)

    assert path.name in error.message
    assert "stops the job" in error.required


def test_all_formats_of_files_hold_the_same_rows(small_job: Callable[..., SmallJob]) -> None:
    """One output, a sink for each format; the rejected rows go to CSV alone, which they are encoded for once more."""
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    more = checked.transform(lambda rows: rows.withColumn("exact", F.expr("cast(v / 4 as decimal(10, 3))"))
        .withColumn("day", F.expr("date '2026-01-05'")).withColumn("bytes", F.expr("cast('x' as binary)")).withColumn("yes", F.expr("v > 1")))
    return sp.Outputs(kept=more, rejected=checked.rejected)
"""
    formats = ("json", "csv", "avro", "parquet")
    tables = {f"sink.kept.{form}": {"connector": "files", "path": f"out/{form}", "format": form} for form in formats}
    job = small_job(text, Binding(tables=tables, sinks={"rejected": "csv"}))
    job.feed([{**event(str(number), number, number + 0.5), "client": odd} for number, odd in enumerate(ODD)])
    job.feed([event("bad", 0, -1.0), "{ no json"])

    job.run()

    rows = {form: job.rows("kept", job.folder / "out" / form) for form in formats}
    assert [row["client"] for row in rows["csv"]] == ODD
    assert rows["csv"][0] == {
        "id": "0",
        "client": None,
        "v": 0.5,
        "ts": "2026-01-05T09:00:00.000000Z",
        "exact": 0.125,
        "day": "2026-01-05",
        "bytes": "eA==",
        "yes": False,
    }
    assert rows["avro"][0] | {"exact": 0.125} == {**rows["csv"][0], "ts": to_micros(instant(0)), "bytes": b"x"}
    assert [row["client"] for row in rows["avro"]] == [row["client"] for row in rows["json"]] == ODD
    assert [row["id"] for row in rows["parquet"]] == [str(number) for number in range(len(ODD))]
    rejected = {row["original"]: row["reason"] for row in job.rows("rejected")}
    assert rejected["{ no json"] == "not parseable"
    assert len(rejected) == 2


@pytest.mark.parametrize(("form", "made", "said"), [("csv", "array(1)", "CSV holds one value"), ("avro", "1 as `a b`", "avro")])
def test_columns_that_a_format_does_not_take_are_refused_before_the_first_batch(
    small_job: Callable[..., SmallJob], form: str, made: str, said: str
) -> None:
    text = f"""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.selectExpr("*", "{made}")))
"""
    job = small_job(text, Binding(sinks={"kept": form}, event_time=EVENT_TIME))
    job.feed([event("a", 0)])

    assert said in str(job.stopped(ConfigurationError))
    assert not list(job.folder.glob("out/kept/*"))
