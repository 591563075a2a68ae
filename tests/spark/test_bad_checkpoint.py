"""Lost or torn files of a checkpoint and its outputs: the message says where, what was found and what to do; nothing is lost, and doing it works."""

import shutil

import pytest

from full_tables import full
from spark.small_job import KEPT, SUMS, WINDOWED, Binding, event, recorded
from streamproof.core.account import Account
from streamproof.errors import DiskFull, FingerprintMismatch, SinkError, TornCheckpoint, WrongCheckpoint


@pytest.mark.parametrize(
    "lost", [["commits"], *full(["offsets"], ["offsets", "commits"])], ids=["the commit", "the offset", "both"]
)
def test_the_newest_log_files_lost(small_job, lost):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1), event("e2", 2)])
    job.feed([event("e3", 40)])
    job.run()
    newest = max(int(path.name) for path in (job.checkpoint("sums") / "offsets").glob("[0-9]*"))
    job.lose(*[f"{log}/{newest}" for log in lost], query="sums")
    job.feed([event("e4", 200), event("e5", 3)])
    job.feed([event("e6", 201)])

    result = job.run()

    assert sorted((row["total"], row["n"]) for row in job.rows("sums")) == [(1.0, 1), (2.0, 2)]
    assert result.accounts[0].adds_up
    assert result.account == Account(emitted=3, open_state=2, late=1)


@pytest.mark.parametrize(("keep", "checksum"), [(0, False), *full((2, False), (-5, False), (-5, True))])
@pytest.mark.parametrize("name", ["offsets/1", *full("commits/1", "_streamproof/manifests/1", "sources/0/1")])
def test_a_torn_file_of_the_checkpoint_is_mended(small_job, name, keep, checksum):
    """As a machine's death leaves them: the newest files, before the batch was committed."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.feed([event("e2", 2), event("bad", 2, v=-1)])
    job.run()
    if not name.startswith("commits"):
        job.lose("commits/1")
    job.tear(name, keep=keep, checksum=checksum)
    job.feed([event("e3", 3)])

    result = job.run()

    assert (job.ids(), job.ids("rejected")) == (["e1", "e2", "e3"], ["bad"])
    assert result.account == Account(emitted=3, rejected=1)
    assert any(name in note or "manifest of batch 1" in note for note in result.notes) or (name, keep) == (
        "commits/1",
        2,
    )  # Spark takes it for whole


def test_a_torn_ledger_of_a_batch_in_work_is_mended(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.lose("commits/0")
    ledger = job.out("kept") / "batch=000000/_ledger.json"
    ledger.write_text(ledger.read_text()[:30])
    ledger.with_name("._ledger.json.crc").unlink(missing_ok=True)
    job.feed([event("e2", 2)])

    result = job.run()

    assert job.ids() == ["e1", "e2"]
    assert any("_ledger.json was torn" in note for note in result.notes)


def test_a_torn_ledger_of_a_finished_batch_stops_and_the_remedy_works(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    ledger = job.out("kept") / "batch=000000/_ledger.json"
    ledger.write_text(ledger.read_text()[:30])
    ledger.with_name("._ledger.json.crc").unlink(missing_ok=True)

    error = job.stopped(TornCheckpoint)
    assert str(ledger) in error.message
    assert "--replay-last" in error.remedy

    shutil.move(ledger.parent, job.folder / "away")
    job.run(replay_last=True)
    assert job.ids() == ["e1"]


@pytest.mark.parametrize("keep", [0, 40, None], ids=["empty", "cut short", "gone"])
def test_r20_torn_rows_of_a_finished_batch_stop_and_the_remedy_works(small_job, keep):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.feed([event("e2", 2)])
    job.run()
    (rows,) = (job.out("kept") / "batch=000001").glob("*.parquet")
    content = rows.read_bytes()
    rows.unlink()
    if keep is not None:
        rows.write_bytes(content[:keep])

    error = job.stopped(SinkError)
    assert "Batch 1 of kept is published, and its file" in error.message
    assert str(rows) in error.message
    assert "--replay-last" in error.remedy

    shutil.move(rows.parent, job.folder / "away")
    assert job.run(replay_last=True).account == Account(emitted=2)
    assert job.ids() == ["e1", "e2"]


def test_r20_torn_rows_of_the_batch_before_an_interrupted_one_are_seen(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.feed([event("e2", 2)])
    job.run()
    job.lose("commits/1")
    (rows,) = (job.out("kept") / "batch=000000").glob("*.parquet")
    rows.write_bytes(b"")

    error = job.stopped(SinkError)

    assert "Batch 0 of kept" in error.message
    assert "from a backup" in error.remedy


def test_rows_that_their_owner_has_rewritten_are_not_torn(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    (rows,) = (job.out("kept") / "batch=000000").glob("*.parquet")
    rows.rename(rows.with_name("compacted.parquet"))
    job.feed([event("e2", 2)])

    assert job.run().account == Account(emitted=2)


@pytest.mark.full
def test_a_damaged_file_of_the_state_is_named_and_the_remedy_works(small_job):
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.feed([event("e2", 2)])
    job.run()
    files = list(job.checkpoint("sums").glob("state/0/*/[0-9]*_*.zip"))
    newest = max(int(path.name.partition("_")[0]) for path in files)
    for path in files:
        if path.name.startswith(f"{newest}_"):
            path.write_bytes(b"")
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    job.feed([event("e3", 3)])

    error = job.stopped(TornCheckpoint)
    assert str(job.checkpoint("sums")) in error.message
    assert "--replay-last" in error.remedy

    result = job.run(replay_last=True)
    assert result.account == Account(open_state=3)


@pytest.mark.full
def test_a_manifest_lost_after_a_part_was_published_loses_nothing(small_job):
    """Also: what this attempt has staged of the other part is what is published."""
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.run()
    job.lose("commits/0", "_streamproof/manifests/0")
    shutil.rmtree(job.out("rejected") / "batch=000000")

    result = job.run()

    assert (job.ids(), job.ids("rejected")) == (["e1"], ["bad"])
    assert result.account == Account(emitted=1, rejected=1)


def test_a_manifest_lost_and_other_values_with_as_many_rows_stop(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.lose("commits/0", "_streamproof/manifests/0")
    job.text = KEPT.replace(
        'require(v="v >= 0")', 'require(v="v >= 0").transform(lambda rows: rows.withColumn("v", F.col("v") + 1))'
    )
    job.write()

    assert "others than it gives now" in job.stopped(FingerprintMismatch).message
    assert job.ids() == ["e1"]


REFUSED = KEPT.replace("rejected=checked", "refused=checked")


@pytest.mark.full
def test_an_output_that_is_gone_while_a_batch_is_open_is_named(small_job):
    job = small_job(REFUSED, Binding(sinks={"kept": "parquet", "refused": "json"}))
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    with recorded(job, "gone") as faults:
        faults.arm("gone", "create", "/out/refused/.*/_ledger.json$", "before", 1, "enospc")
        job.stopped(DiskFull)
        faults.clear("gone")
        job.text = KEPT
        config = job.folder / "streamproof.toml"
        config.write_text(config.read_text().replace("refused", "rejected"))
        (job.folder / "job.py").write_text((job.folder / "job.py").read_text().replace("refused=", "rejected="))
        error = job.stopped(WrongCheckpoint)

    assert "1 rows for the output refused" in error.message
    assert "former outputs" in error.remedy
