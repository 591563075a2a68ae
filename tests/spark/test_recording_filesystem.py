"""The recording filesystem under a real stateful query: what it sees, what its images are worth, and how its faults fire."""

import json
import os
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from full_tables import full
from streamproof._jvm import Storage, jars
from streamproof.prove.record.build import build
from streamproof.prove.record.cuts import cuts
from streamproof.prove.record.images import prefixes, without
from streamproof.prove.record.journal import Journal, read
from streamproof.prove.record.live import MARKER, Action, arming
from streamproof.prove.record.paths import Layout, pattern, temporary
from streamproof.prove.record.steps import Timeline, timeline

LAYOUT = Layout(checkpoints={"sums": "checkpoint/sums"}, outputs={"sums": "out/sums"})
BATCHES = 3
PER_BATCH = 60


@dataclass(frozen=True)
class Run:
    scenario: Path
    journal: Journal
    timeline: Timeline


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    for batch in range(BATCHES):
        rows = [{"id": f"e{n}", "client": f"c{n % 5}", "v": n, "ts": n} for n in range(batch * PER_BATCH, (batch + 1) * PER_BATCH)]
        file = folder / f"{batch}.json"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(file, (1_700_000_000 + batch,) * 2)
    return folder


def run_query(spark: SparkSession, events: Path, where: str) -> None:
    """Deduplicate, sum per window and client, publish each batch by one directory rename unless it is published."""
    storage = Storage(spark)

    def publish(rows, batch):
        staging, public = f"{where}/out/sums/_staging/{batch:06d}-{os.urandom(4).hex()}", f"{where}/out/sums/batch={batch:06d}"
        rows.write.json(staging)
        if not storage.exists(public):
            storage.rename(staging, public)

    query = (
        spark.readStream.schema("id string, client string, v long, ts long")
        .option("maxFilesPerTrigger", 1)
        .json(str(events))
        .withColumn("at", F.timestamp_seconds("ts"))
        .withWatermark("at", "10 seconds")
        .dropDuplicatesWithinWatermark(["id"])
        .groupBy(F.window("at", "20 seconds"), "client")
        .agg(F.sum("v").alias("total"))
        .select(F.unix_seconds("window.start").alias("start"), "client", "total")
        .writeStream.foreachBatch(publish)
        .option("checkpointLocation", f"{where}/checkpoint/sums")
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        query.stop()


def record(spark: SparkSession, events: Path, recording: str, folder: Path) -> Run:
    recordings = spark._jvm.io.streamproof.proof.Recordings
    scenario = folder / "scenario"
    recordings.open(recording, str(folder / "recording"))
    try:
        run_query(spark, events, f"sp-record://{recording}{scenario}")
    finally:
        recordings.close(recording)
    journal = read(folder / "recording", scenario)
    return Run(scenario, journal, timeline(journal, LAYOUT))


@pytest.fixture(scope="module")
def recorded(spark, events, tmp_path_factory) -> Run:
    return record(spark, events, "first", tmp_path_factory.mktemp("first"))


def published(scenario: Path) -> Counter[str]:
    return Counter(line for part in scenario.glob("out/sums/batch=*/part-*.json") for line in part.read_text().splitlines())


def durable(paths) -> set[str]:
    return {pattern(path) for path in paths if not temporary(path)}


def on_disk(scenario: Path) -> list[str]:
    return [str(path.relative_to(scenario)) for path in scenario.rglob("*") if path.is_file()]


def test_every_durable_step_has_a_known_name(recorded):
    assert recorded.timeline.unknown == ()
    assert recorded.journal.outside == ()
    assert sum(published(recorded.scenario).values()) > 10
    names = {str(step) for step in recorded.timeline.steps}
    assert {"start/metadata@0", "plan/source.0@1", "plan/offsets@1", "publish/sums@1", "commit/commits@1"} <= names
    for operator in (0, 1):
        for partition in (0, 1):
            assert {f"work/state.{operator}.{partition}@1", f"work/checksum.state.{operator}.{partition}@1"} <= names


def test_the_journal_tells_the_disk(recorded):
    """The tree at the end of the journal is the disk itself, file by file."""
    (last,) = [image for image in prefixes(recorded.timeline) if str(recorded.timeline.steps[-1].name("after")) in image.names]
    assert durable(last.files) == durable(on_disk(recorded.scenario))
    for path in on_disk(recorded.scenario):
        assert (recorded.scenario / path).stat().st_size == last.files[path].size


def test_two_runs_have_the_same_step_names(spark, events, recorded, tmp_path):
    again = record(spark, events, "second", tmp_path)
    assert again.timeline.comparable == recorded.timeline.comparable


def test_r16_spark_uses_the_checkpoint_manager_of_production(spark, tmp_path):
    spark._jvm.io.streamproof.proof.Recordings.open("manager", str(tmp_path / "recording"))
    try:
        jvm = spark._jvm
        package = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        kinds = [
            package.CheckpointFileManager.create(jvm.org.apache.hadoop.fs.Path(path), spark._jsc.hadoopConfiguration())
            .getClass()
            .getName()
            for path in (f"sp-record://manager{tmp_path}/x", f"file:{tmp_path}/x")
        ]
        assert kinds[0] == kinds[1]
        assert "FileContextBased" in kinds[0]
    finally:
        spark._jvm.io.streamproof.proof.Recordings.close("manager")


@pytest.mark.parametrize(
    "step", ["plan/source.0@1:after", "work/state.0.1@1:after", *full("publish/sums@1:after", "commit/commits@1:after")]
)
def test_an_image_recovers_to_what_the_run_published(spark, events, recorded, tmp_path, step):
    image = next(image for image in prefixes(recorded.timeline) if step in image.names)
    built = build(image, tmp_path / "image", recorded.journal.blobs, LAYOUT)
    assert built.fired()
    run_query(spark, events, f"file:{built.folder}")
    if step == "plan/source.0@1:after":  # the next batch takes two files: its boundaries, and what is late, are others
        assert (built.folder / "checkpoint/sums/offsets/1").read_text().endswith('{"logOffset":2}')
    else:
        assert published(built.folder) == published(recorded.scenario)
    build(image, tmp_path / "again", recorded.journal.blobs, LAYOUT)  # refuses what the run has changed (R16)


def test_r19_a_cut_recovers_too(spark, events, recorded, tmp_path):
    cut = next(image for image in without(cuts(recorded.timeline), prefixes(recorded.timeline)) if "@1:after+alone-1" in image.id)
    built = build(cut, tmp_path / "image", recorded.journal.blobs, LAYOUT)
    run_query(spark, events, f"file:{built.folder}")
    assert published(built.folder) == published(recorded.scenario)


@pytest.mark.parametrize(
    "step", ["plan/offsets@1:before", *full("work/state.1.0@1:after", "publish/sums@1:after", "commit/commits@1:before")]
)
def test_a_live_crash_leaves_the_disk_of_the_image(spark, events, recorded, tmp_path, step):
    """Arms the fault in a new run: it fires, the dead do nothing more, and the disk is that of an image; then it recovers."""
    proof = spark._jvm.io.streamproof.proof
    recording, scenario = "live", tmp_path / "scenario"
    proof.Recordings.open(recording, str(tmp_path / "recording"))
    try:
        proof.Faults.arm(recording, *arming(recorded.timeline, step).arguments())
        assert not proof.Faults.fired(recording)
        with pytest.raises(StreamingQueryException, match=r"the process of recording live"):
            run_query(spark, events, f"sp-record://{recording}{scenario}")
        assert proof.Faults.fired(recording)
        size = proof.Recordings.size(recording)
        for call in (Storage(spark).exists, Storage(spark).read, Storage(spark).list, Storage(spark).delete):
            with pytest.raises(Exception, match=r"dead|ProcessDied"):
                call(f"sp-record://{recording}{scenario}/checkpoint/sums/metadata")
        assert proof.Recordings.size(recording) == size
    finally:
        proof.Recordings.close(recording)
    left = durable(on_disk(scenario))
    assert left == durable(path for path in timeline_end(tmp_path, scenario) if (scenario / path).exists())
    if not step.startswith("work/"):  # tasks of one stage crash in any order: the cut is one of several
        image = next(image for image in prefixes(recorded.timeline) if step in image.names)
        assert left == durable(image.files)
    run_query(spark, events, f"file:{scenario}")
    assert published(scenario) == published(recorded.scenario)


def timeline_end(folder: Path, scenario: Path) -> list[str]:
    """The paths that exist according to the journal of a crashed run."""
    from streamproof.prove.record.tree import Tree

    return list(Tree.after(read(folder / "recording", scenario).entries).files)


@pytest.fixture
def store(spark, tmp_path):
    """Small file operations on an open recording of their own."""
    recordings = spark._jvm.io.streamproof.proof.Recordings
    recordings.open("small", str(tmp_path / "recording"))
    yield Storage(spark), f"sp-record://small{tmp_path}/scenario", spark._jvm.io.streamproof.proof.Faults
    recordings.close("small")


def test_r16_an_overwrite_does_not_reach_the_blob(store, tmp_path):
    storage, where, _ = store
    storage.write(f"{where}/a", "one")
    storage.write(f"{where}/a", "two")
    storage.delete(f"{where}/a")
    contents = [path.read_text() for path in (tmp_path / "recording/blobs").iterdir() if not path.name.startswith(".")]
    assert sorted(contents) == ["one", "two"]
    assert all(path.stat().st_mode & 0o222 == 0 for path in (tmp_path / "recording/blobs").iterdir())
    entries = read(tmp_path / "recording", tmp_path / "scenario").entries
    assert [entry.operation.value for entry in entries] == ["create", "close", "create", "close", "delete"]


def test_appending_truncating_and_syncing_are_seen(spark, store, tmp_path):
    _, where, _ = store
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{where}/a")
    files = path.getFileSystem(spark._jsc.hadoopConfiguration())
    created = files.create(path)
    assert created.hasCapability("hsync")
    created.write(bytearray(b"one"))
    created.hsync()
    created.close()
    appended = files.append(path)
    appended.write(bytearray(b"two"))
    appended.close()
    files.truncate(path, 2)
    entries = read(tmp_path / "recording", tmp_path / "scenario").entries
    assert [(entry.operation.value, entry.size, entry.synced) for entry in entries] == [
        ("create", None, False),
        ("close", 3, True),
        ("append", None, False),
        ("close", 6, False),
        ("truncate", 2, False),
    ]
    assert (tmp_path / "scenario/a").read_text() == "on"


def test_what_had_no_effect_is_not_written_down(store, tmp_path):
    storage, where, _ = store
    storage.delete(f"{where}/nothing")
    with pytest.raises(Exception, match=r"read or written"):
        storage.rename(f"{where}/nothing", f"{where}/b")
    assert read(tmp_path / "recording", tmp_path / "scenario").entries == ()


def test_before_is_not_done_and_after_is_done(store, tmp_path):
    storage, where, faults = store
    storage.write(f"{where}/a", "one")
    faults.arm("small", "rename", "/b$", "after", 1, "die")
    with pytest.raises(Exception, match=r"died after rename"):
        storage.rename(f"{where}/a", f"{where}/b")
    assert faults.firedAt("small") == f"after rename {tmp_path}/scenario/b"
    assert (tmp_path / "scenario/b").read_text() == "one"
    with pytest.raises(Exception, match=r"is dead"):
        storage.read(f"{where}/b")


def test_the_occurrence_counts_from_the_arming(store, tmp_path):
    storage, where, faults = store
    storage.write(f"{where}/a", "one")
    faults.arm("small", "create", "/a$", "before", 2, "die")
    storage.write(f"{where}/a", "two")
    with pytest.raises(Exception, match=r"died before create"):
        storage.write(f"{where}/a", "three")
    assert (tmp_path / "scenario/a").read_text() == "two"


def test_a_full_disk_stays_full_until_there_is_room(store, tmp_path):
    storage, where, faults = store
    storage.write(f"{where}/a", "one")
    faults.arm("small", "create", "/b$", "before", 1, "enospc")
    for name in ("b", "c"):
        with pytest.raises(Exception, match=r"disk is full"):
            storage.write(f"{where}/{name}", "two")
    assert storage.read(f"{where}/a") == "one"
    faults.clear("small")
    storage.write(f"{where}/b", "two")
    assert (tmp_path / "scenario/b").read_text() == "two"


def test_a_recording_that_is_not_open_is_refused(spark, tmp_path):
    with pytest.raises(Py4JJavaError, match=r"recording nobody is not open"):
        spark._jvm.io.streamproof.Storage(spark._jsparkSession).exists(f"sp-record://nobody{tmp_path}/x")


CHILD = """
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;

public class Child {
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (int index = 1; index + 1 < arguments.length; index += 2) {
      configuration.set(arguments[index], arguments[index + 1]);
    }
    Path root = new Path(arguments[0]);
    FileSystem files = root.getFileSystem(configuration);
    for (int number = 0; number < 5; number++) {
      files.create(new Path(root, "file" + number)).close();
    }
  }
}
"""


@pytest.mark.full
def test_kill_stands_still_until_the_parent_kills(tmp_path):
    """A child process, told by its configuration, marks the step and waits; nothing is done after it, and the journal is whole."""
    (tmp_path / "Child.java").write_text(CHILD)
    scenario, recording = tmp_path / "scenario", tmp_path / "recording"
    settings = {
        "fs.sp-record.impl": "io.streamproof.proof.RecordingFileSystem",
        "streamproof.recording.child.folder": str(recording),
    }
    fault = {"operation": "close", "path": "/file2$", "side": "after", "occurrence": "1", "action": Action.KILL.value}
    settings |= {f"streamproof.recording.child.fault.{key}": value for key, value in fault.items()}
    class_path = os.pathsep.join([*jars(proof=True), f"{Path(pyspark.__file__).parent}/jars/*"])
    command = ["java", "-cp", class_path, str(tmp_path / "Child.java"), f"sp-record://child{scenario}"]
    child = subprocess.Popen([*command, *(word for pair in settings.items() for word in pair)])
    try:
        deadline = time.monotonic() + 60
        while not (recording / MARKER).exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)  # another process: there is nothing to wait on but its marker
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
    assert (recording / MARKER).read_text() == f"after close {scenario}/file2\n"
    assert sorted(on_disk(scenario)) == ["file0", "file1", "file2"]
    assert read(recording, scenario).entries[-1].target == "file2"
