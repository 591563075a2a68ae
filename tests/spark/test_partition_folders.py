"""A column that the path of a file says has that value, in every format, with the declared type."""

from collections.abc import Callable
from typing import Any

import pytest

from spark.small_job import EVENT_TIME, KEPT, SCHEMA, Binding, SmallJob, event
from spark.test_file_names import TEXT, write
from streamproof.config import load
from streamproof.errors import DataError
from streamproof.replay.bounded.run import run_bounded

PLACED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
DAYS = f"date date, {SCHEMA}, hour int, region string"
"""The columns of paths stand before, between and after those of the files."""


def placed(small_job: Callable[..., SmallJob], form: str, schema: str | None = DAYS) -> SmallJob:
    return small_job(PLACED, Binding(format=form, schema=schema, files_per_batch=None, sinks={"kept": "json", "rejected": "json"}))


def said(job: SmallJob) -> dict[str, tuple[Any, ...]]:
    return {row["id"]: (row.get("date"), row.get("hour"), row.get("region")) for row in job.rows("kept")}


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "avro", "orc"])
@pytest.mark.parametrize("empty_at_start", [False, True], ids=["", "empty at the start"])
def test_columns_of_folders_have_their_values(small_job: Callable[..., SmallJob], form: str, empty_at_start: bool) -> None:
    job = placed(small_job, form)
    if empty_at_start:
        job.run()
    for folder, identity in [
        ("date=2026-03-02/hour=01/region=eu%2Fwest [1]", "a"),
        ("date=2026-03-02/hour=02/region=__HIVE_DEFAULT_PARTITION__", "b"),
        ("date=2026-03-03/hour=__HIVE_DEFAULT_PARTITION__/region=us", "c"),
        ("date=2026-03-03/hour=xx/region=us", "d"),
    ]:
        write(job.folder / "data" / folder / f"part.{form}", [event(identity, 0)])

    result = job.run()

    expected = {"a": ("2026-03-02", 1, "eu/west [1]"), "b": ("2026-03-02", 2, None), "c": ("2026-03-03", None, "us")}
    assert said(job) == expected
    assert [row["reason"] for row in job.rows("rejected")] == ["hour in the path of its file is no int"]
    assert result.rows_in == 4
    assert run_bounded(load(job.folder), spark=job.spark).account.emitted == 3


def test_the_path_says_more_than_the_record(small_job: Callable[..., SmallJob]) -> None:
    """As Spark does it; a file beside the folders has the values of its records."""
    job = placed(small_job, "json")
    own = {"date": "2025-01-01", "hour": 23, "region": "own"}
    write(job.folder / "data/date=2026-03-02/Hour=7/a.json", [event("a", 0) | own])
    write(job.folder / "data/b.json", [event("b", 0) | own, event("c", 0)])

    job.run()

    assert said(job) == {"a": ("2026-03-02", 7, "own"), "b": ("2025-01-01", 23, "own"), "c": (None, None, None)}


@pytest.mark.full
def test_a_layout_that_appears_while_the_job_runs_stops_it_and_the_next_start_reads_it(small_job: Callable[..., SmallJob]) -> None:
    job = placed(small_job, "json")
    write(job.folder / "data/date=2026-03-02/a.json", [event("a", 0)])
    write(job.folder / "data/date=2026-03-04/a.json", [event("b", 0)])
    layouts = Layouts(lambda: write(job.folder / "data/date=2026-03-03/region=eu/c.json", [event("c", 0)]))

    error = job.stopped(DataError, listener=layouts)

    assert "region" in error.message
    assert "date=2026-03-03/region=eu" in error.message
    job.run()
    assert said(job) == {"a": ("2026-03-02", None, None), "b": ("2026-03-04", None, None), "c": ("2026-03-03", None, "eu")}


class Layouts:
    """Changes the folder once the job has started, before its first batch."""

    def __init__(self, change: Callable[[], None]) -> None:
        self.change = change

    def __call__(self, happened: object) -> None:
        if type(happened).__name__ == "QueryStarted":
            self.change()


def test_files_say_their_columns_and_folders_theirs(small_job: Callable[..., SmallJob]) -> None:
    """Without a schema, as Spark infers it; with one, a folder that it does not name gives its column too."""
    for schema in (None, SCHEMA):
        job = placed(small_job, "parquet", schema)
        write(job.folder / "data/date=2026-03-02/hour=01/part.parquet", [event("a", 0)])

        job.run()

        assert said(job) == {"a": ("2026-03-02", 1, None)}


def test_a_line_of_text_has_the_columns_of_its_path(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(
        TEXT, Binding(format="text", schema="line string, hour int", event_time="", sinks={"kept": "json"}, files_per_batch=None)
    )
    (job.folder / "data/hour=3").mkdir()
    (job.folder / "data/hour=3/x.log").write_text("one\ntwo\n")

    job.run()

    assert sorted((row["line"], row["hour"]) for row in job.rows("kept")) == [("one", 3), ("two", 3)]


def test_event_time_may_stand_in_the_path(small_job: Callable[..., SmallJob]) -> None:
    day = EVENT_TIME.replace('"ts", unit = "milliseconds"', '"date"')
    job = small_job(PLACED, Binding(schema=DAYS, event_time=day, sinks={"kept": "json", "rejected": "json"}))
    write(job.folder / "data/date=2026-03-02/a.json", [event("a", 0)])

    job.run()

    assert [row["date"] for row in job.rows("kept")] == ["2026-03-02T00:00:00.000000Z"]


@pytest.mark.parametrize("path", ["data/date=*", "data/*/hour=*"])
def test_below_a_pattern_the_record_says_what_the_pattern_matches(small_job: Callable[..., SmallJob], path: str) -> None:
    """As Spark does it: only folders below the whole pattern give a value."""
    job = small_job(
        PLACED, Binding(schema=DAYS, sinks={"kept": "json"}, tables={"source.events": {"connector": "files", "path": path}})
    )
    write(job.folder / "data/date=2026-03-02/hour=7/region=eu/a.json", [event("a", 0) | {"date": "2025-01-01", "hour": 23}])

    job.run()

    assert said(job) == {"a": ("2025-01-01", 7 if path == "data/date=*" else 23, "eu")}


def test_a_record_whose_event_time_is_another_than_its_path_says_is_rejected(small_job: Callable[..., SmallJob]) -> None:
    day = EVENT_TIME.replace('"ts", unit = "milliseconds"', '"date"')
    job = small_job(PLACED, Binding(schema=DAYS, event_time=day, sinks={"kept": "json", "rejected": "json"}))
    rows = [event("a", 0) | {"date": "2026-03-05"}, event("b", 0) | {"date": "2026-03-02"}, event("c", 0)]
    write(job.folder / "data/date=2026-03-02/a.json", rows)

    job.run()

    assert job.ids() == ["b", "c"]
    assert [row["reason"] for row in job.rows("rejected")] == [
        "date, the event time, is another in the path of its file than in the record"
    ]


def test_lines_that_hold_the_column_of_their_folder_say_so(small_job: Callable[..., SmallJob]) -> None:
    """Without a header columns go by their places, and Spark would take the day for the id."""
    source = {"connector": "files", "path": "data", "csv": {"header": False}}
    sinks = {"kept": "json", "rejected": "json"}
    job = small_job(PLACED, Binding(format="csv", schema=f"date date, {SCHEMA}", sinks=sinks, tables={"source.events": source}))
    (job.folder / "data/date=2026-03-02").mkdir()
    (job.folder / "data/date=2026-03-02/a.csv").write_text("2026-03-02,a,c,1.0,1\n")

    job.run()

    (row,) = job.rows("rejected")
    assert row["reason"] == "more fields than columns: the path of the file says date, so the file must not have it"


def test_a_folder_of_a_sink_of_spark_whose_name_looks_like_a_pattern_is_refused(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding(tables={"source.events": {"connector": "files", "path": "fs[1]"}}))
    place = job.folder / "fs[1]"
    job.feed([event("a", 0)])
    query = job.spark.readStream.schema(SCHEMA).json(str(job.folder / "data")).writeStream.format("json").trigger(availableNow=True)
    query.option("checkpointLocation", str(job.folder / "of the sink")).start(str(place)).awaitTermination()
    write(place / "part-uncommitted.json", [event("b", 1)])

    assert "fs[1] is written by a file sink of Spark" in job.stopped(DataError).message
