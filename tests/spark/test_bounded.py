"""`run --bounded`: the same job as a batch over what its sources hold now; the stream and its outputs stay as they are."""

import json
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from spark.small_job import SCHEMA, WINDOWED, Binding, event, instant
from streamproof.cli.main import app
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.errors import AccountError, ConfigurationError, OutputInUse
from streamproof.replay.bounded.places import MARKER
from streamproof.replay.bounded.run import run_bounded
from streamproof.replay.diff.compare import Asked, compare

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0").filter("client <> 'test'", name="no_tests")
    sums = checked.deduplicate("id").window(sp.hopping("1 minute", every="30 seconds"), by="client").aggregate(total=F.sum("v"), n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
"""
EVENTS = [
    [event("a", 5), event("b", 20), event("a", 5), event("no", 6, -1.0), event("t", 7, client="test"), "{torn"],
    [event("c", 130), event("d", 190)],
    [event("late", 10, 4.0), event("a", 5), event("e", 200)],
]


def rows_in(folder: Path) -> list[dict]:
    found: list[dict] = []
    for file in sorted(folder.glob("*.parquet")):
        found += pq.ParquetFile(file).read().to_pylist()
    return found


def sums_of(rows: list[dict]) -> dict[float, tuple[float, int]]:
    """By the start of a window, in seconds after nine, its total and its count."""
    return {(row["window_start"] - instant(0)).total_seconds(): (row["total"], row["n"]) for row in rows}


def test_a_batch_counts_all_events_and_the_stream_stays_as_it_is(small_job, spark) -> None:
    job = small_job(JOB, WINDOWED)
    for rows in EVENTS:
        job.feed(rows)
    job.run()
    before = {path: path.stat().st_mtime_ns for path in job.folder.rglob("*") if path.is_file()}

    result = run_bounded(load(job.folder), spark=spark)

    folder = job.folder / "checkpoint-bounded"
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert sums_of(rows_in(folder / "sums")) == {
        -30.0: (6.0, 3),
        0.0: (6.0, 3),
        90.0: (1.0, 1),
        120.0: (1.0, 1),
        150.0: (2.0, 2),
        180.0: (2.0, 2),
    }
    assert result.account == Account(emitted=12, rejected=2, duplicate=2, filtered=1)
    assert (result.rows_in, result.accounts[0].expanded, result.accounts[0].adds_up) == (11, 6, True)
    assert [(each.name, each.rows) for each in result.outputs] == [("sums", 6), ("late", 0), ("rejected", 2)]
    assert {row["reason"] for row in rows_in(folder / "rejected")} >= {"v >= 0"}
    assert "{torn" in {row["original"] for row in rows_in(folder / "rejected")}
    assert (
        "window_end" not in pq.read_schema(next((folder / "late").glob("*.parquet"))).names
    )  # a deduplication decides by the event
    assert [note.code for note in result.notes] == ["bounded-run"]
    assert json.loads((folder / MARKER).read_text())["complete"] is True

    found = compare(spark, str(job.out("sums")), str(folder / "sums"), Asked(("client", "window_start")))

    assert not found.is_same
    (pair,) = found.outputs
    assert (pair.counts.only_a, pair.counts.only_b, pair.counts.different) == (0, 2, 2), (
        "a late event, and two windows that are open"
    )


@pytest.mark.full
def test_a_second_run_replaces_the_first_and_no_other_folder(small_job, spark) -> None:
    job = small_job(JOB, WINDOWED)
    (job.folder / "data").mkdir(exist_ok=True)

    empty = run_bounded(load(job.folder), spark=spark)
    assert (empty.rows_in, empty.account.total, empty.outputs[0].rows) == (0, 0, 0)

    job.feed(EVENTS[0])
    assert run_bounded(load(job.folder), spark=spark).rows_in == 6
    stale = job.folder / "checkpoint-bounded" / "renamed"
    stale.mkdir()
    again = run_bounded(load(job.folder), spark=spark, to=str(job.folder / "checkpoint-bounded"))
    assert len(rows_in(job.folder / "checkpoint-bounded" / "sums")) == again.outputs[0].rows == 2

    assert not stale.exists()

    asked = threading.Event()
    asked.set()
    with pytest.raises(KeyboardInterrupt):
        run_bounded(load(job.folder), spark=spark, end=asked)
    marked = json.loads((job.folder / "checkpoint-bounded" / MARKER).read_text())
    assert marked["complete"] is False

    other = job.folder / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("keep")
    with pytest.raises(OutputInUse, match=r"mine holds notes\.txt"):
        run_bounded(load(job.folder), spark=spark, to=str(other))
    with pytest.raises(ConfigurationError, match=r"\[sink.sums\] is"):
        run_bounded(load(job.folder), spark=spark, to=str(job.folder / "out"))


LOSES = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.where("v > 0")))
"""


def test_r31_what_a_transform_loses_is_missing_in_a_batch_too(small_job, spark) -> None:
    job = small_job(LOSES, Binding(schema=SCHEMA, sinks={"kept": "parquet"}))
    job.feed([event("a", 1), event("b", 2, -1.0)])

    with pytest.raises(AccountError, match="1 missing") as raised:
        run_bounded(load(job.folder), spark=spark)

    assert raised.value.result.outputs[0].rows == 1


def test_the_command_prints_the_outputs_and_the_account(small_job, spark, monkeypatch) -> None:
    job = small_job(JOB, WINDOWED)
    job.feed(EVENTS[0])
    monkeypatch.chdir(job.folder)

    shown = CliRunner().invoke(app, ["run", ".", "--bounded", "--to", "once"])

    assert shown.exit_code == 0, shown.output
    assert "once/sums" in shown.output
    assert "computed as a batch" in shown.output
    assert "emitted 4" in shown.output
    assert not job.checkpoint("sums").exists()
