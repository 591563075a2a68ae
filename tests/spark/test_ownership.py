"""Whose a checkpoint is: of another job, copied, moved, bound elsewhere; the message says so, nothing is read or published twice (R1)."""

import json
import shutil
from dataclasses import replace

import pytest

from spark.small_job import KEPT, event
from streamproof.core.account import Account
from streamproof.errors import ConfigurationError, OutputInUse, WrongCheckpoint

SINK_OF_ITS_OWN = """
from streamproof.connectors import Sink

class Nowhere(Sink):
    def published(self, batch):
        return None

    def publish(self, manifest, section):
        raise AssertionError("nothing may be published here")
"""


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


@pytest.mark.parametrize("way", ["bound back", "moved along"])
def test_r1_an_output_bound_elsewhere_while_the_checkpoint_stays_and_both_ways_out(small_job, way):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.feed([event("e2", 2)])
    config = job.folder / "streamproof.toml"
    before = config.read_text()
    config.write_text(before.replace("out/kept", "elsewhere/kept"))

    error = job.stopped(OutputInUse)

    assert f"has published kept at {job.out('kept')}; it is bound to {job.folder / 'elsewhere/kept'} now" in error.message
    assert not (job.folder / "elsewhere").exists()

    if way == "bound back":
        config.write_text(before)
        where = job.out("kept")
    else:
        where = job.folder / "elsewhere/kept"
        where.parent.mkdir()
        shutil.move(job.out("kept"), where)
    assert job.run().account == Account(emitted=2)
    assert sorted(row["id"] for row in job.rows("kept", where)) == ["e1", "e2"]


def test_r1_an_output_bound_back_to_a_copy_without_the_newest_batch_stops(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    config = job.folder / "streamproof.toml"
    before = config.read_text()
    shutil.copytree(job.out("kept"), job.folder / "elsewhere/kept")
    config.write_text(before.replace("out/kept", "elsewhere/kept"))
    job.feed([event("e2", 2)])
    job.run()
    config.write_text(before)

    job.stopped(OutputInUse)

    assert job.ids() == ["e1"]


def test_r1_an_older_copy_of_the_checkpoint_is_refused(small_job):
    """Its batch 1, which had no rows, would hold those of batch 2, and they would be published a second time."""
    job = small_job(KEPT)
    job.put_back_an_older_copy()

    error = job.stopped(WrongCheckpoint)

    assert f"The output {job.out('kept')} has batch 2 of the checkpoint" in error.message
    assert "and not batch 1, which has rows for it now: the checkpoint is an older copy" in error.message
    assert job.ids() == ["a", "b"]


def test_r1_an_older_copy_whose_batches_are_cut_as_before_comes_to_the_same(small_job):
    job = small_job(KEPT)
    job.put_back_an_older_copy()
    job.binding = replace(job.binding, files_per_batch=1)
    job.write()

    assert job.run().account == Account(emitted=2)
    assert job.ids() == ["a", "b"]


@pytest.mark.full
def test_r1_an_output_bound_to_another_kind_of_system_stops(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    (job.folder / "sinks.py").write_text(SINK_OF_ITS_OWN)
    job.feed([event("e2", 2)])
    config = job.folder / "streamproof.toml"
    before = config.read_text()
    config.write_text(before.replace('[sink.kept]\nconnector = "files"', '[sink.kept]\nconnector = "sinks.py:Nowhere"'))

    error = job.stopped(OutputInUse)

    assert "has published kept by files; it is bound to sinks.py:Nowhere now" in error.message
    config.write_text(before)
    assert job.run().account == Account(emitted=2)


@pytest.mark.parametrize("moved", [False, True], ids=["copied", "moved"])
def test_a_job_that_is_copied_with_its_checkpoint_does_not_read_everything_again(small_job, moved):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    other = small_job(KEPT, folder="other")
    shutil.rmtree(other.folder)
    (shutil.move if moved else shutil.copytree)(job.folder, other.folder)

    error = other.stopped(WrongCheckpoint)

    assert f"has read {job.folder / 'data/001.json'}" in error.message
    assert f"is bound to {other.folder / 'data'} now" in error.message
    assert other.ids() == ["e1"]

    shutil.rmtree(other.folder / "checkpoint")
    shutil.rmtree(other.folder / "out")
    assert other.run().account == Account(emitted=1)


def test_a_source_bound_to_another_folder_stops_and_back_it_goes_on(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    config = job.folder / "streamproof.toml"
    before = config.read_text()
    (job.folder / "more").mkdir()
    config.write_text(before.replace('path = "data"', 'path = "more"'))

    job.stopped(WrongCheckpoint)

    config.write_text(before.replace('path = "data"', 'path = "da*"'))
    job.feed([event("e2", 2)])
    assert job.run().account == Account(emitted=2)


def test_a_start_that_is_refused_leaves_the_checkpoint_as_it_found_it(small_job):
    """What a crash has left is put right only where checkpoint, outputs and source belong together."""
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    job.lose("commits/0", "offsets/0")
    (job.folder / "elsewhere").mkdir()
    config = job.folder / "streamproof.toml"
    before = config.read_text()
    config.write_text(before.replace('path = "data"', 'path = "elsewhere"'))

    job.stopped(WrongCheckpoint)

    assert not (job.checkpoint() / "offsets/0").exists()
    config.write_text(before)
    assert job.run().account == Account(emitted=1)
    assert (job.checkpoint() / "offsets/0").exists()


def test_a_source_bound_by_another_way_to_the_same_folder_goes_on(small_job):
    job = small_job(KEPT)
    config = job.folder / "streamproof.toml"
    config.write_text(config.read_text().replace('path = "data"', 'path = "../job/data/"'))
    for number in range(2):
        job.feed([event(f"e{number}", number)])
        job.run()

    assert job.ids() == ["e0", "e1"]


def test_replace_output_does_not_delete_the_output_of_a_living_checkpoint(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    error = job.stopped(ConfigurationError, replace_output=True)
    assert "which has batches" in error.message
    assert job.ids() == ["e1"]


def test_an_output_is_not_deleted_once_spark_has_forgotten_the_first_batch(small_job):
    job = small_job(KEPT)
    for number in range(3):
        job.feed([event(f"e{number}", number)])
    job.run()
    job.lose("commits/0", "offsets/0", "_streamproof/manifests/0")

    assert "which has batches" in job.stopped(ConfigurationError, replace_output=True).message
    assert job.ids() == ["e0", "e1", "e2"]


@pytest.mark.full
def test_a_lost_incarnation_is_made_again_from_the_manifests(small_job):
    job = small_job(KEPT)
    job.feed([event("e1", 1)])
    job.run()
    path = job.checkpoint() / "_streamproof/incarnation.json"
    before = json.loads(path.read_text())["incarnation"]
    job.lose("_streamproof/incarnation.json")
    job.feed([event("e2", 2)])

    job.run()

    assert json.loads(path.read_text())["incarnation"] == before
    assert job.ids() == ["e1", "e2"]
