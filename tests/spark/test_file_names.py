"""A batch reads each file that its log names once, whatever the file and its folders are called."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

from full_tables import full
from spark.small_job import KEPT, Binding, SmallJob, event
from spark.test_file_formats import AVRO
from streamproof.config import load
from streamproof.core.notes import NoteCode
from streamproof.errors import DataError
from streamproof.replay.bounded.run import run_bounded

ODD = [
    "a[1]",
    "b{1,2}",
    "c*",
    "d?",
    "e\\f",
    "g]",
    "h}",
    "i,j",
    "k l",
    "m%20n",
    "o#p",
    "q+r",
    "ü€😀",
    "s't\"u",
    "v:w",
    "x=1",
    "y\nz",
    "&;<>|$`",
]
TEXT = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events)
"""


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """A file in the format that its name ends with, of the same age as all others: one batch takes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    form = path.suffix.removeprefix(".")
    if form == "parquet":
        with path.open("wb") as file:
            pq.write_table(pa.Table.from_pylist(rows), file)
    elif form == "orc":
        with path.open("wb") as file:
            po.write_table(pa.Table.from_pylist(rows), file)
    elif form == "avro":
        with path.open("wb") as file:
            fastavro.writer(file, AVRO, rows)
    elif form == "csv":
        with path.open("w", newline="") as text:
            lines = csv.DictWriter(text, list(rows[0]), quoting=csv.QUOTE_ALL)
            lines.writeheader()
            lines.writerows(rows)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    os.utime(path, (1_700_000_000,) * 2)


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "avro", "orc"])
def test_files_with_any_name_are_read_once(small_job: Callable[..., SmallJob], form: str) -> None:
    job = small_job(KEPT, Binding(format=form, files_per_batch=None))
    for name in ("plain", *ODD):
        write(job.folder / "data" / f"{name}.{form}", [event(name, 0), event(f"{name}2", 1)])

    result = job.run()

    assert job.ids() == sorted(identity for name in ("plain", *ODD) for identity in (name, f"{name}2"))
    assert result.rows_in == 2 * (1 + len(ODD))


def test_lines_of_text_in_files_with_any_name_are_read_once(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(TEXT, Binding(format="text", schema=None, event_time="", sinks={"kept": "json"}, files_per_batch=None))
    for name in ("plain", *ODD):
        (job.folder / "data" / f"{name}.log").write_text(f"{name.encode().hex()}\n")

    job.run()

    assert sorted(bytes.fromhex(row["value"]).decode() for row in job.rows("kept")) == sorted(("plain", *ODD))


@pytest.mark.parametrize("folder", ["data[1]", "d{a,b}", "d*t?", "da\\ta", "da:ta", "day=1/[x]"])
def test_a_folder_with_any_name_is_itself(small_job: Callable[..., SmallJob], folder: str) -> None:
    source = {"connector": "files", "path": folder}
    job = small_job(KEPT, Binding(tables={"source.events": source}))
    for other in ("data1", "da", "dat", "data"):
        write(job.folder / other / "other.json", [event("other", 0)])
    write(job.folder / folder / "a[1].json", [event("a", 0)])
    write(job.folder / folder / "b.json", [event("b", 1)])

    result = job.run()
    bounded = run_bounded(load(job.folder), spark=job.spark)

    assert job.ids() == ["a", "b"]
    assert result.rows_in == bounded.rows_in == 2


def test_a_pattern_that_is_no_folder_still_is_one(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding(tables={"source.events": {"connector": "files", "path": "data/*/in"}}))
    write(job.folder / "data" / "x[1]" / "in" / "a{1}.json", [event("a", 0)])
    write(job.folder / "data" / "y" / "in" / "b.json", [event("b", 1)])

    assert job.run().rows_in == 2
    assert job.ids() == ["a", "b"]
    write(job.folder / "data" / "z" / "in" / "c.json", [event("c", 2)])
    assert job.run().rows_in == 1  # what it has read is below the pattern still


def test_files_in_other_subfolders_are_named_and_not_read(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding())
    write(job.folder / "data" / "a.json", [event("a", 0)])
    write(job.folder / "data" / "old" / "b.json", [event("b", 1)])
    write(job.folder / "data" / "day=1" / "c.json", [event("c", 2)])

    for result in (job.run(), run_bounded(load(job.folder), spark=job.spark)):
        assert result.rows_in == 2
        assert [(note.code, "data/old" in note) for note in result.notes] == [(NoteCode.SUBFOLDER_LEFT_OUT, True)]
    assert job.ids() == ["a", "c"]


def test_a_batch_that_would_read_another_file_than_its_log_names_stops(small_job: Callable[..., SmallJob]) -> None:
    """A folder lies where the log names a file: Spark would read what is in it."""
    job = small_job(KEPT, Binding())
    path = job.feed([event("a", 0)])
    job.run()
    job.lose("commits/0")
    path.unlink()
    write(path / "day=1" / "x.json", [event("x", 0)])

    error = job.stopped(DataError)

    assert f"{path.name}/day=1/x.json" in error.message
    assert job.ids() == ["a"]


def test_what_is_staged_in_folders_with_any_name_is_read_once(small_job: Callable[..., SmallJob]) -> None:
    """Several files of rows each: rejected ones go to CSV, and the kept ones to two sinks, so that all are read back."""
    tables = {f"sink.kept.{form}": {"connector": "files", "path": f"o[1]/{form}", "format": form} for form in ("json", "parquet")}
    tables |= {"sink.rejected": {"connector": "files", "path": "o[1]/rejected", "format": "csv"}}
    job = small_job(KEPT, Binding(checkpoint="c{1}*", tables=tables, sinks={}, files_per_batch=None))
    for number in range(4):
        job.feed([event(f"{number}-{place}", place, place % 2 * 2 - 1) for place in range(4)])

    job.run()

    assert len([*(job.folder / "o[1]/json/batch=000000").glob("part*")]) > 1, "several files are read back"
    for form in ("json", "parquet"):
        assert len(job.rows("kept", job.folder / "o[1]" / form)) == 8
    assert len(job.rows("rejected", job.folder / "o[1]/rejected")) == 8


LATIN = b"gr\xf6\xdfe.json"
"""A name that is no UTF-8."""


def test_a_file_whose_name_is_no_utf8_stops_the_job_by_name(small_job: Callable[..., SmallJob]) -> None:
    """At the start, and while the job runs; and a batch query. Java would find no such file, and read the others."""
    job = small_job(KEPT, Binding())
    write(job.folder / "data" / "a.json", [event("a", 0)])
    odd = os.path.join(os.fsencode(job.folder / "data"), LATIN)  # noqa: PTH118 -- bytes
    Path(os.fsdecode(odd)).write_text(f"{json.dumps(event('b', 1))}\n")

    aside = os.fsencode(job.folder / LATIN.decode("latin-1"))
    with pytest.raises(DataError) as bounded:
        run_bounded(load(job.folder), spark=job.spark)
    at_start = job.stopped(DataError)
    os.rename(odd, aside)  # noqa: PTH104
    later = job.stopped(DataError, listener=Later(lambda: os.rename(aside, odd)))  # noqa: PTH104

    for error in (bounded.value, at_start, later):
        assert "data/gr\\xf6\\xdfe.json" in error.message
    os.rename(odd, os.fsencode(job.folder / "data" / LATIN.decode("latin-1")))  # noqa: PTH104
    job.run()
    assert job.ids() == ["a", "b"]


class Later:
    """Does something at an event: once the job has started, before its first batch."""

    def __init__(self, change: Callable[[], None], at: str = "QueryStarted") -> None:
        self.change, self.at = change, at

    def __call__(self, happened: object) -> None:
        if type(happened).__name__ == self.at:
            self.change()


@pytest.mark.parametrize("path", ["data/*.json", "data/*", *full("x:[1]{2}//data")])
def test_a_colon_in_a_name_below_a_pattern_is_a_letter(small_job: Callable[..., SmallJob], path: str) -> None:
    folder, _, inside = path.rpartition("//")
    source = {"connector": "files", "path": inside}
    job = small_job(KEPT, Binding(tables={"source.events": source}), folder=folder or "job")
    write(job.folder / "data" / "a.json", [event("a", 0)])
    write(job.folder / "data" / "v:w.json", [event("b", 1)])
    if path == "data/*":
        write(job.folder / "data" / "10:00" / "c.json", [event("c", 2)])
        write(job.folder / "data" / "day=10:00" / "c.json", [event("d", 2)])

    job.run()

    assert job.ids() == (["a", "b", "c", "d"] if path == "data/*" else ["a", "b"])
