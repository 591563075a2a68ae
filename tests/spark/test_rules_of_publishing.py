"""Staged, decided, published (R3, R5 to R8): rules of docs/protocol.md, each on a real run.

A crash is the files it takes away, or a fault at a chosen step.
"""

import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from spark.small_job import KEPT, Binding, dies, event
from streamproof._jvm import Storage
from streamproof.core.account import Account
from streamproof.errors import DivertError, NondeterministicReplay, StagedRowsGone, TwoDrivers
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.rows.reports import sums_by_output


def test_r3_the_manifest_names_the_exact_files_and_is_never_overwritten(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.run()

    found = job.manifest(0)
    for section in found.sections:
        published = {
            path.name: path.stat().st_size
            for path in (job.out(section.output) / "batch=000000").iterdir()
            if not path.name.startswith((".", "_"))
        }
        assert {file.name: file.size for file in section.files} == published
        assert section.digest.rows == 1
        assert found.attempt in section.directory
    store = ManifestStore(Storage(job.spark), str(job.checkpoint()))
    assert store.create(replace(found, sections=())) is False
    assert store.read(0) == found


def test_r3_a_crash_between_manifest_and_publish_leaves_the_staged_rows_and_they_are_published(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    dies(job, "rename", "/out/kept/batch=000000$")
    staged, named = job.staged(), job.manifest(0)
    assert job.ids() == []
    assert len(staged) == 2  # the rows and the ledger entry, which nobody sees yet

    job.run()

    assert job.ids() == ["e1"]
    assert job.ledger(0).manifest == named.id
    assert job.staged() == []


def test_r5_one_divert_twice_in_a_plan_is_an_error(small_job, monkeypatch):
    """A transform with such a plan is refused; what Spark makes of a plan is looked at too."""
    monkeypatch.setattr("streamproof.stream.operators.transform_limits.require_row_by_row", lambda *_: None)
    text = KEPT.replace("kept=checked,", "kept=checked.transform(lambda rows: rows.unionAll(rows)),")
    job = small_job(text)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])

    error = job.stopped(DivertError)

    assert "rejected" in error.message
    assert "2 times" in error.message
    assert job.rows("kept") == job.rows("rejected") == []


STAGED_BEFORE = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    from pathlib import Path

    def staged(rows):
        Path(r"{directory}").mkdir(parents=True)
        return rows

    return sp.Outputs(kept=events.transform(staged))
"""


def test_r5_a_batch_is_not_staged_into_a_directory_that_is_there(small_job, monkeypatch):
    """The transform is called when the plan is built, after the start has removed what earlier attempts left."""
    monkeypatch.setattr("streamproof.runtime.start.plan.short", lambda _: "feedbeef")
    job = small_job(KEPT, Binding(sinks={"kept": "parquet"}))
    job.text = STAGED_BEFORE.replace("{directory}", str(job.out("kept") / "_staging/000000-feedbeef"))
    job.write()
    job.feed([event("e1", 1)])

    error = job.stopped(TwoDrivers)

    assert "is there already" in error.message


def test_r5_files_of_losing_attempts_are_not_published(small_job):
    """Whole files of an attempt that did not count lie beside those the manifest names."""
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    dies(job, "rename", "/out/rejected/batch=000000$")
    (staged,) = [path for path in job.staged("rejected") if path.suffix == ".jsonl"]
    shutil.copy(staged, staged.with_name(staged.name.replace(".jsonl", "7.jsonl")))

    job.run()

    assert job.ids() == ["e1"]
    assert job.ids("rejected") == ["bad"]


def report(partition: int, attempt: int, rows: int, hash_: int, door: str = "late.0") -> dict[str, Any]:
    sums = {"records": rows, "floats": [], "absolutes": [], "reasons": {"r": rows}, "checksum": None, "size": 1, "batch": 3}
    return {"door": door, "partition": partition, "attempt": attempt, "rows": rows, "hash": hash_, "file": f"f{attempt}", **sums}


def test_r5_of_two_finished_attempts_the_first_counts_and_they_must_agree():
    sums = sums_by_output([report(0, 9, 2, 5), report(0, 4, 2, 5), report(1, 5, 1, 7, "late.1")])
    assert (sums["late"].rows, sums["late"].hash) == (3, 12)
    assert sorted(file.name for file in sums["late"].files) == ["f4", "f5"]

    with pytest.raises(NondeterministicReplay, match=r"partition 0 of batch 3 disagree at late\.0: 2 rows against 1"):
        sums_by_output([report(0, 4, 2, 5), report(0, 9, 1, 5)])


def test_r6_what_the_ledger_holds_is_not_published_again(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    dies(job, "create", "/commits/")
    assert job.ids() == ["e1"]
    first = job.ledger(0)

    result = job.run()

    assert (job.ids(), job.ids("rejected")) == (["e1"], ["bad"])
    assert job.ledger(0) == first
    assert result.account == Account(emitted=1, rejected=1)
    assert job.staged() == job.staged("rejected") == []


@pytest.mark.parametrize("what", ["cut short", "gone"])
def test_r6_staged_rows_that_are_not_whole_are_not_published_the_equal_ones_of_the_replay_are(small_job, what):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    dies(job, "create", "/_ledger.json$")
    (staged,), named = job.staged(), job.manifest(0)
    staged.with_name(f".{staged.name}.crc").unlink(missing_ok=True)
    if what == "gone":
        staged.unlink()
    else:
        staged.write_bytes(staged.read_bytes()[:-1])

    job.run()

    assert job.ids() == ["e1"]
    assert job.ledger(0).manifest == named.id
    assert not (job.out("kept") / f"batch=000000/{staged.name}").exists()


def test_r7_a_ledger_entry_of_another_manifest_stops_the_publisher(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    dies(job, "rename", "/out/kept/batch=000000$")
    (entry,) = [path for path in job.staged() if path.name == "_ledger.json"]
    other = json.loads(entry.read_text()) | {"manifest": "f" * 32}
    (job.out("kept") / "batch=000000").mkdir()
    (job.out("kept") / "batch=000000/_ledger.json").write_text(json.dumps(other))

    error = job.stopped(TwoDrivers)

    assert "Batch 0 of kept was published by the manifest ffffffff" in error.message
    assert "Stop the other driver" in error.remedy


def test_r7_staged_rows_gone_stops_and_the_remedy_works(small_job):
    """Spark has committed the batch, the sink lags by its manifest (R8), and somebody has cleaned the staging directory."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    shutil.rmtree(job.out("kept") / "batch=000000")

    error = job.stopped(StagedRowsGone)
    assert "Batch 0 of kept is not published" in error.message
    assert "--replay-last" in error.remedy

    job.run(replay_last=True)
    assert job.ids() == ["e1"]
    job.feed([event("e2", 2)])
    assert job.run().account == Account(emitted=2)


def test_r8_what_spark_has_committed_and_the_sink_has_not_shown_is_published_at_the_start(small_job):
    job = small_job(KEPT)
    for number in range(2):
        job.feed([event(f"e{number}", number)])
    job.run()
    shown = job.out("kept") / "batch=000001"
    (shown / "_ledger.json").unlink()
    (shown / "._ledger.json.crc").unlink(missing_ok=True)
    hidden = job.out("kept") / job.manifest(1).section("kept").directory
    hidden.parent.mkdir(exist_ok=True)
    shown.rename(hidden)
    assert job.ids() == ["e0"]

    job.run()

    assert job.ids() == ["e0", "e1"]
