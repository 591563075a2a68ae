"""What the machine did to a run is told apart from what the job did, whoever says it: Spark, the JVM, py4j, PySpark, Python."""

import errno
import json
import re
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkRuntimeError, PythonException, StreamingQueryException

from streamproof.errors import SinkError
from streamproof.prove.process.machine import SIGNS, Kind, did, did_in_texts

WORKER = 'Traceback (most recent call last):\n  File "/jobs/job.py", line 3, in rate\n    work()\n'
SAYS = [
    (Kind.TIME, "org.apache.spark.SparkException: Python worker failed to connect back."),
    (Kind.TIME, "java.net.SocketTimeoutException: Accept timed out"),
    (
        Kind.TIME,
        WORKER
        + 'pyspark.errors.exceptions.base.PySparkRuntimeError: [CANNOT_OPEN_SOCKET] Can not open socket: ["tried to connect to '
        "('127.0.0.1', 39461), but an error occurred: timed out\"].",
    ),
    (
        Kind.TIME,
        "org.apache.spark.SparkException: EOFException occurred while reading the port number from pyspark.daemon's stdout.",
    ),
    (
        Kind.TIME,
        "[STREAMING_PYTHON_RUNNER_INITIALIZATION_TIMEOUT_FAILURE] Streaming Runner initialization failed. Socket connection timeout.",
    ),
    (Kind.TIME, "[CANNOT_LOAD_STATE_STORE.UNRELEASED_THREAD_ERROR] RocksDB instance could not be acquired"),
    (Kind.TIME, "Could not execute broadcast in 300 secs. You can increase the timeout for broadcasts"),
    (Kind.TIME, "org.apache.spark.rpc.RpcTimeoutException: Futures timed out after [120 seconds]"),
    (Kind.TIME, "Executor heartbeat timed out after 130000 ms"),
    (Kind.MEMORY, "java.lang.OutOfMemoryError: Java heap space"),
    (Kind.MEMORY, "java.lang.OutOfMemoryError: GC overhead limit exceeded"),
    (
        Kind.MEMORY,
        "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory",
    ),
    (Kind.MEMORY, "[CANNOT_LOAD_STATE_STORE.ROCKSDB_STORE_PROVIDER_OUT_OF_MEMORY] Could not load RocksDB state store"),
    (Kind.MEMORY, "[AGGREGATE_OUT_OF_MEMORY] No enough memory for aggregation"),
    (Kind.MEMORY, 'java.io.IOException: Cannot run program "python3": error=12, Cannot allocate memory'),
    (Kind.MEMORY, WORKER + "MemoryError\n"),
    (Kind.MEMORY, WORKER + "pyarrow.lib.ArrowMemoryError: malloc of size 64 failed\n"),
    (Kind.MEMORY, WORKER + "OSError: [Errno 12] Cannot allocate memory\n"),
    (Kind.PROCESSES, 'java.io.IOException: Cannot run program "python3": error=11, Resource temporarily unavailable'),
    (
        Kind.PROCESSES,
        "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process/resource limits reached",
    ),
    (Kind.PROCESSES, WORKER + "RuntimeError: can't start new thread\n"),
    (
        Kind.PROCESSES,
        'Traceback (most recent call last):\n  File "/usr/lib/python3.11/subprocess.py", line 1885, in _execute_child\n'
        "    self.pid = _fork_exec(\nBlockingIOError: [Errno 11] Resource temporarily unavailable\n",
    ),
    (Kind.FILES, "java.io.FileNotFoundException: /x/y (Too many open files)"),
    (Kind.FILES, "java.net.SocketException: Too many open files in system"),
    (Kind.FILES, WORKER + "OSError: [Errno 24] Too many open files: '/x'\n"),
    (Kind.DISK, "java.io.IOException: No space left on device"),
    (Kind.DISK, "org.rocksdb.RocksDBException: IO error: No space left on device: While appending to file: /x/000010.sst"),
    (Kind.DISK, WORKER + "OSError: [Errno 122] Disk quota exceeded\n"),
    (Kind.DISK, "java.io.IOException: Input/output error"),
    (Kind.PORTS, "java.net.BindException: Cannot assign requested address"),
    (Kind.WORKER, "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"),
    (Kind.CONNECTION, "py4j.Py4JException: Error while obtaining a new communication channel"),
]


@pytest.mark.parametrize(("kind", "said"), SAYS, ids=[said.splitlines()[-1][:60] for _, said in SAYS])
def test_what_the_machine_does_is_told_by_its_kind(kind: Kind, said: str) -> None:
    assert (did_in_texts(["org.apache.spark.SparkException: Job aborted due to stage failure", said]) or "").startswith(kind.value)


@pytest.mark.parametrize(
    "said",
    [
        WORKER + "KeyError: 'u17'\n",
        WORKER + "ValueError: No space left in the cart\n",
        WORKER + "TimeoutError: timed out\n",
        WORKER + "ConnectionRefusedError: [Errno 111] Connection refused\n",
        WORKER + "BlockingIOError: [Errno 11] Resource temporarily unavailable\n",  # a lock that the job's own file is held by
        WORKER + "PermissionError: [Errno 13] Permission denied: '/x'\n",
        WORKER + "FileNotFoundError: [Errno 2] No such file or directory: '/x'\n",
        "[DIVIDE_BY_ZERO] Division by zero.",
        "java.net.SocketTimeoutException: Read timed out",  # of a client of the job's own
        "[CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE] Copied a file to a local path",
        "java.io.FileNotFoundException: /x/1.delta (No such file or directory)",
    ],
)
def test_what_the_job_does_is_not_put_down_to_the_machine(said: str) -> None:
    assert did_in_texts([said]) is None


def raised(problem: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise problem from cause
    except Exception as found:  # noqa: BLE001 -- with its trace
        return found


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (MemoryError(), Kind.MEMORY),
        (OSError(errno.EMFILE, "Too many open files"), Kind.FILES),
        (OSError(errno.ENOSPC, "No space left on device"), Kind.DISK),
        (OSError(errno.EADDRINUSE, "Address already in use"), Kind.PORTS),
        (RuntimeError("can't start new thread"), Kind.PROCESSES),
        (PySparkRuntimeError("[CANNOT_OPEN_SOCKET] Can not open socket: timed out"), Kind.TIME),
        (Py4JNetworkError("Answer from Java side is empty"), Kind.CONNECTION),
        (PythonException(SAYS[2][1]), Kind.TIME),
        (StreamingQueryException("Python worker failed to connect back."), Kind.TIME),
        (RuntimeError("what the user's own code makes of it"), None),
        (OSError(errno.ECONNREFUSED, "Connection refused"), None),
        (TimeoutError("timed out"), None),
        (ValueError("Too many open files"), None),
    ],
    ids=repr,
)
def test_an_exception_says_it_itself_or_by_what_it_comes_from(problem: Exception, kind: Kind | None) -> None:
    for one in (raised(problem), raised(RuntimeError("the batch failed"), problem), raised(SinkError("not written"), problem)):
        found = did(one)
        assert found is None if kind is None else (found or "").startswith(kind.value)


def test_every_condition_of_this_spark_that_speaks_of_memory_is_in_the_table() -> None:
    """A newer Spark may bring others: then this test names them."""
    from zipfile import ZipFile

    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-common-utils_*.jar")
    with ZipFile(jar) as packed:
        conditions = json.loads(packed.read("error/error-conditions.json"))
    names = [
        f"{name}.{below}" if below else name
        for name, condition in conditions.items()
        for below in ("", *condition.get("subClass", {}))
        if re.search(
            r"OUT_OF_MEMORY|UNABLE_TO_ACQUIRE|RUNNER_INITIALIZATION_TIMEOUT|CONNECTION_TIMEOUT|UNRELEASED_THREAD", below or name
        )
    ]

    assert len(names) > 5
    assert [name for name in names if not any(sign.text.search(f"[{name}]") for sign in SIGNS)] == []
