"""Published rows vouch for themselves (R26): what is torn or gone is told at the start, with or without its manifest."""

import json
import shutil

import pytest

from full_tables import full
from spark.small_job import KEPT, Binding, event
from streamproof._jvm import Storage
from streamproof.core.account import Account
from streamproof.errors import SinkError, StagedRowsGone, StoreEmptied, StreamproofError, TornCheckpoint


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def three_batches(small_job):
    job = small_job(KEPT)
    for batch in range(3):
        job.feed([event(f"e{batch}{number}", batch) for number in range(3)])
    job.run()
    return job


def test_r26_a_ledger_names_its_files_and_the_batches_before(small_job):
    job = three_batches(small_job)

    entry = job.ledger(2)

    parts = [path for path in (job.out("kept") / "batch=000002").iterdir() if not path.name.startswith((".", "_"))]
    assert {file.name: file.size for file in entry.files} == {path.name: path.stat().st_size for path in parts}
    assert (entry.earlier.newest, entry.earlier.count, entry.earlier.sum) == (1, 2, 1)


@pytest.mark.full
def test_r26_a_torn_manifest_with_torn_rows_before_the_commit_is_published_again(small_job):
    job = three_batches(small_job)
    job.lose("commits/2")
    cut(job.checkpoint() / "_streamproof/manifests/2")
    (rows,) = (job.out("kept") / "batch=000002").glob("*.parquet")
    cut(rows)
    first = job.ledger(2)

    result = job.run()

    assert result.account == Account(emitted=9)
    assert len(job.ids()) == 9
    assert job.ledger(2).manifest == first.manifest


def test_r26_a_torn_manifest_with_torn_rows_behind_the_commit_stops_and_the_remedy_works(small_job):
    job = three_batches(small_job)
    cut(job.checkpoint() / "_streamproof/manifests/2")
    (rows,) = (job.out("kept") / "batch=000002").glob("*.parquet")
    cut(rows)
    before = (job.checkpoint() / "_streamproof/manifests/2").read_bytes()

    error = job.stopped(TornCheckpoint)
    assert "manifests/2 is torn, and Spark has committed its batch" in error.message
    assert "--replay-last" in error.remedy
    assert (job.checkpoint() / "_streamproof/manifests/2").read_bytes() == before

    assert job.run(replay_last=True).account == Account(emitted=9)
    assert len(job.ids()) == 9


def test_r26_a_batch_that_has_lost_ledger_and_manifest_before_the_commit_is_published_again(small_job):
    job = three_batches(small_job)
    job.lose("commits/2", "_streamproof/manifests/2")
    for name in ("_ledger.json", "._ledger.json.crc"):
        (job.out("kept") / "batch=000002" / name).unlink()

    assert job.run().account == Account(emitted=9)
    assert len(job.ids()) == 9


@pytest.mark.parametrize("several", [False, True], ids=["its own directory", "a copy"])
def test_r7_what_another_driver_publishes_meanwhile_stands(small_job, monkeypatch, several):
    """It comes between the look at the ledger and the rename: the directory has a ledger, and nobody removes it."""
    out = {"connector": "files", "path": "out/kept", "format": "parquet"}
    beside = {"connector": "files", "path": "out/beside", "format": "parquet"}
    tables = {"sink.kept.one": out, "sink.kept.two": beside} if several else {"sink.kept": out}
    job = small_job(KEPT, Binding(sinks={}, tables=tables))
    job.feed([event("e1", 1)])
    others = job.folder / "out/kept/batch=000000"
    write = Storage.write

    def written(storage, path, text):
        write(storage, path, text)
        if "/out/kept/_staging/" in path:
            others.mkdir(parents=True)
            (others / "_ledger.json").write_text(text.replace("small", "small "))
            (others / "rows.parquet").write_text("theirs")

    monkeypatch.setattr(Storage, "write", written)
    with pytest.raises(StreamproofError):
        job.run()

    assert (others / "rows.parquet").read_text() == "theirs"


@pytest.mark.full
def test_r26_torn_rows_are_told_by_the_ledger_alone(small_job):
    job = three_batches(small_job)
    job.feed([event("e30", 3)])
    job.run()
    job.lose("_streamproof/manifests/2")
    (rows,) = (job.out("kept") / "batch=000002").glob("*.parquet")
    cut(rows)

    assert f"Batch 2 of kept is published, and its file {rows} is torn" in job.stopped(SinkError).message


@pytest.mark.full
def test_r26_a_batch_that_is_gone_between_others_is_named(small_job):
    job = three_batches(small_job)
    away = job.folder / "away"
    shutil.move(job.out("kept") / "batch=000001", away)

    error = job.stopped(StoreEmptied)
    assert f"Of {job.out('kept')} batch 1 is gone" in error.message
    assert "--accept-missing" in error.remedy
    shutil.move(away, job.out("kept") / "batch=000001")
    assert job.run().account == Account(emitted=9)


@pytest.mark.full
def test_r26_a_batch_that_is_accepted_as_lost_is_not_asked_for_again(small_job):
    job = three_batches(small_job)
    shutil.rmtree(job.out("kept") / "batch=000001")
    job.feed([event("e30", 3)])

    assert any("batch 1 is gone, and accepted as lost" in note for note in job.run(accept_missing=True).notes)

    job.feed([event("e40", 4)])
    assert job.run().account == Account(emitted=11)
    shutil.rmtree(job.out("kept") / "batch=000003")
    assert "batches 1, 3 are gone" in job.stopped(StoreEmptied).message


@pytest.mark.parametrize("gone", ["batch=000001", *full("")], ids=["one", "all"])
def test_r26_what_is_accepted_as_lost_is_kept_until_a_new_batch_has_written_it_down(small_job, gone):
    job = three_batches(small_job)
    shutil.rmtree(job.out("kept") / gone)
    kept = job.checkpoint() / "_streamproof/accepted_losses.json"

    for accept in (True, False):
        result = job.run(accept_missing=accept)
        assert result.batches == 0
        assert any("No new batch has written down yet what was accepted as lost of kept" in note for note in result.notes)
    assert kept.exists()

    job.feed([event("e30", 3)])
    assert not any("No new batch" in note for note in job.run().notes)
    assert not kept.exists()

    job.feed([event("e40", 4)])
    job.run()
    assert job.run().account == Account(emitted=11)
    shutil.rmtree(job.out("kept") / "batch=000003")
    if gone:  # else it is the oldest that is there, which a retention may remove
        job.stopped(StoreEmptied)


@pytest.mark.full
def test_r26_a_loss_is_accepted_as_it_was_and_no_other(small_job):
    job = three_batches(small_job)
    job.feed([event("e30", 3)])
    job.run()
    shutil.rmtree(job.out("kept") / "batch=000001")
    job.run(accept_missing=True)
    shutil.rmtree(job.out("kept") / "batch=000002")

    assert "batches 1, 2 are gone" in job.stopped(StoreEmptied).message


@pytest.mark.full
def test_r26_a_loss_that_is_accepted_while_a_batch_is_interrupted_is_written_down_by_the_next(small_job):
    job = three_batches(small_job)
    job.lose("commits/2")
    shutil.rmtree(job.out("kept") / "batch=000001")
    job.run(accept_missing=True)

    for number in (3, 4):
        job.feed([event(f"e{number}", number)])
        job.run()

    assert (job.manifest(3).section("kept").earlier.lost, job.manifest(3).section("kept").earlier.lost_sum) == (1, 1)


def test_r26_an_emptied_output_is_one_message_with_one_way_out(small_job):
    job = three_batches(small_job)
    shutil.rmtree(job.out("kept"))

    error = job.stopped(StoreEmptied)
    assert f"{job.out('kept')} has none of the 3 batches that were published there" in error.message
    assert "--replay-last" not in str(error)

    job.feed([event("e30", 3)])
    job.run(accept_missing=True)
    assert job.ids() == ["e30"]
    job.feed([event("e40", 4)])
    assert job.run().account == Account(emitted=11)


@pytest.mark.full
def test_r26_the_newest_batch_alone_is_computed_again(small_job):
    job = three_batches(small_job)
    shutil.rmtree(job.out("kept") / "batch=000002")

    assert "--replay-last" in job.stopped(StagedRowsGone).remedy

    assert job.run(replay_last=True).account == Account(emitted=9)
    assert len(job.ids()) == 9


@pytest.mark.full
def test_r26_the_oldest_batches_may_be_removed(small_job):
    """As a retention does: every run says it, and none is stopped by it."""
    job = three_batches(small_job)
    for batch in (0, 1):
        shutil.rmtree(job.out("kept") / f"batch={batch:06d}")
    job.feed([event("e30", 3)])

    assert any("has no batch before 2 any more" in note for note in job.run().notes)


@pytest.mark.full
def test_r26_the_chain_of_an_earlier_version_is_made_from_its_manifests(small_job):
    job = three_batches(small_job)
    for batch in range(3):
        job.change_manifest(batch, lambda manifest: [section.pop("earlier") for section in manifest["sections"]])
        ledger = job.out("kept") / f"batch={batch:06d}/_ledger.json"
        entry = {key: value for key, value in json.loads(ledger.read_text()).items() if key not in ("files", "earlier")}
        ledger.write_text(json.dumps(entry))
        ledger.with_name("._ledger.json.crc").unlink(missing_ok=True)
    job.feed([event("e30", 3)])

    assert job.run().account == Account(emitted=10)

    assert job.ledger(3).earlier.count == 3
    shutil.rmtree(job.out("kept") / "batch=000002")
    assert "batch 2 is gone" in job.stopped(StoreEmptied).message


def test_r4_a_map_within_another_value_is_compared_too(small_job):
    deep = "id string, v double, ts long, inner struct<m: map<string, int>>, list array<map<string, int>>"
    job = small_job(KEPT, Binding(schema=deep))
    job.feed([event("a", 0) | {"inner": {"m": {"x": 1}}, "list": [{"y": 2}]}])
    job.run()
    hashed = job.manifest(0).section("kept").digest.hash

    other = small_job(KEPT, Binding(schema=deep), folder="other")
    other.feed([event("a", 0) | {"inner": {"m": {"x": 1}}, "list": [{"y": 3}]}])
    other.run()

    assert job.rows("kept")[0]["list"] == [[("y", 2)]]
    assert other.manifest(0).section("kept").digest.hash != hashed
