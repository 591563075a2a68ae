"""A column that not all files of a source have is said by name."""

from collections.abc import Callable
from typing import Any

import fastavro
import pytest

from spark.small_job import EVENT_TIME, KEPT, SCHEMA, Binding, SmallJob, event
from spark.test_file_formats import AVRO, feed_orc
from spark.test_file_names import Later
from streamproof._jvm import folder_at
from streamproof.config import load
from streamproof.core.notes import NoteCode
from streamproof.replay.bounded.run import run_bounded

UNION = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    few = events.transform(lambda rows: rows.select("id", "ts"))
    return sp.Outputs(kept=few.union(others))
"""


def feed(job: SmallJob, form: str, row: dict[str, Any]) -> None:
    if form == "parquet":
        job.feed_parquet({name: [value] for name, value in row.items()})
    elif form == "orc":
        feed_orc(job, [row])
    else:
        more = [{"name": "discount", "type": "double"}] if "discount" in row else []
        with (path := job._next("avro")).open("wb") as file:
            fastavro.writer(file, {**AVRO, "fields": [*AVRO["fields"], *more]}, [row])
        job._dated(path)


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["of the files", "declared"])
@pytest.mark.parametrize("form", ["parquet", "avro", pytest.param("orc", marks=pytest.mark.full)])
def test_a_column_of_newer_files_is_named(small_job: Callable[..., SmallJob], form: str, schema: str | None) -> None:
    job = small_job(KEPT, Binding(format=form, schema=schema))
    for number, more in enumerate(({}, {}, {"discount": 0.5}, {"discount": 0.5})):
        feed(job, form, event(str(number), number) | more)

    for result in (job.run(), run_bounded(load(job.folder), spark=job.spark)):
        said = [note for note in result.notes if note.code == NoteCode.SCHEMA_CHANGED]
        assert len(said) == 1
        if schema or form == "parquet":
            assert f"003.{form} has the column discount (double)" in said[0]
        assert "column discount" in said[0]  # of Avro and ORC Spark takes the columns of any of the files
        assert result.rows_in == 4


def test_a_new_column_is_named_at_a_later_start_too(small_job: Callable[..., SmallJob]) -> None:
    job = small_job(KEPT, Binding(format="parquet", schema=None))
    feed(job, "parquet", event("a", 0))
    assert not job.run().notes
    feed(job, "parquet", event("b", 1) | {"discount": 0.5})

    assert [note.code for note in job.run().notes] == [NoteCode.SCHEMA_CHANGED]
    feed(job, "parquet", {name: value for name, value in event("c", 2).items() if name != "client"})
    assert any("003.parquet has no column client" in note for note in job.run().notes)


def test_another_start_on_the_same_folder_says_nothing_false(small_job: Callable[..., SmallJob]) -> None:
    """A second query of the job looks at the folder while the first one runs."""
    job = small_job(KEPT, Binding(format="parquet", schema=None))
    feed(job, "parquet", event("a", 0))

    result = job.run(listener=Later(lambda: folder_at(job.spark, str(job.folder / "data")), "BatchPlanned"))

    assert not result.notes


def test_two_sources_on_one_folder_have_their_own_columns(small_job: Callable[..., SmallJob]) -> None:
    few = {"connector": "files", "path": "data", "format": "parquet", "schema": "id string, ts long", "files_per_batch": 1}
    job = small_job(UNION, Binding(format="parquet", schema=None, tables={"source.others": few}))
    text = (job.folder / "streamproof.toml").read_text()
    (job.folder / "streamproof.toml").write_text(text.replace("[source.others]", f"[source.others]\n{EVENT_TIME}"))
    feed(job, "parquet", event("a", 0))

    result = job.run()

    assert result.rows_in == 2
    assert not result.notes
