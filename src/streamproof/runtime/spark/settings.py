"""Settings of Spark that take away what we promise, or change what a job means, wherever they come from (R27)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Where(StrEnum):
    """Where a setting is in force: in the query's session, in the session that reads a schema's text, among Hadoop's, in the process."""

    SESSION = "session"
    PARSER = "parser"
    HADOOP = "hadoop"
    PROCESS = "process"


@dataclass(frozen=True)
class Setting:
    """A setting with the one value that we stand on.

    Parameters
    ----------
    reason
        What another value does, as the end of a sentence.
    choice
        Whether a job may have another value, below its own [spark]: its account stays whole, its rows mean something else.
    """

    key: str
    value: str
    reason: str
    where: Where = Where.SESSION
    choice: bool = False

    @property
    def forced(self) -> bool:
        """Whether the session of a query can have the value whatever the process has."""
        return self.where in (Where.SESSION, Where.HADOOP)

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called below [spark]."""
        return (self.key, f"spark.hadoop.{self.key}") if self.where is Where.HADOOP else (self.key,)

    def allows(self, value: str) -> bool:
        return value.strip().lower() == self.value.lower()


SETTINGS = (
    # What is read: each record once, and whole.
    Setting("spark.sql.files.ignoreCorruptFiles", "false", "Spark would pass over what it cannot read"),
    Setting("spark.sql.files.ignoreMissingFiles", "false", "Spark would pass over a file that vanished"),
    Setting(
        "spark.sql.files.ignoredPathSegmentRegex",
        "^[._]",
        "files whose names match are not read, and nobody counts them",
        choice=True,
    ),
    Setting(
        "spark.sql.streaming.fileStreamSink.ignoreMetadata",
        "false",
        "of a folder that Spark's own sink has written, what failed attempts left there would be read as well",
    ),
    Setting("spark.sql.sources.validatePartitionColumns", "true", "a value in a folder's name that does not fit would become null"),
    Setting(
        "mapreduce.input.linerecordreader.line.maxlength", str(2**31 - 1), "a longer line is left out without a word", Where.HADOOP
    ),
    # What a value is.
    Setting("spark.sql.session.timeZone", "UTC", "instants are written and compared in UTC"),
    Setting("spark.sql.timestampType", "TIMESTAMP_LTZ", "a timestamp of a schema would be no instant", Where.PARSER, choice=True),
    Setting(
        "spark.sql.json.enableExactStringParsing",
        "true",
        "numbers and objects in a column of texts would be written anew, 1.10 as 1.1",
    ),
    Setting(
        "spark.sql.legacy.json.allowEmptyString.enabled",
        "false",
        "an empty text in place of a number would be null, and the record not rejected",
        choice=True,
    ),
    Setting("spark.sql.legacy.timeParserPolicy", "CORRECTED", "LEGACY reads 30 February as 2 March", choice=True),
    *(
        Setting(f"spark.sql.parquet.{name}", "CORRECTED", "LEGACY moves dates before 1582 by days", choice=True)
        for name in ("datetimeRebaseModeInRead", "datetimeRebaseModeInWrite", "int96RebaseModeInRead", "int96RebaseModeInWrite")
    ),
    Setting(
        "spark.sql.caseSensitive",
        "false",
        "a column of Parquet whose name is written otherwise in one file would be null",
        choice=True,
    ),
    # What an expression of the job means.
    Setting("spark.sql.ansi.enabled", "true", "a sum that overflows would wrap, and a cast that fails would be null", choice=True),
    Setting("spark.sql.ansi.doubleQuotedIdentifiers", "false", "a text in double quotes would be read as a column", choice=True),
    Setting("spark.sql.parser.escapedStringLiterals", "false", "a backslash in a text would mean something else", choice=True),
    Setting(
        "spark.sql.decimalOperations.allowPrecisionLoss",
        "true",
        "products and quotients of decimals would have other digits",
        choice=True,
    ),
    # What is late, kept in state, and counted.
    Setting("spark.speculation", "false", "two attempts of a task at a time would write the same state", Where.PROCESS),
    Setting(
        "spark.sql.adaptive.streaming.stateless.enabled",
        "false",
        "what a batch has read, and whether a row could leave twice, is read from its plan, which has to be final",
    ),
    Setting("spark.sql.streaming.unsupportedOperationCheck", "true", "Spark would run plans that lose rows or count them twice"),
    Setting(
        "spark.sql.streaming.statefulOperator.allowMultiple",
        "true",
        "Spark would drop late rows by the watermark of the batch itself, and more than those that we take out",
    ),
    Setting(
        "spark.sql.streaming.statefulOperator.checkCorrectness.enabled",
        "true",
        "Spark would only warn where late rows are lost in a chain",
    ),
    Setting(
        "spark.sql.streaming.statefulOperator.useStrictDistribution",
        "true",
        "a key could come to another partition than the one that has its state",
    ),
    Setting(
        "spark.sql.streaming.useStreamlineAggregator",
        "false",
        "windows would leave with each row, and what is still open is not in the state that we count",
    ),
    Setting(
        "spark.sql.streaming.aggregation.stateFormatVersion",
        "2",
        "the count of open records would be read from another column of the state",
    ),
    Setting(
        "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion",
        "2",
        "how long a key of latest() is remembered would be read from another column of the state",
    ),
    Setting(
        "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled",
        "false",
        "the logs of a real-time batch would be written while it is accounted for, or later",
    ),
    Setting(
        "spark.sql.streaming.multipleWatermarkPolicy",
        "min",
        "the watermark of a union would follow the source that is furthest, and what the others deliver would be late",
    ),
    Setting(
        "spark.sql.streaming.noDataMicroBatches.enabled",
        "true",
        "a window that the watermark has passed would wait for the next record",
        choice=True,
    ),
    Setting(
        "spark.sql.dropDuplicates.deterministicKeyOrder.enabled",
        "true",
        "the keys of the state are found by their position, which could be another one after a restart",
    ),
    # What tells a damaged checkpoint.
    Setting("spark.sql.streaming.stateStore.stateSchemaCheck", "true", "state of another shape would be read as if it fitted"),
    Setting("spark.sql.streaming.checkpoint.fileChecksum.enabled", "true", "a torn file of the state would not be noticed"),
    Setting(
        "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled",
        "true",
        "a checkpoint that has lost its metadata would go on as another query",
    ),
)
"""Each exists in this Spark with the value as its default, or is set by `session.STREAMING`."""


def refuse_settings(own: Mapping[str, str], file: str) -> None:
    """ConfigurationError if [spark] takes away what the guarantees stand on (R21)."""
    for setting in SETTINGS:
        for name in setting.names if not setting.choice else ():
            if name in own and not setting.allows(own[name]):
                raise ConfigurationError(
                    f'{file}: [spark] sets "{name}" to {own[name]}.',
                    required=f"It is {setting.value}: {setting.reason}.",
                    remedy="Take that line out.",
                )


def values_of_proof() -> dict[str, str]:
    """What a Spark of our own starts with, so that nothing from outside is in force in it."""
    return {setting.names[-1]: setting.value for setting in SETTINGS}


def guard(spark: "SparkSession", own: Mapping[str, str]) -> list[Note]:
    """Gives the session of a query the values that we stand on; says, in sentences, which others were in force.

    Parameters
    ----------
    own
        The job's [spark]: what it chooses there stays.

    Raises
    ------
    ConfigurationError
        If another value is in force that a session cannot change.
    """
    found = _jvm.live_settings(spark, {setting.key: setting.where for setting in SETTINGS})
    notes: list[Note] = []
    for setting, value in _others(found, own):
        if not setting.forced:
            raise _in_force(setting, value)
        spark.conf.set(setting.key, setting.value)
        said = f"{setting.key} was {value} from outside; this job sets {setting.value}: else {setting.reason}."
        notes.append(Note(NoteCode.SET_FROM_OUTSIDE, said, setting.key))
    return notes


def _others(found: Mapping[str, str], own: Mapping[str, str]) -> Iterator[tuple[Setting, str]]:
    """The settings that have another value than ours, with it."""
    for setting in SETTINGS:
        value = found.get(setting.key)
        chosen = setting.choice and setting.key in own
        if value is not None and not chosen and not setting.allows(value):
            yield setting, value


def _in_force(setting: Setting, value: str) -> ConfigurationError:
    return ConfigurationError(
        f"{setting.key} is {value} in this Spark session.",
        required=f"It is {setting.value}: else {setting.reason}.",
        remedy="Look for it in spark-defaults.conf (below SPARK_CONF_DIR or SPARK_HOME), in the options of spark-submit "
        "(PYSPARK_SUBMIT_ARGS), and where the session is made. "
        f'"{setting.key}" = "{setting.value}" below [spark] wins over them, where Streamproof starts the session.',
    )
