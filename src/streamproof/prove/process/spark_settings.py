"""The Spark of a proof: two state partitions, fresh guarded Python workers, small pages for small batches."""

from collections.abc import Mapping

from streamproof.runtime.environment import is_own_spark
from streamproof.runtime.session import STATE_FORMAT
from streamproof.runtime.settings import values_of_proof

SPARK: Mapping[str, str] = {
    "spark.sql.shuffle.partitions": "2",
    "spark.master": "local[2]",
    "spark.sql.streaming.stateStore.maintenanceInterval": "3600s",
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


def settings_to_stand_on(spark: str) -> dict[str, str]:
    """What a proof sets beside, for a version of Spark.

    With 4.3 it is what the guarantees of our own jobs stand on. Older versions run plain jobs alone: these mean what that Spark takes them to
    mean, ANSI or not, and their state is in the format that it writes by itself.
    """
    return values_of_proof() if is_own_spark(spark) else {STATE_FORMAT: "1"}
