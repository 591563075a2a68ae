"""Whose a checkpoint is, and a batch that runs again (R1, R2, R4): rules of docs/protocol.md, each on a real run.

A crash is the files it takes away, or a fault at a chosen step.
"""

import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, dies, event
from streamproof.core.account import Account
from streamproof.errors import AccountError, DataError, FingerprintMismatch, NondeterministicReplay, OutputInUse, TornCheckpoint
from streamproof.runtime.rows.tally import hash_of

RANDOM = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("chance", F.rand())))
"""


ONLY_KEPT = Binding(sinks={"kept": "parquet"})


def test_r1_the_incarnation_is_written_before_batch_0_and_is_in_every_manifest_and_ledger_entry(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    dies(job, "create", "/offsets/")
    written = json.loads((job.checkpoint() / "_streamproof/incarnation.json").read_text())
    assert (written["job"], written["query"]) == ("small", "kept")
    assert not list((job.checkpoint() / "commits").glob("*"))

    job.run()

    assert {job.manifest(0).incarnation, job.ledger(0).incarnation, job.ledger(0, "rejected").incarnation} == {
        written["incarnation"]
    }


def test_r1_a_new_checkpoint_over_a_used_output_stops_with_both_ways_out(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    shutil.rmtree(job.folder / "checkpoint")

    error = job.stopped(OutputInUse)

    assert str(job.out("kept")) in error.message
    assert str(job.checkpoint()) in error.message
    assert "another run of this job" in error.message
    assert "--new-output kept-2" in error.remedy
    assert "--replace-output" in error.remedy
    assert job.ids() == ["e1"]


def test_r2_the_newest_offset_and_commit_lost_and_the_source_log_kept(small_job):
    """Without the manifest, batch 2 becomes two files and a ledger by number skips rows that were never published."""
    job = small_job(KEPT)
    for number in range(3):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("offsets/2", "commits/2")
    job.feed([event("e3", 3)])

    result = job.run()

    assert job.ids() == ["e0", "e1", "e2", "e3"]
    assert any("offsets/2 was missing and is restored from the manifest" in note for note in result.notes)
    assert result.account == Account(emitted=4)


def test_r2_a_source_log_entry_that_is_missing_is_restored_too(small_job):
    job = small_job(KEPT)
    for number in range(3):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("offsets/2", "commits/2", "sources/0/2")
    job.feed([event("e3", 3)])

    result = job.run()

    assert job.ids() == ["e0", "e1", "e2", "e3"]
    assert any("sources/0/2 was missing and is restored" in note for note in result.notes)


def test_r2_a_batch_that_reads_other_input_than_the_published_one_stops(small_job):
    """Manifest, offsets and commit lost together: the next batch 1 takes two files, the ledger holds one."""
    job = small_job(KEPT)
    for number in range(2):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("offsets/1", "commits/1", "_streamproof/manifests/1")
    job.feed([event("e2", 2)])

    error = job.stopped(FingerprintMismatch)

    assert "Batch 1 of kept was published with 1 rows of other input than it reads now" in error.message
    assert "batch=000001" in error.remedy
    assert job.ids() == ["e0", "e1"]

    shutil.move(job.out("kept") / "batch=000001", job.folder / "away")
    job.run()
    assert job.ids() == ["e0", "e1", "e2"]


@pytest.mark.parametrize("chance", ["F.rand()", 'F.expr("uuid()")'], ids=["number", "text"])
def test_r4_a_replay_that_computes_something_else_after_publishing_stops(small_job, chance):
    job = small_job(RANDOM.replace("F.rand()", chance), ONLY_KEPT)
    job.feed([event("e1", 1), event("e2", 2)])
    job.feed([event("e3", 3)])
    job.run()
    before = job.rows("kept")
    job.lose("commits/1")

    error = job.stopped(NondeterministicReplay)

    assert "Batch 1 of kept ran again and is not what was published" in error.message
    assert "--accept-replay 1" in error.remedy
    assert job.rows("kept") == before

    result = job.run(accept_replay=1)
    assert job.rows("kept") == before
    assert job.run().batches == 0
    assert any("Batch 1" in note and "unknown" in note for note in result.notes)


def test_r4_a_replay_of_other_input_is_not_accepted(small_job):
    """--accept-replay is for another result of the same input; of other input, what was not read then would be lost."""
    job = small_job(KEPT)
    for number in range(2):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("commits/1")
    job.change_manifest(1, lambda found: found["fingerprint"].update(watermark_ms=1))

    error = job.stopped(FingerprintMismatch, accept_replay=1)

    assert "it reads other input or has another watermark" in error.message
    assert job.ids() == ["e0", "e1"]


def test_r2_the_newest_batch_is_not_taken_back_while_its_input_is_gone(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    newest = job.feed([event("e2", 2)])
    job.run()
    aside = shutil.move(newest, job.folder / "aside")

    error = job.stopped(DataError, replay_last=True)

    assert str(newest) in error.message
    assert (job.checkpoint() / "commits/1").exists()

    shutil.move(aside, newest)
    result = job.run(replay_last=True)
    assert "Batch 1 of kept was taken back and is computed again." in result.notes
    assert result.account == Account(emitted=2)
    assert job.ids() == ["e1", "e2"]


def three_of_which_two_manifests_are_lost(small_job, text=KEPT, binding=None):
    """A power failure after the publication of batch 2, before Spark commits it; more has come meanwhile."""
    job = small_job(text, binding)
    query = "sums" if text == SUMS else "kept"
    for number in range(3):
        job.feed([event(f"e{number}", number), event(f"bad{number}", number, v=-1)])
    dies(job, "rename", f"checkpoint/{query}/commits/2$")
    job.lose("_streamproof/manifests/1", "_streamproof/manifests/2", query=query)
    job.feed([event("e3", 3)])
    job.binding = replace(job.binding, files_per_batch=None)
    job.write()
    assert "--replay-last" in job.stopped(TornCheckpoint).remedy
    return job


def test_r2_a_published_batch_above_a_lost_manifest_is_replayed_as_it_was_planned(small_job):
    """Planned anew it would take what has come since."""
    job = three_of_which_two_manifests_are_lost(small_job)
    published = job.ledger(2)

    result = job.run(replay_last=True)

    assert job.ids() == ["e0", "e1", "e2", "e3"]
    assert job.ledger(2) == published
    assert job.manifest(2).id == published.manifest
    assert (job.ledger(3).earlier.count, job.ledger(3).earlier.sum) == (3, 3), "the chain has the batch whose manifest is lost"
    assert "The account of kept is unknown since batch 1" in " ".join(result.notes)


def test_r2_a_batch_of_which_one_output_alone_has_something_keeps_its_plan_too(small_job):
    job = three_of_which_two_manifests_are_lost(small_job)
    shutil.rmtree(job.out("kept") / "batch=000002")

    job.run(replay_last=True)

    assert (job.ids(), job.ids("rejected")) == (["e0", "e1", "e2", "e3"], ["bad0", "bad1", "bad2"])
    assert job.manifest(2).section("kept").earlier.count == 2


@pytest.mark.full
def test_r31_an_account_that_a_lost_manifest_has_made_unknown_is_a_note_of_every_later_run(small_job):
    job = three_of_which_two_manifests_are_lost(small_job, SUMS, WINDOWED)

    for replay_last in (True, False, False):
        result = job.run(replay_last=replay_last)
        assert result.accounts[0].unknown_since == 1
        assert not result.accounts[0].adds_up
        assert any("The account of sums is unknown since batch 1" in note for note in result.notes)
        job.feed([event("more", 4)] if replay_last else [])


@pytest.mark.full
def test_r31_an_account_that_an_accepted_replay_has_made_unknown_is_a_note_of_every_later_run(small_job):
    job = small_job(SUMS, WINDOWED)
    for number in range(3):
        job.feed([event(f"e{number}", 40 * number)])
    job.run()
    newest = max(int(path.name) for path in (job.checkpoint("sums") / "commits").glob("[0-9]*"))

    def otherwise(found: dict[str, Any]) -> None:
        found["counts"]["total.input"] += 2
        for section in found["sections"]:
            section["digest"]["hash"] += section["kind"] == "main"

    job.change_manifest(newest, otherwise, query="sums")
    assert "2 missing" in job.stopped(AccountError).message, "what nobody has accepted is a fault"
    job.lose(f"commits/{newest}", query="sums")
    job.feed([event("e4", 81)])
    job.stopped(NondeterministicReplay)

    for accepted in (newest, None, None):
        result = job.run(accept_replay=accepted)
        assert result.accounts[0].unknown_since == newest
        assert any(f"unknown since batch {newest}" in note for note in result.notes)
        job.feed([event("more", 82)] if accepted else [])


DRAWN = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    @F.udf("string")
    def drawn(_):
        import uuid

        return uuid.uuid4().hex

    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("drawn", drawn("id"))))
"""


def test_r4_what_is_summed_is_what_is_written(small_job, spark):
    """A function of the user's that says it is deterministic is called once a row, not again for the sums."""
    job = small_job(DRAWN, ONLY_KEPT)
    job.feed([event("e1", 1), event("e2", 2)])
    job.run()

    written = spark.read.parquet(str(job.out("kept") / "batch=000000"))
    hashes = [row.hash for row in written.select(hash_of(written.schema.fields).alias("hash")).collect()]

    assert len(hashes) == 2
    assert job.manifest(0).section("kept").digest.hash == sum(hashes) % 2**64


def test_r4_a_replay_that_differs_with_nothing_published_takes_the_new_attempt(small_job):
    job = small_job(RANDOM, ONLY_KEPT)
    job.feed([event("e1", 1)])
    dies(job, "rename", "/out/kept/batch=000000$")
    discarded = job.manifest(0)

    job.run()

    assert job.ids() == ["e1"]
    assert job.manifest(0).id != discarded.id
    assert job.manifest(0).section("kept").digest != discarded.section("kept").digest
    assert job.staged() == []


@pytest.mark.parametrize(("relative", "equal"), [(1e-12, True), (1e-6, False)])
def test_r4_float_sums_are_equal_within_a_billionth_of_their_absolute_sums(small_job, relative, equal):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1, v=0.1), event("e2", 2, v=0.2)])
    job.feed([event("e3", 100)])
    job.run()
    assert len(job.rows("sums")) == 1

    def drift(found: dict[str, Any]) -> None:
        (total,) = [section["digest"]["floats"]["total"] for section in found["sections"] if section["kind"] == "main"]
        total[0] *= 1 + relative

    job.change_manifest(2, drift, query="sums")
    job.lose("commits/2", query="sums")
    job.feed([event("e4", 101)])  # a no-data batch is only run again when there is more to come

    if equal:
        job.run()
        assert len(job.rows("sums")) == 1
    else:
        assert "output sums" in job.stopped(NondeterministicReplay).message


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("a string, b string", [("x", None), (None, "x")]),
        ("a string, b double, c string", [("x", None, None), (None, None, "x")]),
        ("a bigint, b string, c bigint", [(7, "x", None), (None, "x", 7)]),
        ("a string, b double, c string, d double", [(None, 1.0, None, None), (None, None, None, 1.0)]),
        ("a array<int>, b array<int>", [([1], [2, 3]), ([1, 2], [3]), ([1, 2, 3], []), ([1, 2, 3], None)]),
    ],
)
def test_r4_a_value_that_moves_to_another_column_changes_the_hash(spark, columns, rows):
    found = spark.createDataFrame(rows, columns)

    hashes = [row.hash for row in found.select(hash_of(found.schema.fields).alias("hash")).collect()]

    moved = 3 if "array" in columns else 2  # an empty array and none have one hash
    assert len(set(hashes)) == moved
