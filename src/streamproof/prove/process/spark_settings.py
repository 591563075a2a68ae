"""The Spark of a proof: two state partitions, fresh guarded Python workers, small pages for small batches."""

from collections.abc import Mapping

from streamproof._jvm import installed_spark
from streamproof.runtime.spark.environment import is_own_spark
from streamproof.runtime.spark.session import STATE_FORMAT, STREAMING
from streamproof.runtime.spark.settings import values_of_proof

PARTITIONS = "spark.sql.shuffle.partitions"
MAINTENANCE = "spark.sql.streaming.stateStore.maintenanceInterval"
SPARK: Mapping[str, str] = {
    PARTITIONS: "2",
    "spark.master": "local[2]",
    MAINTENANCE: "3600s",
    "spark.hadoop.fs.file.impl": "io.streamproof.proof.GuardedFileSystem$WithChecksums",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "io.streamproof.proof.GuardedFileSystem$Behind",
    "spark.hadoop.fs.sp-record.impl": "io.streamproof.proof.RecordingFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.sp-record.impl": "io.streamproof.proof.RecordingFs",
    "spark.python.worker.reuse": "false",
    "spark.python.daemon.module": "streamproof.prove.process.worker_daemon",
    "spark.driver.memory": "3g",
    "spark.cleaner.referenceTracking.blocking": "false",
    "spark.sql.ui.explainMode": "simple",  # nobody looks at the plans of hundreds of recoveries
    # PySpark looks for its caller and for IPython at every column it makes; a proof makes the same ones hundreds of times.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A page of memory is zeroed for every aggregation of every task, and what is sent goes no further than this process.
    "spark.buffer.pageSize": "1m",
    "spark.broadcast.compress": "false",
    "spark.shuffle.compress": "false",
    # Delta Lake reads the log of a table in 50 tasks, for each commit of each recovery; here a table has a few files.
    "spark.databricks.delta.snapshotPartitions": "2",
}
"""Settings of the proof's Spark: two state partitions, fresh guarded Python workers, and small pages for small batches."""
RARE: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    MAINTENANCE: "100ms",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.fileSource.log.compactInterval": "3",
    "spark.sql.streaming.fileSource.log.cleanupDelay": "1ms",
}
"""Settings that make the rare things happen: changelogs, background snapshots, deletes, log compaction (R18)."""
RARE_AS_IT_IS: Mapping[str, str] = {key: value for key, value in RARE.items() if "changelogCheckpointing" not in key}
"""The same for a plain PySpark job: rare things happen sooner, and its state is kept in the format that the job has."""

OURS, PLAIN = "ours", "plain"
"""What the Spark of a proof is started for: jobs that are written with Streamproof, or plain PySpark."""
GIVEN = "spark.streamproof.given"
"""The names of the SQL settings that the Spark of a proof was started with, with commas: a later proof in the same JVM takes them back."""

SQL = "spark.sql."
_CHANGED_FOR_A_PLAIN_JOB = ("spark.master", PARTITIONS, MAINTENANCE, "spark.python.worker.reuse")
"""Of the settings above those that a job could notice; the others save time."""
_MOST_PARTITIONS = 4


def stood_on(kind: str) -> dict[str, str]:
    """What the queries of a proof have beside the settings of the job: for a plain PySpark job nothing.

    A plain job means what its own settings and Spark's defaults make of it, in production and here. Our own jobs have what their
    guarantees stand on.
    """
    if kind == PLAIN:
        return {}
    own = values_of_proof() if is_own_spark(installed_spark()) else {STATE_FORMAT: "1"}
    return {**STREAMING, **own}


def settings_of_proof(settings: Mapping[str, str], kind: str = OURS) -> dict[str, str]:
    """A job's Spark settings as a proof runs them: its own where a proof needs none of another value."""
    given = {**stood_on(kind), **kept_of(settings)}
    names = ",".join(key for key in given if key.startswith(SQL))
    return {**given, **SPARK, **_partitions(settings), GIVEN: names}


def kept_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of a job's own settings that a proof takes as they are."""
    return {key: value for key, value in settings.items() if key not in SPARK}


def left_out_of(settings: Mapping[str, str]) -> list[str]:
    """In words those of a job's own settings that a proof runs with another value."""
    here = {**SPARK, **_partitions(settings)}
    return [
        f"{key} = {value}: a proof needs {here[key]}, so it ran with that."
        for key, value in settings.items()
        if key in here and here[key] != value
    ]


def changed_for_a_plain_job(settings: Mapping[str, str]) -> str:
    """In words with what settings a plain PySpark job is proved."""
    here = {**SPARK, **_partitions(settings)}
    changed = ", ".join(f"{key.removeprefix('spark.')} {here[key]}" for key in _CHANGED_FOR_A_PLAIN_JOB)
    return f"the job's own, --conf, else Spark's defaults; changed by the proof: {changed}, one trigger over all that is there"


def _partitions(settings: Mapping[str, str]) -> dict[str, str]:
    """At least two state partitions, at most four: enough for tasks to overtake each other, few enough to enumerate."""
    wanted = int(settings.get(PARTITIONS, "2"))
    return {PARTITIONS: str(min(max(wanted, 2), _MOST_PARTITIONS))}
