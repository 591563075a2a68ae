"""Our local file system leaves on the disk what Hadoop's own leaves: each file has its checksum, and none outlives its file."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark.small_job import SUMS, WINDOWED, Binding, event
from streamproof._jvm import Storage
from streamproof.runtime.spark.session import process_settings

HADOOPS = {
    "fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
    "fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.LocalFs",
}
OURS = {
    key.removeprefix("spark.hadoop."): value
    for key, value in process_settings({"spark.master": "local[2]"}, []).items()
    if key.removeprefix("spark.hadoop.") in HADOOPS
}


class Disk:
    """Both ways to a folder: `FileSystem`, and Spark's manager of checkpoint files by `FileContext`."""

    def __init__(self, spark: SparkSession, folder: Path, classes: Mapping[str, str]) -> None:
        self.folder, self._jvm = folder, spark._jvm
        hadoop = self._jvm.org.apache.hadoop
        configuration = hadoop.conf.Configuration(spark.sparkContext._jsc.hadoopConfiguration())
        for key, value in classes.items():
            configuration.set(key, value)
        configuration.setBoolean("fs.file.impl.disable.cache", True)
        self.system = hadoop.fs.FileSystem.newInstance(self.path("").toUri(), configuration)
        checkpointing = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        self.manager = checkpointing.FileContextBasedCheckpointFileManager(self.path(""), configuration)

    def path(self, name: str):
        return self._jvm.org.apache.hadoop.fs.Path(f"file://{self.folder}/{name}")

    def copied(self, name: str) -> None:
        """As Spark copies the files of RocksDB."""
        local = self.folder.parent / f"local-{name}"
        local.write_text(name)
        self.system.copyFromLocalFile(self._jvm.org.apache.hadoop.fs.Path(str(local)), self.path(name))

    def made(self, name: str, text: str) -> None:
        """As Spark writes its logs, and the versions of a state."""
        out = self.manager.createAtomic(self.path(name), True)
        out.write(bytearray(text.encode()))
        out.close()

    def read(self, name: str) -> str:
        stream = self.manager.open(self.path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def names(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir())


@pytest.fixture(params=["ours", "Hadoop's"])
def disk(request, spark, tmp_path) -> Disk:
    (tmp_path / "files").mkdir()
    return Disk(spark, tmp_path / "files", OURS if request.param == "ours" else HADOOPS)


def test_a_checksum_stands_beside_each_file_and_goes_with_it(disk):
    disk.copied("1.sst")
    disk.copied("2.sst")
    disk.made("1.zip", "one")
    disk.made("1.zip", "one again")
    disk.manager.delete(disk.path("1.sst"))

    assert disk.names() == [".1.zip.crc", ".2.sst.crc", "1.zip", "2.sst"]
    assert disk.read("1.zip") == "one again"


def left_by_a_death(disk: Disk, name: str) -> None:
    """A process that has died has left the checksum of another file under this name."""
    disk.made("another", "something else")
    (disk.folder / ".another.crc").rename(disk.folder / f".{name}.crc")


@pytest.mark.parametrize("disk", ["ours"], indirect=True)
def test_a_file_whose_checksum_did_not_come_along_is_not_taken_for_torn(disk, spark):
    """Hadoop renames a file and then its checksum: with the checksum of another file, a file that is whole would be torn."""
    disk.made("7", "one")
    left_by_a_death(disk, "7")
    (disk.folder / "temporary").write_text("two")

    disk.manager.renameTempFile(disk.path("temporary"), disk.path("7"), True)

    assert Storage(spark).read(f"file://{disk.folder}/7") == "two"


@pytest.mark.parametrize("disk", ["ours"], indirect=True)
def test_a_file_is_made_where_a_checksum_was_left(disk, spark):
    left_by_a_death(disk, "8")

    assert Storage(spark).create_atomic(f"file://{disk.folder}/8", "eight")
    assert Storage(spark).read(f"file://{disk.folder}/8") == "eight"
    assert not Storage(spark).create_atomic(f"file://{disk.folder}/8", "another eight")
    assert Storage(spark).read(f"file://{disk.folder}/8") == "eight"
    assert (disk.folder / ".8.crc").exists(), "who finds the file there leaves its checksum alone"


@pytest.fixture
def maintenance_of_its_own(spark: SparkSession) -> Iterator[None]:
    """The thread that removes old state keeps the interval of the first job of a process: ours must be that, and no other test's."""
    stores = spark._jvm.org.apache.spark.sql.execution.streaming.state.StateStore
    stores.stop()
    yield
    stores.stop()


@pytest.mark.usefixtures("maintenance_of_its_own")
def test_a_job_leaves_no_checksum_whose_file_is_gone(small_job):
    forgets = {"spark.sql.streaming.minBatchesToRetain": "2", "spark.sql.streaming.stateStore.maintenanceInterval": "200ms"}
    job = small_job(SUMS, Binding(sinks=WINDOWED.sinks, spark=forgets))
    for run in range(20):
        for batch in range(12):
            job.feed([event(f"e{run}.{batch}", 40 * (12 * run + batch))])
        job.run()
        files = {file for file in (job.folder / "checkpoint").rglob("*") if file.is_file()}
        if "1" not in versions_of_state(files):
            break
    else:
        pytest.fail("Spark has removed no version of the state, so that nothing was tried")

    checksums = {file for file in files if file.name.startswith(".") and file.suffix == ".crc"}
    assert [file for file in checksums if file.with_name(file.name[1:-4]) not in files] == []
    logs = [file for file in files - checksums if file.parent.name in {"offsets", "commits"}]
    assert "0" not in {file.name for file in logs}, "Spark has removed none, so that nothing was tried"
    assert [file for file in logs if file.with_name(f".{file.name}.crc") not in checksums] == []


def versions_of_state(files: Collection[Path]) -> set[str]:
    return {file.name.partition("_")[0] for file in files if file.suffix == ".zip" and not file.name.startswith(".")}
