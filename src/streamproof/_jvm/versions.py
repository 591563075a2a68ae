"""The versions of Spark that there is a jar of ours for, and the one that is installed."""

import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from streamproof.errors import EnvironmentProblem

SPARK_VERSIONS = ("4.0", "4.1", "4.2", "4.3")
"""Those that jobs of ours run on, from the oldest: our classes extend what Spark keeps to itself, so that each has a jar."""
FIRST_WITH_OUR_STATE_STORES = "4.3"
"""From here on state stores know what leaves them next."""
FIRST_TO_READ_STATE = "4.0"
"""From here on Spark has a reader of state."""
FIRST_TO_FIND_STATE_FILES = "4.1"
"""From here on Spark's state reader finds the files of checkpoint format 2, whose names have an id."""
FIRST_TO_CHECK_STATE_FILES = "4.1"
"""From here on Spark writes checksums of the files of its state."""
FIRST_TO_NAME_STATE_FORMAT = "4.1"
"""From here on the offset log names the checkpoint format of the state; where none is named, Spark from here on takes it for format 1."""
FIRST_TO_KEEP_EMPTY_METADATA = "4.1"
"""From here on an alias with empty metadata takes off what a column has."""
KEY_ORDER = "spark.sql.dropDuplicates.deterministicKeyOrder.enabled"
"""Whether a deduplication keeps its key in the order of the call. Before 4.3 Spark keeps more than four columns in that of a `Set`."""
PINNED_SINCE = {
    "4.3": (
        KEY_ORDER,
        "spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled",
    ),
    "4.2": (
        "spark.sql.function.protobufExtensions.enabled",
        "spark.sql.streaming.queryEvolution.enableSourceEvolution",
        "spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion",
        "spark.sql.streaming.stateStore.rowChecksum.enabled",
    ),
}
"""By version, from the newest, the settings that it writes into each offset log and the ones before it do not (`OffsetSeqMetadata`)."""
FIRST_IN_REAL_TIME = "4.3"
"""From here on the real-time trigger is taken: before 4.2 PySpark has none, and on 4.2 nobody has tried ours."""
INSTALL = f"{sys.executable} -m pip install 'pyspark=={SPARK_VERSIONS[-1]}.*'"


def installed_spark() -> str:
    """The version of the installed PySpark, whichever it is; it is imported only where no package manager knows it."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        if find_spec("pyspark") is None:
            raise EnvironmentProblem("PySpark is not installed in this environment.", remedy=INSTALL) from None
    import pyspark  # of a Spark that lies on the machine: SPARK_HOME, spark-submit

    return pyspark.__version__


def minor_version(version: str) -> str:
    """4.1 of 4.1.4."""
    return ".".join(version.split(".")[:2])


def numbers(version: str) -> tuple[int, ...]:
    """(4, 1) of 4.1.4: minor versions in their order."""
    return tuple(map(int, minor_version(version).split(".")))


def planned_by(settings: Mapping[str, str], version: str, knows: Callable[[str], bool]) -> str:
    """The minor version of Spark that pins such settings in its offset log; "" before 4.2, whose logs do not differ.

    A later one than `version`, the Spark that runs, only where that does not know all the settings: a patch version may have taken them over.
    """
    for number, new in PINNED_SINCE.items():
        if all(key in settings for key in new) and not (numbers(number) > numbers(version) and all(map(knows, new))):
            return number
    return ""


def takes_our_state_stores(version: str = "") -> bool:
    """Whether a Spark takes our state stores; without a version the installed one."""
    return numbers(version or installed_spark()) >= numbers(FIRST_WITH_OUR_STATE_STORES)


def knows_real_time() -> bool:
    """Whether the real-time trigger is taken on the installed Spark."""
    return numbers(installed_spark()) >= numbers(FIRST_IN_REAL_TIME)


def reads_state() -> bool:
    """Whether the installed Spark has a reader of state."""
    return numbers(installed_spark()) >= numbers(FIRST_TO_READ_STATE)


def finds_state_files() -> bool:
    """Whether the state reader of the installed Spark finds the files of checkpoint format 2."""
    return numbers(installed_spark()) >= numbers(FIRST_TO_FIND_STATE_FILES)


def names_state_format(version: str) -> bool:
    """Whether a Spark writes down which checkpoint format its state has, and goes by that."""
    return numbers(version) >= numbers(FIRST_TO_NAME_STATE_FORMAT)


def checks_state_files() -> bool:
    """Whether the installed Spark notices a torn file of its state by a checksum."""
    return numbers(installed_spark()) >= numbers(FIRST_TO_CHECK_STATE_FILES)
