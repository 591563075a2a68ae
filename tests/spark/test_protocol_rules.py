"""The rules of PROTOCOL.md by number, each on a real run: a crash is the files it takes away, or a fault at a chosen step."""

import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, SmallJob, event, instant, recorded
from streamproof._jvm import Storage
from streamproof.core.account import Account
from streamproof.core.manifest import LedgerEntry, Manifest
from streamproof.errors import (
    DivertError,
    FingerprintMismatch,
    NondeterministicReplay,
    OutputInUse,
    StagedRowsGone,
    StreamproofError,
    TwoDrivers,
)
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.reports import sums_by_output

pytestmark = pytest.mark.spark

RANDOM = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("chance", F.rand())))
"""
ONLY_KEPT = Binding(sinks={"kept": "parquet"})


def manifest(job: SmallJob, batch: int, query: str = "kept") -> Manifest:
    return Manifest.from_json((job.checkpoint(query) / f"_streamproof/manifests/{batch}").read_text())


def change_manifest(job: SmallJob, batch: int, change: Any, query: str = "kept") -> None:
    path = job.checkpoint(query) / f"_streamproof/manifests/{batch}"
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def ledger(job: SmallJob, batch: int, output: str = "kept") -> LedgerEntry:
    return LedgerEntry.from_json((job.out(output) / f"batch={batch:06d}/_ledger.json").read_text())


def dies(job: SmallJob, operation: str, path: str, side: str = "before", occurrence: int = 1) -> None:
    """Runs the job until its process dies at the step; the folder is then as the crash left it."""
    with recorded(job, "dies") as faults:
        faults.arm("dies", operation, path, side, occurrence, "die")
        with pytest.raises(StreamproofError):
            job.run()
        assert faults.fired("dies")


def test_r1_the_incarnation_is_written_before_batch_0_and_is_in_every_manifest_and_ledger_entry(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    dies(job, "create", "/offsets/")
    written = json.loads((job.checkpoint() / "_streamproof/incarnation.json").read_text())
    assert (written["job"], written["query"]) == ("small", "kept")
    assert not list((job.checkpoint() / "commits").glob("*"))

    job.run()

    assert {manifest(job, 0).incarnation, ledger(job, 0).incarnation, ledger(job, 0, "rejected").incarnation} == {
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

    assert "Batch 1 of kept was published with 1 rows, others than it gives now" in error.message
    assert "batch=000001" in error.remedy
    assert job.ids() == ["e0", "e1"]

    shutil.move(job.out("kept") / "batch=000001", job.folder / "away")
    job.run()
    assert job.ids() == ["e0", "e1", "e2"]


def test_r3_the_manifest_names_the_exact_files_and_is_never_overwritten(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.run()

    found = manifest(job, 0)
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
    staged, named = job.staged(), manifest(job, 0)
    assert job.ids() == []
    assert len(staged) == 2  # the rows and the ledger entry, which nobody sees yet

    job.run()

    assert job.ids() == ["e1"]
    assert ledger(job, 0).manifest == named.id
    assert job.staged() == []


def test_r4_a_replay_that_computes_something_else_after_publishing_stops(small_job):
    job = small_job(RANDOM, ONLY_KEPT)
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


def test_r4_a_replay_that_differs_with_nothing_published_takes_the_new_attempt(small_job):
    job = small_job(RANDOM, ONLY_KEPT)
    job.feed([event("e1", 1)])
    dies(job, "rename", "/out/kept/batch=000000$")
    discarded = manifest(job, 0)

    job.run()

    assert job.ids() == ["e1"]
    assert manifest(job, 0).id != discarded.id
    assert manifest(job, 0).section("kept").digest != discarded.section("kept").digest
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

    change_manifest(job, 2, drift, query="sums")
    job.lose("commits/2", query="sums")
    job.feed([event("e4", 101)])  # a no-data batch is only run again when there is more to come

    if equal:
        job.run()
        assert len(job.rows("sums")) == 1
    else:
        assert "output sums" in job.stopped(NondeterministicReplay).message


def test_r5_one_divert_twice_in_a_plan_is_an_error(small_job):
    text = KEPT.replace("kept=checked,", "kept=checked.transform(lambda rows: rows.unionAll(rows)),")
    job = small_job(text)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])

    error = job.stopped(DivertError)

    assert "rejected" in error.message
    assert "2 times" in error.message
    assert job.rows("kept") == job.rows("rejected") == []


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
    first = ledger(job, 0)

    result = job.run()

    assert (job.ids(), job.ids("rejected")) == (["e1"], ["bad"])
    assert ledger(job, 0) == first
    assert result.account == Account(emitted=1, rejected=1)
    assert job.staged() == job.staged("rejected") == []


@pytest.mark.parametrize("what", ["cut short", "gone"])
def test_r6_staged_rows_that_are_not_whole_are_not_published_the_equal_ones_of_the_replay_are(small_job, what):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    dies(job, "create", "/_ledger.json$")
    (staged,), named = job.staged(), manifest(job, 0)
    staged.with_name(f".{staged.name}.crc").unlink(missing_ok=True)
    if what == "gone":
        staged.unlink()
    else:
        staged.write_bytes(staged.read_bytes()[:-1])

    job.run()

    assert job.ids() == ["e1"]
    assert ledger(job, 0).manifest == named.id
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
    hidden = job.out("kept") / manifest(job, 1).section("kept").directory
    hidden.parent.mkdir(exist_ok=True)
    shown.rename(hidden)
    assert job.ids() == ["e0"]

    job.run()

    assert job.ids() == ["e0", "e1"]


def late_chain(deduplicate: str) -> str:
    return f"""
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events{deduplicate}.window(sp.tumbling("30 seconds"), by="client", allowed_lateness="20 seconds").aggregate(n=F.count("*"))
    return sp.Outputs(sums=sums, late=sums.late)
"""


@pytest.mark.parametrize(
    ("deduplicate", "late"),
    [("", ["at 29.999", "at 45"]), ('.deduplicate("id")', ["at 29.999", "at 45", "at 60"])],
    ids=["by window end", "by event time behind a deduplication"],
)
def test_r10_late_is_decided_once_by_the_strictest_rule_of_the_chain(small_job, deduplicate, late):
    """The bound of batch 2 is the watermark of batch 1: the newest event of batch 0, less lag and allowed lateness, 09:01:00."""
    job = small_job(late_chain(deduplicate), Binding(sinks={"sums": "parquet", "late": "json"}))
    job.feed([event("first", 90)])
    job.feed([event("second", 90)])
    job.feed([event(f"at {at}", at) for at in (29.999, 45, 60, 60.001)])

    result = job.run()

    assert job.ids("late") == late
    assert result.account.late == len(late)
    assert result.accounts[0].adds_up


def test_r10_before_the_first_watermark_the_bound_is_1970(small_job):
    job = small_job(late_chain('.deduplicate("id")'), Binding(sinks={"sums": "parquet", "late": "json"}))
    old = [{"id": f"{ms} ms", "client": "a", "v": 1.0, "ts": ms} for ms in (-1, 0, 1)]
    job.feed(old)

    result = job.run()

    assert job.ids("late") == ["-1 ms", "0 ms"]
    assert result.account == Account(late=2, open_state=1)


def test_r12_a_key_is_remembered_for_lag_and_allowed_lateness(small_job):
    """The first e1 expires at 09:00:31: 30 seconds after it, not 10. A state is dropped at the end of a batch, by its watermark."""
    job = small_job(late_chain('.deduplicate("id")'), Binding(sinks={"sums": "parquet", "late": "json"}))
    job.feed([event("e1", 1), event("e2", 35)])
    job.feed([event("e3", 36)])  # the watermark is 09:00:05; by the lag alone it were 09:00:25, and e1 forgotten after this batch
    job.feed([event("e1", 37)])
    job.feed([event("e4", 70)])
    job.feed([event("e5", 71)])  # the watermark is 09:00:40: e1 is forgotten after this batch
    job.feed([event("e1", 72)])

    result = job.run()

    assert result.account == Account(emitted=1, open_state=5, duplicate=1)


def test_r13_the_far_future_is_measured_by_the_batchs_own_time(small_job):
    """The crash leaves a planned batch; its time is in the offset log and stays when the batch runs later."""
    bound = Binding(event_time='event_time = { column = "ts", unit = "milliseconds", max_future = "5 minutes" }')
    job = small_job(KEPT, bound)
    job.feed([event("near", 299), event("far", 301)])
    dies(job, "create", "/out/kept/_staging/")
    log = job.checkpoint() / "offsets/0"
    version, metadata, *ends = log.read_text().split("\n")
    then = json.loads(metadata) | {"batchTimestampMs": int(instant(0).timestamp() * 1000)}
    log.write_text("\n".join([version, json.dumps(then), *ends]))
    log.with_name(".0.crc").unlink(missing_ok=True)

    job.run()

    assert job.ids() == ["near"]
    (row,) = job.rows("rejected")
    assert (row["id"], row["reason"]) == ("far", "event time more than 5 minutes in the future")


def test_r14_late_rows_are_delivered_per_query_and_rejected_ones_once(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    short = checked.window(sp.tumbling("10 seconds")).aggregate(n=F.count("*"))
    long = checked.window(sp.tumbling("1 minute")).aggregate(n=F.count("*"))
    return sp.Outputs(short=short, long=long, rejected=checked.rejected)
"""
    job = small_job(text, Binding(sinks={"short": "parquet", "long": "parquet", "rejected": "json"}))
    job.feed([event("e1", 50), event("bad", 50, v=-1)])
    job.feed([event("e2", 50)])
    job.feed([event("e3", 5)])  # the bound is 09:00:40: behind the end of 09:00:00-09:00:10, not of 09:00-09:01

    result = job.run()

    assert job.ids("short_late") == ["e3"]
    assert job.rows("long_late") == []
    assert job.ids("rejected") == ["bad"]
    accounts = {account.query: account.account for account in result.accounts}
    assert accounts["short"] == Account(open_state=2, late=1, rejected=1)
    assert accounts["long"] == Account(open_state=3, rejected=1)


def test_r15_a_replayed_batch_is_counted_once_in_the_account(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    wanted = events.require(v="v >= 0").filter("client = 'a'", name="client a")
    return sp.Outputs(kept=wanted.deduplicate("id"))
"""
    job = small_job(text, ONLY_KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1), event("other", 3, client="b")])
    job.feed([event("e1", 1), event("bad", 2, v=-1), event("other", 3, client="b"), event("e2", 2)])
    before = job.run()
    assert before.account == Account(emitted=2, rejected=2, duplicate=1, filtered=2)
    job.lose("commits/1")

    again = job.run()

    assert again.account == before.account
    assert (again.account_input, again.accounts[0].adds_up) == (7, True)
    assert job.ids() == ["e1", "e2"]


def test_r21_state_is_kept_in_checkpoint_format_2(small_job):
    """The default: every attempt's state files have names of their own, with checksums."""
    job = small_job(SUMS, WINDOWED)
    job.feed([event("e1", 1)])
    job.run()
    assert "v2" in (job.checkpoint("sums") / "commits/0").read_text().splitlines()[0]
