"""What Spark says, in our words: the pattern that decides, the file that is named, no class names."""

import re

import pytest
from py4j.protocol import Py4JNetworkError

from streamproof._jvm import plain, storage_error
from streamproof.core.paths import path_of
from streamproof.errors import (
    DataError,
    DiskFull,
    EnvironmentProblem,
    JobDefinitionError,
    JvmGone,
    RegistryError,
    RegistryUnavailable,
    SinkError,
    SourceUnavailable,
    StreamproofError,
    TooManyOpenFiles,
    TornCheckpoint,
    TwoDrivers,
)
from streamproof.runtime.spark import failures
from streamproof.runtime.spark.failures import translated

WORKER = "PythonException: Traceback (most recent call last):\n  File worker.py\nModuleNotFoundError: "


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (
            "java.io.FileNotFoundException: File file:/in/a.json does not exist",
            DataError,
            "vanished after it was listed: /in/a.json",
        ),
        (
            "java.lang.IllegalStateException: streamproof-files: file:/in/a[1].json",
            DataError,
            "another set of files than the log of the batch names: /in/a[1].json",
        ),
        (
            "java.lang.IllegalStateException: streamproof-folders: hour file:/in/hour=1",
            DataError,
            "The folder /in/hour=1 names the column hour",
        ),
        (
            "java.io.IOException: streamproof-names: UTF-8 /in/gr\ufffd.json",
            DataError,
            "cannot be read as UTF-8: /in/gr\ufffd.json",
        ),
        ("java.io.IOException: streamproof-names: ANSI_X3.4-1968 /in/gr?.json", DataError, "as ANSI_X3.4-1968, and /in/gr?.json"),
        ("java.net.URISyntaxException: Relative path in absolute URI: v:w.json", DataError, "The name v:w.json has a colon"),
        (
            "java.io.FileNotFoundException: /in/a.json (Too many open files)",
            TooManyOpenFiles,
            "The system lets this process open no further file.",
        ),
        ("java.lang.RuntimeException: file:/in/a.parquet is not a Parquet file", DataError, "as Parquet: /in/a.parquet"),
        (
            "at TaskContext$$Lambda/0x00007f7f1ed44658 x: No space left on device",
            DiskFull,
            "a file of the job could not be written",
        ),
        ("java.io.IOException: /out/part-0: No space left on device", DiskFull, "The disk is full: /out/part-0"),
        ("java.io.IOException: Mkdirs failed to create file:/out/x (exists=false)", SinkError, "No permission to write /out/x"),
        ("ParentNotDirectoryException: Parent path is not a directory: file:/out", SinkError, "/out cannot be written"),
        (
            "io.streamproof.RegistryFailure: streamproof-registry:http://r answers 500 to the question for schema 7",
            RegistryError,
            "The schema registry: http://r answers 500 to the question for schema 7.",
        ),
        (
            "PythonException: Traceback\nRuntimeError: streamproof-registry:The schema registry http://r does not answer.\nNothing",
            RegistryError,
            "The schema registry http://r does not answer.",
        ),
        (
            "io.streamproof.RegistryFailure: streamproof-registry:silent:http://r does not answer the question for schema 7",
            RegistryUnavailable,
            "The schema registry: http://r does not answer the question for schema 7.",
        ),
        (
            "org.apache.kafka.common.errors.TimeoutException: Timeout of 60000ms expired before the position could be determined",
            SourceUnavailable,
            "No broker of Kafka answers: Timeout of 60000ms expired",
        ),
        (
            "java.io.FileNotFoundException: File file:/out/late/_staging/000003-a1/part-0.json does not exist",
            TwoDrivers,
            "what this one had staged is gone, /out/late/_staging/000003-a1/part-0.json.",
        ),
        (
            "java.io.FileNotFoundException: /ck/sums/_streamproof/side/late/000003-a1/part-0.json (No such file or directory)",
            TwoDrivers,
            "Another driver works on this checkpoint, or has",
        ),
        (
            "java.io.FileNotFoundException: File file:/ck/sums/offsets/3 does not exist",
            TornCheckpoint,
            "damaged at /ck/sums/offsets/3",
        ),
        ("RuntimeError: streamproof-row:a row does not fit schema 7", SinkError, "An output cannot be written: a row does not fit"),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log.", TwoDrivers, "it wrote the log of the batch first"),
        ("Cannot start query with id 1 as another query with same id is already active", TwoDrivers, "it was started before"),
        (
            "java.io.EOFException: cannot read file:/ck/sums/state/0/1/2_x.zip",
            TornCheckpoint,
            "damaged at /ck/sums/state/0/1/2_x.zip",
        ),
        (f"{WORKER}No module named 'helpers'", JobDefinitionError, "cannot import the module helpers"),
        (f"{WORKER}No module named 'streamproof_job_job'", JobDefinitionError, "a function of the job's file that is wrapped"),
        (
            "[STREAMING_REAL_TIME_MODE.OPERATOR_OR_SINK_NOT_IN_ALLOWLIST] Streaming real-time mode has the following limitation: The "
            "operator(s): org.apache.spark.sql.execution.python.MapInPandasExec is not in the operator allowlist for Real-Time Mode. To bypass",
            JobDefinitionError,
            "[job] trigger is real-time, and the job has MapInPandas in its plan.",
        ),
        (
            "[STREAMING_REAL_TIME_MODE.IDENTICAL_SOURCES_IN_UNION_NOT_SUPPORTED] Streaming real-time mode has the following limitation: "
            "Real-time mode does not support union on two identical sources. This includes",
            JobDefinitionError,
            "and the job is not possible: Real-time mode does not support union on two identical sources",
        ),
        (
            "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] Cannot run the pipelined stage group: it needs 5 concurrent task slots to run all its "
            "stages together, but only 2 are currently free. The stages of a pipelined group must run concurrently. SQLSTATE: 53000",
            EnvironmentProblem,
            "the job needs 5 cores at the same time; 2 are free.",
        ),
        ("No module named 'psycopg'", StreamproofError, "The query stopped: No module named 'psycopg'"),  # in a sink, on the driver
        (
            "org.apache.spark.SparkException: java.lang.IllegalStateException: why\n\tat x",
            StreamproofError,
            "The query stopped: IllegalStateException.",
        ),
        (
            "java.net.UnknownHostException: kafka.example.org: Name or service not known",
            StreamproofError,
            "The query stopped: kafka.example.org: Name or service not known.",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", StreamproofError, "The query stopped: Java heap space."),
    ],
)
def test_the_error_of_what_was_said(said, kind, message):
    error = translated(RuntimeError(said))
    assert type(error) is kind
    assert message in error.message
    assert error.required or error.remedy


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (
            "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'Jane O'Neil, 4111111111111111' of the type",
            "SparkNumberFormatException [CAST_INVALID_INPUT]",
        ),
        (
            "a.b.SomeException: [CAST_INVALID_INPUT] The value '4111111111111111\nJane' of the type",
            "SomeException [CAST_INVALID_INPUT]",
        ),
        ("[MAP_KEY_DOES_NOT_EXIST] Key 4111111111111111 does not exist.", "RuntimeError [MAP_KEY_DOES_NOT_EXIST]"),
        ('java.lang.NumberFormatException: For input string: "4111111111111111"', "NumberFormatException"),
        ('java.time.format.DateTimeParseException: Text "Jane" could not be parsed at index 0', "DateTimeParseException"),
        ("java.lang.RuntimeException: Duplicate map key 4111111111111111 was found", "RuntimeException"),
        (
            "org.postgresql.util.PSQLException: ERROR: duplicate key value\n  Detail: Key (email)=(Jane) already exists.",
            "PSQLException",
        ),
        ("a.b.C$BadException: Fail to parse 'Jane' in the new parser.", "BadException"),
        ("Not a valid value: Jane", "RuntimeError"),
        ("Jane.Exception: 4111111111111111", "RuntimeError"),
        ("", "RuntimeError"),
        (
            "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost "
            "task 0.0 in stage 1.0 (TID 1) (host executor driver): java.lang.ArithmeticException: Decimal(4111111111111111) out of range",
            "ArithmeticException",
        ),
        (
            "java.io.EOFException: cannot read file:/ck/sums/state/0/1/2_x.zip of Jane",
            "The checkpoint is damaged at /ck/sums/state/0/1/2_x.zip: EOFException",
        ),
        (
            "a.b.MalformedException: [FAILED_READ_FILE] Encountered error while reading file file:/in/a.avro. Jane",
            "An input file cannot be read: /in/a.avro: MalformedException [FAILED_READ_FILE]",
        ),
    ],
)
def test_no_value_of_a_row_is_in_the_error_of_what_nobody_knows(cause, said):
    error = translated(RuntimeError(cause))

    assert error.message.removeprefix("The query stopped: ") == f"{said}."
    assert not re.search("Jane|4111|Neil", str(error))


def test_before_a_row_is_read_an_error_says_what_it_is_about():
    error = translated(RuntimeError('relation "positions" does not exist'), has_rows=False)

    assert error.message == 'The query stopped: relation "positions" does not exist'


IN_LIBRARY = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/v/site-packages/pyspark/worker.py", line 1, in main
    process()
  File "/jobs/a b/job.py", line 11, in rate
    raise table.lookup(f"{name}")
          ^^^^^^^^^^^^
  File "/v/site-packages/rates/table.py", line 7, in lookup
    raise ValueError(f"no rate for {name}")
rates.errors.NoRate: no rate for Smith
of Smith street
"""
TWO_TRACES = """Traceback (most recent call last):
  File "/jobs/job.py", line 3, in first
KeyError: 'Smith'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/jobs/job.py", line 5, in second
AssertionError
"""
BY_CALL = """SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'Smith' of the type "STRING" cannot be cast. SQLSTATE: 22018
== DataFrame ==
"cast" was called from
/jobs/job.py:19
"""
BY_SQL = """[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` instead. SQLSTATE: 22012
== SQL (line 1, position 1) ==
notional / size
^^^^^^^^^^^^^^^
"""


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (IN_LIBRARY, "NoRate in rate (/jobs/a b/job.py, line 11)"),
        (TWO_TRACES, "AssertionError in second (/jobs/job.py, line 5)"),
        (BY_CALL, "CAST_INVALID_INPUT in cast (/jobs/job.py, line 19)"),
        (BY_SQL, "DIVIDE_BY_ZERO in notional / size"),
        ("[CAST_OVERFLOW] The value 7000 overflows. SQLSTATE: 22003", "CAST_OVERFLOW"),
        ("[USER_RAISED_EXCEPTION] no rate for Smith SQLSTATE: P0001", "USER_RAISED_EXCEPTION"),
        ("[FAILED_EXECUTE_UDF] User defined function (`f`) failed due to: x: Smith. SQLSTATE: 39000", "FAILED_EXECUTE_UDF"),
        (
            "[USER_RAISED_EXCEPTION] keyed(initial=...): [table.t] has a row without at, from which ttl counts. SQLSTATE: P0001",
            "keyed(initial=...): [table.t] has a row without at, from which ttl counts",
        ),
    ],
)
def test_what_a_task_raised_is_named_with_its_place_and_without_values(cause, said):
    error = translated(RuntimeError(cause))
    assert error.message == f"The query stopped: {said}."
    assert not re.search("Smith|7000", str(error))
    assert "--debug prints it" in error.remedy


def test_what_a_sink_of_the_users_raised_is_named_with_its_line_and_without_values():
    ours = {}
    exec(compile("def publish(row):\n    raise KeyError(row)\n", "/jobs/sink.py", "exec"), ours)
    with pytest.raises(KeyError) as raised:
        exec(compile("publish('Smith')", failures.__file__, "exec"), ours)

    error = translated(raised.value)

    assert error.message == "The query stopped: /jobs/sink.py line 2, in publish: KeyError."
    assert "Smith" not in str(error)


def test_a_jvm_that_is_gone_is_told_and_mended_by_a_restart():
    error = translated(Py4JNetworkError("Answer from Java side is empty"))
    assert type(error) is JvmGone
    assert error.exit_code == 75


def test_our_own_errors_stay_as_they_are():
    error = DataError("where and what")
    assert translated(error) is error


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("java.io.IOException: a: b", "a: b"),
        ("a.b.C$D: java.lang.Error: why\nmore", "why"),
        ("java.lang.NullPointerException", "no reason given"),
        ("nothing of Java", "nothing of Java"),
        ("", "no reason given"),
    ],
)
def test_class_names_are_left_out(cause, said):
    assert plain(cause) == said


def test_a_failed_file_operation_says_what_to_do():
    error = storage_error("/out/x", ["java.io.IOException: the store is asleep"])
    assert error.message == "/out/x could not be read or written: the store is asleep"
    assert error.remedy


@pytest.mark.parametrize(
    ("uri", "path"),
    [("file:///a%20b/c.json", "/a b/c.json"), ("file:/a/c.json", "/a/c.json"), ("s3a://b/c.json", "s3a://b/c.json")],
)
def test_a_local_uri_is_shown_as_a_path(uri, path):
    assert path_of(uri) == path


def test_a_file_of_our_own_that_cannot_be_opened_for_want_of_handles_is_no_sign_of_another_driver():
    said = ["java.io.FileNotFoundException: /c/_streamproof/incarnation.json (Too many open files)"]

    assert type(storage_error("/c/_streamproof/incarnation.json", said)) is TooManyOpenFiles
