"""Spark sessions with the settings our guarantees stand on."""

import codecs
import locale
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.core.log_lines import SUFFIX
from streamproof.errors import ConfigurationError, EnvironmentProblem, StreamproofError
from streamproof.runtime.spark.environment import find_java
from streamproof.runtime.spark.failures import jvm_gone, telling_of_a_dead_jvm
from streamproof.runtime.spark.run_log import said_at_the_end

if TYPE_CHECKING:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

STATE_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
STATE_STORES = "spark.sql.streaming.stateStore.providerClass"
STATE_COUNTS = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
"""Whether RocksDB counts the rows of a state. Each put costs twice as much then, so that it is off unless the job asks for it."""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ROCKSDB_EVICTING = "io.streamproof.WindowStateStoreProvider"
"""The same, which does not look at all that is in the state in each batch. Spark's real-time trigger refuses every class but its own."""
ROCKSDB_IDENTIFIED = "io.streamproof.IdentifiedStateStoreProvider"
"""The same for Spark 4.0, whose state reader does not know the ids in the names of files."""
STREAMING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    STATE_STORES: ROCKSDB,
    # Format 2 gives each attempt's state files names of their own, with checksums (R21).
    STATE_FORMAT: "2",
    STATE_COUNTS: "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
    # Spark's default are 96-bit integers, which Parquet has deprecated and other readers take for something else.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # What cannot be interrupted is not waited for without end, which is Spark's default.
    "spark.sql.streaming.stopTimeout": "10s",
    # The account of a real-time batch stands on its offset log, which has to be there by then.
    "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled": "false",
    # A second start on a checkpoint is refused; Spark's default stops the query that runs.
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
}
"""Session settings of every query; a job's own [spark] settings win."""
_OF_HELD_ROWS: Mapping[str, str] = {STATE_COUNTS: "true"}
"""Where the account stands on how many rows are in state."""

_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).parents[2] / 'log4j2.properties'}"
_RECORD = (Path(__file__).parents[2] / "log4j2-record.json").as_uri()
_QUIET_AS_JSON = f"{_QUIET.replace('log4j2.properties', 'log4j2-json.properties')} -Dstreamproof.log.record={_RECORD}"
# PySpark prints the whole plan beside an error about a column; our errors say which column, and which are there.
_PLANS_AS_JSON = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_LOGGING = "-Dstreamproof.log.level=error"
"""Beside `_QUIET`, where what is logged goes to a file."""
_LOCALE = "LC_ALL"
_PROCESS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
}


LOCAL_DISK: Mapping[str, str] = {
    "spark.hadoop.fs.file.impl": "io.streamproof.ForklessFileSystem$WithChecksums",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "io.streamproof.ForklessFs",
}
"""Without Hadoop's native library Spark starts a process for each file it creates or renames on a local disk; by these it does not."""


def start_session(
    name: str,
    settings: Mapping[str, str],
    *,
    proof: bool = False,
    java_options: str = "",
    jars: Sequence[str] = (),
    log: Path | None = None,
    streaming: Mapping[str, str] = STREAMING,
) -> "SparkSession":
    """A Spark session with Streamproof's jars and settings; local[*] unless a master is given or spark-submit sets one.

    Parameters
    ----------
    jars
        Of connectors, beside our own.
    streaming
        What its queries have beside `settings`; a plain PySpark job has nothing of ours there.
    log
        Takes what the JVM writes to standard error, and Spark's errors; None leaves them on the screen, as few as they are.

    Raises
    ------
    EnvironmentProblem
        If there is no Java, one that is too old, or one that ends at once.
    JvmGone
        If it was killed while Spark started.
    """
    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    _without_plans_as_json()
    given_outside = "MASTER" in os.environ or "PYSPARK_SUBMIT_ARGS" in os.environ
    master = settings.get("spark.master") or (None if given_outside else "local[*]")
    if _is_local(master or os.environ.get("MASTER", "")):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # elsewhere executors could not reach the driver there
    builder = SparkSession.builder.appName(name)
    own = {**settings, "spark.master": master} if master is not None else settings
    options = java_options if log is None else f"{_logging_to(log)} {java_options}".strip()
    wanted = {"spark.app.name": name, **process_settings(own, [*_jvm.jars(proof=proof), *jars], options, streaming)}
    for key, value in wanted.items():
        builder = builder.config(key, value)
    with telling_of_a_dead_jvm():
        try:
            with names_in_utf8():
                _jvm.launch(wanted, log)
                return builder.getOrCreate()
        except PySparkRuntimeError as problem:
            if "JAVA_GATEWAY_EXITED" not in str(problem):
                raise
            raise _ended_at_once(problem, log) from problem


def _logging_to(log: Path) -> str:
    """The options of a JVM whose log this is. Of two that set one property the last holds."""
    return f"{_QUIET_AS_JSON} {_LOGGING}" if log.suffix == SUFFIX else _LOGGING


@contextmanager
def names_in_utf8() -> Iterator[None]:
    """While the JVM is started a locale whose encoding is UTF-8, where that of this process is another.

    Java reads names of files by the locale of its process, whatever else it is told. With LC_ALL=C, or with a locale that the machine does
    not have, each name beyond ASCII would be lost.
    """
    before = os.environ.get(_LOCALE)
    if codecs.lookup(locale.getencoding()).name != "utf-8":
        os.environ[_LOCALE] = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_LOCALE, None)
        else:
            os.environ[_LOCALE] = before


def _ended_at_once(problem: "PySparkRuntimeError", log: Path | None) -> StreamproofError:
    """What it means that there is no JVM to speak to: it was killed, or it does not take what it was given."""
    if _jvm.was_killed_at_start(problem):
        return jvm_gone()
    said = said_at_the_end(log) if log is not None else ""
    return EnvironmentProblem(
        f"The JVM ended before Spark was there{f': {said}' if said else '.'}",
        required="Java takes the options in JAVA_TOOL_OPTIONS, SPARK_SUBMIT_OPTS and [spark], and has the memory that they ask for.",
    )


def _without_plans_as_json() -> None:
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before 4.0, where nothing writes such plans
        return
    for logger in _PLANS_AS_JSON:
        PySparkLogger.getLogger(logger).disabled = True


def process_settings(
    settings: Mapping[str, str], jars: Sequence[str], java_options: str = "", streaming: Mapping[str, str] = STREAMING
) -> dict[str, str]:
    """The settings of a Spark process: a job's own win, but its jars, class path and Java options stand beside ours."""
    beside = {
        "spark.jars": (",", (*jars, settings.get("spark.jars"))),
        "spark.driver.extraClassPath": (os.pathsep, (*jars, settings.get("spark.driver.extraClassPath"))),
        "spark.driver.extraJavaOptions": (" ", (_QUIET, java_options, settings.get("spark.driver.extraJavaOptions"))),
    }
    joined = {key: separator.join(filter(None, values)) for key, (separator, values) in beside.items()}
    disk = LOCAL_DISK if _is_local(settings.get("spark.master", "")) else {}
    return {**_PROCESS, **streaming, **disk, **settings, **joined}


def _is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone."""
    return master.startswith("local")


def settings_of_query(settings: Mapping[str, str], state_stores: str = ROCKSDB, *, holds_rows: bool = False) -> dict[str, str]:
    """The session settings of one query: ours, with this class of state stores, and the job's own SQL settings over them.

    Parameters
    ----------
    holds_rows
        Whether the account stands on how many rows are in its state: they are then counted, whatever the job asks for.
    """
    ours = {**STREAMING, STATE_STORES: state_stores}
    own = {key: value for key, value in settings.items() if key.startswith("spark.sql.")}
    return {**ours, **own, **(_OF_HELD_ROWS if holds_rows else {})}


def give_settings(spark: "SparkSession", settings: Mapping[str, str]) -> None:
    """Gives a session its settings.

    A static one, such as `spark.sql.extensions`, is that of the process: a Spark that was started for the job has it already.

    Raises
    ------
    ConfigurationError
        If the process runs with another value of a static one.
    """
    from pyspark.errors import AnalysisException

    for key, value in settings.items():
        there = spark.conf.get(key, None)
        if there == value:
            continue
        try:
            spark.conf.set(key, value)
        except AnalysisException as problem:
            if "CANNOT_MODIFY" not in str(problem):
                raise
            raise ConfigurationError(
                f"[spark] sets {key} to {value}, and this Spark {'has none' if there is None else f'was started with {there}'}.",
                required="A setting that Spark takes only when it starts cannot be given to a session that runs already.",
                remedy="Give it to whoever starts the session: SparkSession.builder.config(...), or spark-submit --conf.",
            ) from problem


def state_stores(*, real_time: bool) -> str:
    """The class of state stores of a query on the installed Spark."""
    if not _jvm.finds_state_files():
        return ROCKSDB_IDENTIFIED
    return ROCKSDB if real_time or not _jvm.takes_our_state_stores() else ROCKSDB_EVICTING


def slower_state(stores: str | None = None, *, real_time: bool) -> str | None:
    """What the installed Spark, or the checkpoint, does not let us make faster about the state, in a sentence; None where both do.

    Parameters
    ----------
    stores
        The class of state stores that the newest offset log names, by which Spark goes on; before the first batch that of the session.
    """
    if real_time:
        return None
    if _jvm.takes_our_state_stores():
        if stores in (None, ROCKSDB_EVICTING):
            return None
        return (
            "The checkpoint was begun with state stores that look at all that is in them in each batch, also where nothing leaves, and it names "
            "their class: large state makes small batches slower. A new checkpoint is spared that, unless [spark] names another class."
        )
    return (
        f"Spark {_jvm.installed_spark()} looks at all that is in its state in each batch, also where nothing leaves: large state makes small "
        "batches slower. From Spark 4.3 Streamproof spares it that."
    )


def weaker_state(settings: Mapping[str, str]) -> str | None:
    """What the job's own settings, or the installed Spark, make weaker about its state, in a sentence; None where nothing does (R21)."""
    if settings_of_query(settings)[STATE_FORMAT] != "1":
        if _jvm.checks_state_files():
            return None
        return f"Spark {_jvm.installed_spark()} writes no checksums of the files of its state: from 4.1 a file that is torn is noticed by them."
    return (
        "State is kept in checkpoint format 1, as [spark] asks: two attempts of a task share the names of their state files, and "
        "Spark writes no checksums of them. A file that another attempt has overwritten is not noticed."
    )
