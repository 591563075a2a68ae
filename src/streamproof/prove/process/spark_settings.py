"""The Spark of a proof: two state partitions, fresh guarded Python workers, small pages for small batches."""

from collections.abc import Mapping

from streamproof.runtime.session import LOCAL_DISK

SPARK: Mapping[str, str] = {
    "spark.sql.shuffle.partitions": "2",
    "spark.master": "local[2]",
    "spark.sql.streaming.stateStore.maintenanceInterval": "3600s",
    **LOCAL_DISK,
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
}
"""Settings of the proof's Spark: two state partitions, fresh guarded Python workers, and small pages for small batches."""
