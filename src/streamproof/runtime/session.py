"""Spark sessions with the settings our guarantees stand on."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.errors import ConfigurationError
from streamproof.runtime.environment import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAMING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # Format 2 gives each attempt's state files names of their own, with checksums (R21).
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    # Spark's default are 96-bit integers, which Parquet has deprecated and other readers take for something else.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A second start on a checkpoint is refused; Spark's default stops the query that runs.
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
}
"""Session settings of every query; a job's own [spark] settings win."""

_REFUSED: Mapping[str, tuple[str, str]] = {
    "spark.sql.session.timeZone": ("UTC", "instants are written and compared in UTC"),
    "spark.sql.files.ignoreCorruptFiles": ("false", "Spark would pass over what it cannot read"),
    "spark.sql.files.ignoreMissingFiles": ("false", "Spark would pass over a file that vanished"),
    "spark.speculation": ("false", "two attempts of a task at a time would write the same state"),
}
"""Settings with the one value that the guarantees stand on, and why."""

_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).parents[1] / 'log4j2.properties'}"
_PROCESS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
}


def start_session(name: str, settings: Mapping[str, str], *, proof: bool = False, java_options: str = "") -> "SparkSession":
    """A Spark session with Streamproof's jars and settings; local[*] unless a master is given or spark-submit sets one.

    Raises
    ------
    EnvironmentProblem
        If there is no Java, or one that is too old.
    """
    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if (
        settings.get("spark.master", os.environ.get("MASTER", "local")).startswith("local")
        and "PYSPARK_SUBMIT_ARGS" not in os.environ
    ):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # executors elsewhere could not reach it
    from pyspark.sql import SparkSession

    jars = _jvm.jars(proof=proof)
    builder = SparkSession.builder.appName(name)
    if "spark.master" not in settings and "MASTER" not in os.environ and "PYSPARK_SUBMIT_ARGS" not in os.environ:
        builder = builder.master("local[*]")
    own = {
        "spark.jars": ",".join(filter(None, (*jars, settings.get("spark.jars")))),
        "spark.driver.extraClassPath": os.pathsep.join(filter(None, (*jars, settings.get("spark.driver.extraClassPath")))),
        "spark.driver.extraJavaOptions": " ".join(
            filter(None, (_QUIET, java_options, settings.get("spark.driver.extraJavaOptions")))
        ),
    }
    for key, value in {**_PROCESS, **STREAMING, **settings, **own}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def refuse_settings(settings: Mapping[str, str], file: str) -> None:
    """ConfigurationError if [spark] takes away what the guarantees stand on (R21)."""
    for key, (value, why) in _REFUSED.items():
        found = settings.get(key)
        if found is not None and found.lower() != value.lower():
            raise ConfigurationError(
                f'{file}: [spark] sets "{key}" to {found}.', required=f"It is {value}: {why}.", remedy="Take that line out."
            )


def settings_of_query(settings: Mapping[str, str]) -> dict[str, str]:
    """The session settings of one query: ours, and the job's own SQL settings over them."""
    return {**STREAMING, **{key: value for key, value in settings.items() if key.startswith("spark.sql.")}}
