"""What Spark stops a job with that is no mistake in its code: a fault of Spark's own, a setting that is not given. How each is told, and what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SparkFault:
    """What Spark says, and the remedy in words; of a fault of Spark's own it names the place in its source."""

    told_by: re.Pattern[str]
    remedy: str


_KNOWN = (
    SparkFault(
        re.compile(r"CheckpointInfo length: 0, numPartitions"),
        "This is Spark's fault, not the job's. With spark.sql.streaming.stateStore.checkpointFormatVersion = 2 each batch tells the driver the ids of "
        "its state. The file sink does not run a batch again that is in its log (FileStreamSink.addBatch), so there are no ids "
        "(MicroBatchExecution.updateStateStoreCkptId), and no start on this checkpoint goes on. Spark 4.0 to 4.3 have the fault; no SPARK "
        "number is known to us. Take format 1, which is Spark's default.",
    ),
    SparkFault(
        re.compile(r"STATE_STORE_MULTIPLE_COLUMN_FAMILIES|multiple column families"),
        "transformWithState needs RocksDB, and Spark's default is another store. The job sets it, or the cluster does: then give the proof the same, "
        "--conf spark.sql.streaming.stateStore.providerClass=org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    ),
)


def remedy_of_spark_fault(causes: Sequence[str]) -> str:
    """What to do where one of these faults has stopped the job; else nothing."""
    return next((fault.remedy for fault in _KNOWN if any(fault.told_by.search(cause) for cause in causes)), "")
