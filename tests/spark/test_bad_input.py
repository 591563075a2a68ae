"""Bad input of every kind: the message says where, what was found and what to do; nothing is lost, and doing it works."""

import json
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, assert_readable, event, recorded
from streamproof.core.account import Account
from streamproof.core.manifest import Manifest
from streamproof.errors import (
    ConfigurationError,
    DataError,
    JobDefinitionError,
    OutputInUse,
    SinkError,
    StreamproofError,
    TornCheckpoint,
    TwoDrivers,
    WrongCheckpoint,
)
from streamproof.runtime.batch import BatchProtocol
from streamproof.runtime.manifests import ManifestStore

pytestmark = pytest.mark.spark

PARQUET = Binding(format="parquet", schema="id string, v double, ts timestamp", event_time="")
SCHEMALESS = Binding(format="parquet", schema=None, event_time="")


def good(identity: str) -> dict[str, Any]:
    return {"id": [identity], "v": [1.0], "ts": pa.array([0], pa.timestamp("us", tz="UTC"))}


# -- the data


def test_malformed_truncated_and_empty_files_of_lines(small_job):
    """What cannot be parsed is rejected with its text; an empty file is no record; a last line without an end is one."""
    job = small_job(KEPT, Binding(files_per_batch=None))
    job.feed_bytes(b"")
    job.feed_bytes(b"\n\n")
    job.feed(["{not json", "[1, 2]", '"text"', "\ufeff", "null"])
    whole = json.dumps(event("e2", 2)).encode()
    job.feed_bytes(whole + b"\n" + whole[:20])
    job.feed_bytes(b"\x00\xff\xfe\x1f\x8b")

    result = job.run()

    assert job.ids() == ["e2"]
    rejected = job.rows("rejected")
    texts = [row["original"] for row in rejected]
    assert {"{not json", "[1, 2]", '"text"', whole[:20].decode()} <= set(texts)
    assert {row["reason"] for row in rejected} == {"not parseable"}
    assert result.accounts[0].adds_up
    assert result.account == Account(emitted=1, rejected=result.account_input - 1)


def test_two_records_glued_together_in_one_line_are_rejected(small_job):
    job = small_job(KEPT)
    job.feed([json.dumps(event("e1", 1)) + json.dumps(event("e2", 2)), event("e3", 3)])
    assert job.run().account == Account(emitted=1, rejected=1)


def test_wrong_types_are_rejected_with_the_line_as_it_was(small_job):
    job = small_job(KEPT)
    lines = ['{"id": "e1", "v": "much", "ts": 1}', '{"id": "e2", "v": 1, "ts": "soon"}', '{"id": {"a": 1}, "v": 1, "ts": 1}']
    job.feed([*lines, event("e3", 3), '{"id": 4, "v": 1, "ts": 4}'])

    result = job.run()

    rejected = {row["original"]: row["reason"] for row in job.rows("rejected")}
    assert rejected[lines[0]] == rejected[lines[1]] == "not parseable"
    assert result.account.rejected + result.account.emitted == 5
    assert "e3" in job.ids()


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"", "empty"), (b"PAR1 no PAR1", "not Parquet"), (None, "cut short")],
    ids=["0 bytes", "not Parquet", "cut short"],
)
def test_a_file_among_parquet_that_is_none_stops_the_job_and_is_named(small_job, content, name):
    job = small_job(KEPT, PARQUET)
    job.feed_parquet(good("e1"))
    bad = job.feed_parquet(good("e2"))
    bad.write_bytes(bad.read_bytes()[:-30] if content is None else content)
    job._dated(bad)

    error = job.stopped(DataError)

    assert str(bad) in error.message
    assert "cannot be read as Parquet" in error.message
    assert "run again" in error.remedy
    assert job.ids() == ["e1"]

    pq.write_table(pa.table(good("e2")), bad)
    job.feed_parquet(good("e3"))
    assert job.run().account == Account(emitted=3)
    assert job.ids() == ["e1", "e2", "e3"]


def test_parquet_of_another_type_stops_the_job_and_is_named(small_job):
    job = small_job(KEPT, PARQUET)
    bad = job.feed_parquet(good("e1") | {"v": ["much"]})

    error = job.stopped(DataError)

    assert str(bad) in error.message
    assert job.rows("kept") == []


@pytest.mark.parametrize("fill", ["nothing", "no Parquet"])
def test_no_schema_can_be_read_from_the_folder(small_job, fill):
    job = small_job(KEPT, SCHEMALESS)
    if fill == "no Parquet":
        job.feed_bytes(b"some text", "parquet")

    error = job.stopped(DataError)

    assert "[source.events]" in error.message
    assert str(job.folder / "data") in error.message
    assert "Declare schema" in error.remedy


def test_a_folder_of_data_that_is_not_there(small_job):
    job = small_job(KEPT)
    (job.folder / "data").rmdir()

    error = job.stopped(DataError)

    assert "[source.events]" in error.message
    assert str(job.folder / "data") in error.message


def test_a_file_that_vanishes_between_listing_and_reading(small_job):
    """The batch is planned with it; put back, the same batch is read again."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    gone = job.feed([event("e2", 2)])
    with recorded(job, "vanish") as faults:
        faults.arm("vanish", "create", "/out/kept/_staging/000001", "before", 1, "die")
        with pytest.raises(StreamproofError):
            job.run()
    aside = shutil.move(gone, job.folder / "aside")

    error = job.stopped(DataError)

    assert str(gone) in error.message
    assert "vanished" in error.message
    assert "Put it back" in error.remedy
    assert job.ids() == ["e1"]

    shutil.move(aside, gone)
    assert job.run().account == Account(emitted=2)
    assert job.ids() == ["e1", "e2"]


# -- the job


def asking(chain: str, sides: str = "") -> str:
    return f"\n@sp.job\ndef small(events: sp.Stream) -> sp.Outputs:\n    kept = {chain}\n    return sp.Outputs(kept=kept{sides})\n"


WINDOW = 'window(sp.tumbling("30 seconds")'


@pytest.mark.parametrize(
    ("chain", "where"),
    [
        ('events.require(v="vv > 0")', "require()"),
        ('events.filter("vv > 0", name="some")', "filter(name='some')"),
        ('events.filter(F.col("vv") > 0, name="some")', "filter(name='some')"),
        ('events.deduplicate("id", "vv")', "deduplicate()"),
        (f'events.{WINDOW}, by="vv").aggregate(n=F.count("*"))', "window(by=...)"),
        (f'events.{WINDOW}).aggregate(n=F.sum("vv"))', "aggregate()"),
        ('events.transform(lambda rows: rows.select("vv"))', "transform()"),
    ],
)
def test_a_column_that_does_not_exist(small_job, chain, where):
    job = small_job(asking(chain), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert error.message == f'{where} needs the column "vv", which is not there. Did you mean "v"?'
    assert "id, client, v, ts" in error.required
    assert "_" not in error.required
    assert not (job.checkpoint() / "offsets").exists()


@pytest.mark.parametrize("chain", ['events.deduplicate("id")', f'events.{WINDOW}).aggregate(n=F.count("*"))'])
def test_no_event_time_where_one_is_needed(small_job, chain):
    job = small_job(asking(chain), Binding(event_time="", sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert "the source events, which declares no event time" in error.message
    assert "[source.events]: event_time = {" in error.remedy


def test_a_condition_that_is_no_condition(small_job):
    job = small_job(asking('events.require(v="v +")'), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])
    assert "require()" in job.stopped(JobDefinitionError).message


def test_a_condition_of_another_type(small_job):
    job = small_job(asking('events.require(v="v + 1")'), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])
    assert "require()" in job.stopped(JobDefinitionError).message


def test_an_unknown_output(small_job):
    job = small_job(KEPT, Binding(sinks={"kept": "parquet", "rejectd": "json"}))

    error = job.stopped(ConfigurationError)

    assert '[sink.rejectd] is bound, and the job has no output "rejectd". Did you mean "rejected"?' in error.message
    assert error.required == "The job's outputs are kept, rejected."


def test_an_output_without_a_sink(small_job):
    job = small_job(KEPT, Binding(sinks={}))
    error = job.stopped(ConfigurationError)
    assert "output kept has no sink" in error.message
    assert "[sink.kept]" in error.remedy


def test_a_failing_transform_says_what_failed(small_job):
    job = small_job(asking("events.transform(lambda rows: 1 / 0)"), Binding(sinks={"kept": "parquet"}))
    error = job.stopped(JobDefinitionError)
    assert "transform()" in error.message
    assert "division by zero" in error.message


# -- checkpoint and outputs


def test_a_checkpoint_of_another_job(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.text = KEPT.replace("def small", "def other")
    job.write()
    toml = job.folder / "streamproof.toml"
    toml.write_text(toml.read_text().replace("job.py:small", "job.py:other"))

    error = job.stopped(WrongCheckpoint)

    assert f"{job.checkpoint()} belongs to the job small (output kept); this is other (output kept)" in error.message
    assert "checkpoint" in error.remedy


def test_a_checkpoint_that_streamproof_did_not_write(small_job, spark):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    rows = spark.readStream.schema("id string").json(str(job.folder / "data")).writeStream.format("noop")
    rows.option("checkpointLocation", str(job.checkpoint())).trigger(availableNow=True).start().awaitTermination()

    error = job.stopped(WrongCheckpoint)

    assert str(job.checkpoint()) in error.message


@pytest.mark.parametrize("way", ["new output", "replace output"])
def test_a_checkpoint_deleted_while_the_output_stays_and_both_ways_out(small_job, way):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.run()
    shutil.rmtree(job.folder / "checkpoint")
    job.feed([event("e2", 2)])
    job.stopped(OutputInUse)
    assert job.ids() == ["e1"]

    if way == "new output":
        result = job.run(new_output="out/kept-2")
        where = {output.name: output.where for output in result.outputs}
        assert job.ids() == ["e1"]
        assert [row["id"] for row in job.rows("kept", job.folder / "out/kept-2")] == ["e1", "e2"]
        assert where == {"kept": str(job.folder / "out/kept-2"), "rejected": str(job.folder / "out/kept-2-rejected")}
        job.feed([event("e3", 3)])
        assert "has published elsewhere" in job.stopped(OutputInUse).message  # forgotten the second time: rows would be torn apart
        assert job.ids() == ["e1"]
    else:
        job.run(replace_output=True)
        assert job.ids() == ["e1", "e2"]
        assert job.ids("rejected") == ["bad"]


def test_replace_output_does_not_delete_the_output_of_a_living_checkpoint(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    error = job.stopped(ConfigurationError, replace_output=True)
    assert "which has batches" in error.message
    assert job.ids() == ["e1"]


@pytest.mark.parametrize("lost", [["commits"], ["offsets"], ["offsets", "commits"]], ids=["the commit", "the offset", "both"])
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


@pytest.mark.parametrize(("keep", "checksum"), [(0, False), (2, False), (-5, False), (-5, True)])
@pytest.mark.parametrize("name", ["offsets/1", "commits/1", "_streamproof/manifests/1", "sources/0/1"])
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


# -- the surroundings


@pytest.mark.parametrize("what", ["checkpoint", "out"])
def test_no_permission(small_job, what):
    """A path below a regular file: nobody may write there, not even root."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    (job.folder / what).write_text("a file")

    error = job.stopped(SinkError)

    assert str(job.folder / what) in error.message
    assert "is a file, not a directory" in error.message

    (job.folder / what).unlink()
    assert job.run().account == Account(emitted=1)


@pytest.mark.parametrize(
    "step", ["/out/kept/_staging/.*parquet", "/out/rejected/_staging/", "/manifests/", "/_ledger.json$", "/offsets/", "/commits/"]
)
def test_a_full_disk_stops_cleanly_and_with_room_a_restart_finishes(small_job, step):
    job = small_job(KEPT)
    job.feed([event("e1", 1), event("bad", 1, v=-1)])
    job.feed([event("e2", 2)])
    with recorded(job, "full") as faults:
        faults.arm("full", "create", step, "before", 1, "enospc")
        error = job.stopped(SinkError)
        assert faults.fired("full")
        assert "The disk is full" in error.message
        assert str(job.folder) in error.message
        assert "Make room" in error.remedy
        faults.clear("full")
        result = job.run()
    assert (job.ids(), job.ids("rejected")) == (["e1", "e2"], ["bad"])
    assert result.account == Account(emitted=2, rejected=1)


@contextmanager
def at_publish(monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> Any:
    """Does something else at the moment when the first batch of a run is staged and not yet decided."""
    decide, done = BatchProtocol._decide, []

    def decided(self: BatchProtocol, staged: Any) -> Any:
        if not done:
            done.append(True)
            do()
        return decide(self, staged)

    with monkeypatch.context() as patched:
        patched.setattr(BatchProtocol, "_decide", decided)
        yield


def test_two_drivers_the_second_finds_the_manifest_of_the_first(small_job, monkeypatch):
    """The other driver's manifest appears between this one's look and its own."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    manifests = job.checkpoint() / "_streamproof/manifests"

    create = ManifestStore.create

    def create_late(self: ManifestStore, manifest: Manifest) -> bool:
        manifests.mkdir(exist_ok=True)
        (manifests / "0").write_text(json.dumps(json.loads(manifest.to_json()) | {"id": "f" * 32}))
        return create(self, manifest)

    with monkeypatch.context() as patched:
        patched.setattr(ManifestStore, "create", create_late)
        error = job.stopped(TwoDrivers)

    assert "Another driver has written the manifest of batch 0 of kept" in error.message
    assert job.rows("kept") == []


def test_two_drivers_spark_sees_a_log_that_another_wrote_first(small_job, monkeypatch):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])

    def another() -> None:
        (job.checkpoint() / "commits").mkdir(exist_ok=True)
        (job.checkpoint() / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":0}')

    with at_publish(monkeypatch, another):
        error = job.stopped(TwoDrivers)

    assert "Another driver works on this checkpoint" in error.message
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_a_second_query_on_a_checkpoint_in_use(small_job, monkeypatch):
    """It is refused; it has cleaned up what the first one staged, which stops that one too: nothing is lost, nothing doubled."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    seen: list[StreamproofError] = []

    def another() -> None:
        with pytest.raises(StreamproofError) as error:
            job.run()
        seen.append(error.value)

    with at_publish(monkeypatch, another):
        job.stopped(TwoDrivers)

    (error,) = seen
    assert_readable(error)
    assert type(error) is TwoDrivers
    assert job.run().account == Account(emitted=1)
    assert job.ids() == ["e1"]


def test_braces_in_a_text_are_no_second_record(small_job):
    job = small_job(KEPT)
    job.feed([{**event("e}{1", 1)}, {**event('e} {"2":', 2)}, event("e3}{", 3)])

    assert job.run().account == Account(emitted=3)
