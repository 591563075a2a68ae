"""The bridge to the JVM: the only module that touches py4j."""

import json
import os
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.ids import new_id
from streamproof.errors import DiskFull, DivertError, EnvironmentProblem, SinkError, StreamproofError, TwoDrivers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

_JARS = Path(__file__).parent / "_jars"
PRODUCTION_JAR = _JARS / "streamproof-production.jar"
PROOF_JAR = _JARS / "streamproof-proof.jar"
_NO_TOPIC_ID = "A" * 22
"""How Kafka writes the id of zeros, which is what brokers before 2.8 give."""


def jars(*, proof: bool = False) -> list[str]:
    """The jars a Spark session needs; EnvironmentProblem where they were not built."""
    wanted = [PRODUCTION_JAR, PROOF_JAR] if proof else [PRODUCTION_JAR]
    for jar in wanted:
        if not jar.is_file():
            raise EnvironmentProblem(
                f"{jar.name} is missing from the installed package.",
                required="The wheel brings it; in a checkout it is compiled by the set-up, which needs a JDK.",
                remedy="Run: make setup",
            )
    return [str(jar) for jar in wanted]


def launch(settings: "Mapping[str, str]", log: Path | None) -> None:
    """Starts the JVM of this process, where there is none yet; what it writes to standard error goes to the log.

    Raises
    ------
    PySparkRuntimeError
        If it ends before it can be spoken to.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ or log is None:
        return
    configured = SparkConf()
    for key, value in settings.items():
        configured.set(key, value)
    with log.open("ab") as stderr:
        gateway = launch_gateway(configured, {"stderr": stderr})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


def default_session(jvm: Any) -> Any:
    """The Java session of a JVM that runs already; its class lies in another package since Spark 4.0."""
    from py4j.java_gateway import JavaPackage

    since_4, before = (getattr(jvm, f"org.apache.spark.sql.{name}") for name in ("classic.SparkSession", "SparkSession"))
    class_ = before if isinstance(since_4, JavaPackage) else since_4  # what py4j gives for a class that is not there
    return class_.getDefaultSession().get()


def has_class(spark: "SparkSession", name: str) -> bool:
    """Whether a session has a Java class, by its full name."""
    from py4j.java_gateway import JavaPackage

    return not isinstance(getattr(spark._jvm, name), JavaPackage)


class Doors:
    """The Java functions of one query (late bound, diverts, tallies) and the reports of its tasks."""

    def __init__(self, spark: "SparkSession", checkpoint: str, run: str) -> None:
        self._doors = _class(spark, "Doors")(spark._jsparkSession, checkpoint, run)

    def late_before(self, window_us: int) -> "Column":
        """The first event time that is not late in the running batch, bigint, microseconds since 1970-01-01T00:00:00Z.

        It lies right above the late bound; with a tumbling window of a length, at the start of the first window that ends above it.
        """
        from pyspark.sql import Column

        return Column(self._doors.lateBefore(window_us))

    def batch_number(self) -> "Column":
        """The number of the running batch, bigint."""
        from pyspark.sql import Column

        return Column(self._doors.batchNumber())

    def batch_clock(self) -> "Column":
        """The running batch's own timestamp (R13), bigint, microseconds since 1970-01-01T00:00:00Z."""
        return _call(self._doors.batchClock())

    def divert(self, door: str, directory: str | None, row: "Column", reason: "Column") -> "Column":
        """False, after having taken the row out: to a side file below `directory`, or only counted where that is None."""
        return _call(self._doors.divert(door, directory), row, reason)

    def dropped(
        self, door: str, directory: str, row: "StructType", reason: str, options: "Mapping[str, str]", zone: str
    ) -> "Dropped":
        """What stands on both sides of a deduplication: the rows that it drops go to side files below `directory`.

        Parameters
        ----------
        row
            The columns that are written of a row.
        reason
            What is counted of each.
        options, zone
            How it is written as JSON.
        """
        return Dropped(self._doors.dropped(door, directory, reason, row.json(), dict(options), zone))

    def tally(self, door: str, row_hash: "Column", records: "Column", floats: "Sequence[Column]") -> "Column":
        """True, after having added the row to the sums of its task; `records` (bigint) may not be null."""
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        doubles = F.array(*floats) if floats else F.array().cast("array<double>")
        columns = [column._jc for column in (row_hash, records, doubles)]
        return Column(self._doors.tally(door, *columns, len(floats)))

    def drain(self, batch: int) -> list[dict[str, Any]]:
        """The reports of a batch, one per finished task attempt and door."""
        reports: list[dict[str, Any]] = json.loads(self._doors.drain(batch))
        return reports


class Dropped:
    """Both sides of a deduplication; between them lies nothing but Spark's operator, in the same task."""

    def __init__(self, java: Any) -> None:
        self._java = java

    def before(self, row: "Column") -> "Column":
        """True (boolean), after having remembered a row, of which the struct is what is written if it does not come out."""
        from pyspark.sql import Column

        return Column(self._java.before(row._jc))

    def behind(self) -> "Column":
        """True (boolean) of a row that has come out."""
        from pyspark.sql import Column

        return Column(self._java.behind())


def key_of_deduplication(rows: "DataFrame") -> list[str]:
    """By what columns `dropDuplicatesWithinWatermark`, which the rows come from, partitions its state, in its order."""
    return list(_class(rows.sparkSession, "Doors").keyOf(rows._jdf))


class BatchRows:
    """The rows of a micro-batch, not computed yet; and, once they are, what that has counted."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def write(self, form: str, directory: str, options: "Mapping[str, str]") -> None:
        """Computes the rows, once, and writes them as "json", "parquet", "csv" or "avro" to a directory that is not there yet."""
        self._rows.write(form, directory, dict(options))

    def sums(self) -> dict[str, int]:
        """Rows read, duplicates dropped and occurrences of each door in the plan, of the rows that were written."""
        found: dict[str, int] = json.loads(self._rows.sums())
        return found

    def reached(self) -> "list[int | None]":
        """Of each source with a watermark, in their order, newest event time less delay, milliseconds; None where it had no event time."""
        found: list[int | None] = json.loads(self._rows.reached())
        return found

    def lift(self, source: int, watermark_ms: int) -> None:
        """Has a source, by its number, reach a watermark that no event of its own has led to; it counts from the next batch on."""
        self._rows.lift(source, watermark_ms)


class _BatchFunction:
    """Called from the JVM, in the thread of the query."""

    def __init__(self, function: "Callable[[BatchRows, int], None]") -> None:
        self._function = function

    def call(self, rows: Any, batch: int) -> None:
        self._function(BatchRows(rows), batch)

    class Java:
        implements = ("io.streamproof.BatchFunction",)


def for_each_batch(
    spark: "SparkSession", writer: "DataStreamWriter", function: "Callable[[BatchRows, int], None]"
) -> "DataStreamWriter":
    """Binds a query to a function that is called once per micro-batch; what it raises stops the query."""
    from pyspark.java_gateway import ensure_callback_server_started

    name = new_id()
    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    _class(spark, "BatchSink").register(name, _BatchFunction(function))
    return writer.format("io.streamproof.BatchSink").option("function", name)


def live_settings(spark: "SparkSession", keys: "Mapping[str, str]") -> dict[str, str]:
    """By key the value in force that somebody has set, whoever it was; `keys` says where each is in force (`LiveSettings`)."""
    found: dict[str, str] = json.loads(_class(spark, "LiveSettings").of(spark._jsparkSession, json.dumps(keys)))
    return found


def json_record(spark: "SparkSession", line: "Column", schema: "StructType", corrupt: str, *, lenient: bool = False) -> "Column":
    """A line of JSON (string) as a struct, as `from_json` gives it; not deterministic, so that it is parsed once.

    Parameters
    ----------
    schema
        Its fields, among them `corrupt` (string): why a record does not fit, null of the others.
    lenient
        Whether it is also taken where `from_json` alters what it says, or takes for JSON what is none.
    """
    from pyspark.sql import Column

    return Column(_class(spark, "JsonRecord").column(spark._jsparkSession, line._jc, schema.json(), corrupt, lenient))


def float_steps(rows: "DataFrame") -> dict[str, float]:
    """Which columns depend on the order in which an aggregation adds floats, and how far two right values of one may be apart.

    0 is in the last digits only, infinity anything; else it is the step of the rounding that the column is made by.
    """
    return dict(_class(rows.sparkSession, "FloatOrder").steps(rows._jdf))


def accumulator_column(zero: "DataFrame", add: "DataFrame", merge: "DataFrame", result: "DataFrame") -> "Column":
    """An aggregate of its expressions, each a column of an analysed projection (`Accumulator`)."""
    from pyspark.sql import Column

    return Column(_class(zero.sparkSession, "Accumulator").column(zero._jdf, add._jdf, merge._jdf, result._jdf))


def unfit_for_a_buffer(rows: "DataFrame") -> str:
    """Why the one column of an analysed projection cannot stand in an accumulator, in a word or two; empty where it can."""
    return str(_class(rows.sparkSession, "Accumulator").unfit(rows._jdf))


def aggregates_in_python(rows: "DataFrame") -> bool:
    """Whether an aggregation calls a function of Python."""
    return bool(_class(rows.sparkSession, "Operators").aggregatesInPython(rows._jdf))


class Refused(ValueError):
    """A schema or a type that Avro does not take, in its words."""


def avro_record(
    spark: "SparkSession",
    value: "Column",
    columns: "StructType",
    beside: tuple[str, str],
    reader: str | None,
    units: "Mapping[str, str]",
    url: str,
    headers: "Mapping[str, str]",
) -> "Column":
    """A record in a registry's wire format (binary) as a struct of the columns; not deterministic, so that it is read once.

    Parameters
    ----------
    beside
        The names of two more fields: why a record cannot be read (string, null of the others), and the id of its schema (int).
    reader
        The reader's schema; None for one that follows from the columns.
    units
        By column what a number of it counts, such as "milliseconds": a writer that counts otherwise is not read.

    Raises
    ------
    Refused
        If Avro has no such columns, or the reader's schema does not.
    """
    from pyspark.sql import Column

    made = _class(spark, "AvroRecord")
    return Column(_avro(made.column, value._jc, columns.json(), *beside, reader, dict(units), url, dict(headers)))


def avro_schema(spark: "SparkSession", columns: "StructType", name: str) -> str:
    """The Avro schema of rows with these columns, every field nullable; Refused where Avro has no such columns."""
    made: str = _avro(_class(spark, "AvroValue").schema, columns.json(), name)
    return made


def avro_value(spark: "SparkSession", row: "Column", columns: "StructType", schema: str, schema_id: int) -> "Column":
    """A row (struct) in a registry's wire format (binary); Refused where the schema does not take the columns."""
    from pyspark.sql import Column

    return Column(_avro(_class(spark, "AvroValue").column, row._jc, columns.json(), schema, schema_id))


def _avro(method: Any, *arguments: Any) -> Any:
    from py4j.protocol import Py4JJavaError

    try:
        return method(*arguments)
    except Py4JJavaError as problem:
        said = plain(java_causes(problem.java_exception)[0])
        raise Refused(said.rstrip(".")) from problem


def text_behind_record(spark: "SparkSession", line: "Column") -> "Column":
    """Whether a line of JSON (string) goes on behind its first value; false of null."""
    from pyspark.sql import Column

    return Column(_class(spark, "TextBehindRecord").column(line._jc))


@dataclass(frozen=True)
class KafkaTopic:
    """A topic that is there: how many partitions it has, and the id that no topic made later under its name has; "" of old brokers."""

    partitions: int
    id: str


def kafka_topics(spark: "SparkSession", settings: "Mapping[str, str]", topics: "Sequence[str]") -> dict[str, KafkaTopic | str]:
    """By name what is known of each topic, or what the broker said instead, by Kafka's own client.

    Raises
    ------
    EnvironmentProblem
        If the session does not have Kafka's client.
    """
    from py4j.java_gateway import JavaPackage
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    admin_class = getattr(jvm, "org.apache.kafka.clients.admin.AdminClient")
    if isinstance(admin_class, JavaPackage):
        raise EnvironmentProblem(
            "The Spark session that is running does not have Spark's Kafka connector.",
            required="spark-sql-kafka-0-10, with kafka-clients, on the driver's class path before the session starts.",
            remedy="Let Streamproof start the session, or give it with spark-submit --packages.",
        )
    properties = jvm.java.util.Properties()
    for key, value in settings.items():
        properties.setProperty(key, value)
    found: dict[str, KafkaTopic | str] = {}
    try:
        admin = admin_class.create(properties)
    except Py4JJavaError as problem:
        return dict.fromkeys(topics, java_causes(problem.java_exception)[-1])
    try:
        answers = admin.describeTopics(list(topics)).topicNameValues()
        for topic in topics:
            try:
                told = answers.get(topic).get()
                topic_id = str(told.topicId().toString())
                found[topic] = KafkaTopic(int(told.partitions().size()), "" if topic_id == _NO_TOPIC_ID else topic_id)
            except Py4JJavaError as problem:
                found[topic] = java_causes(problem.java_exception)[-1]
    finally:
        admin.close(jvm.java.time.Duration.ZERO)
    return found


@dataclass(frozen=True)
class KafkaOffsets:
    """Of a partition the offset of the first record that is there, the one behind the last that is committed, and the one behind the last of
    all; what lies between these two is in transactions that are open, or behind one.
    """

    first: int
    stable: int
    end: int


def kafka_offsets(
    spark: "SparkSession", settings: "Mapping[str, str]", topics: "Sequence[str]"
) -> dict[tuple[str, int], KafkaOffsets] | str:
    """The offsets of each partition, by topic and number; or what the broker said instead."""
    from py4j.protocol import Py4JJavaError

    counts: dict[str, int] = {}
    for topic, told in kafka_topics(spark, settings, topics).items():
        if isinstance(told, str):
            return told
        counts[topic] = told.partitions
    jvm: Any = spark._jvm
    kafka = "org.apache.kafka"
    partition = getattr(jvm, f"{kafka}.common.TopicPartition")
    levels, spec = getattr(jvm, f"{kafka}.common.IsolationLevel"), getattr(jvm, f"{kafka}.clients.admin.OffsetSpec")
    options = getattr(jvm, f"{kafka}.clients.admin.ListOffsetsOptions")
    names = {(topic, number): partition(topic, number) for topic, count in counts.items() for number in range(count)}

    def asked(which: Any, level: Any) -> dict[tuple[str, int], int]:
        wanted = jvm.java.util.HashMap()
        for name in names.values():
            wanted.put(name, which)
        found = admin.listOffsets(wanted, options(level)).all().get()
        return {name: int(found.get(java).offset()) for name, java in names.items()}

    properties = jvm.java.util.Properties()
    for key, value in settings.items():
        properties.setProperty(key, value)
    admin = getattr(jvm, f"{kafka}.clients.admin.AdminClient").create(properties)
    try:
        first = asked(spec.earliest(), levels.READ_UNCOMMITTED)
        stable, end = asked(spec.latest(), levels.READ_COMMITTED), asked(spec.latest(), levels.READ_UNCOMMITTED)
        return {name: KafkaOffsets(first[name], stable[name], end[name]) for name in names}
    except Py4JJavaError as problem:
        return java_causes(problem.java_exception)[-1]
    finally:
        admin.close(jvm.java.time.Duration.ZERO)


def _class(spark: "SparkSession", name: str) -> Any:
    """A Java class of the production jar. By its full name: part by part, py4j would look for a class `io` in every jar first."""
    from py4j.java_gateway import JavaPackage

    found = getattr(spark._jvm, f"io.streamproof.{name}")
    if isinstance(found, JavaPackage):  # what py4j gives for a class that is not there
        raise EnvironmentProblem(
            "The Spark session that is running does not have Streamproof's Java classes.",
            required=f"{PRODUCTION_JAR.name} on the driver's class path and among spark.jars before the session starts.",
            remedy="Let Streamproof start the session, or stop that session first.",
        )
    return found


def _call(udf: Any, *arguments: "Column") -> "Column":
    from pyspark import SparkContext
    from pyspark.sql import Column
    from pyspark.sql.classic.column import _to_java_column, _to_seq

    context = SparkContext._active_spark_context
    assert context is not None, "a session is running"
    sequence = _to_seq(context, arguments, _to_java_column)
    return Column(udf.apply(sequence))


@dataclass(frozen=True)
class Numbered:
    """Numbers that are there: how many, their sum, the smallest and the largest, -1 without one."""

    count: int = 0
    sum: int = 0
    oldest: int = -1
    newest: int = -1


class Storage:
    """Small files and directory renames through Hadoop's file systems."""

    def __init__(self, spark: "SparkSession") -> None:
        self._storage = _class(spark, "Storage")(spark._jsparkSession)

    def read(self, path: str) -> str | None:
        """The text of a file; empty where its checksum says that it is torn, None where there is none."""
        text: str | None = self._try(self._storage.read, path)
        return text

    def create_atomic(self, path: str, text: str) -> bool:
        """Creates a file whole or not at all; False where it was there already."""
        return bool(self._try(self._storage.createAtomic, path, text))

    def replace_atomic(self, path: str, text: str) -> None:
        """Puts a whole file in the place of another, or of none."""
        self._try(self._storage.replaceAtomic, path, text)

    def write(self, path: str, text: str) -> None:
        self._try(self._storage.write, path, text)

    def list(self, path: str) -> dict[str, int]:
        """Names in a directory and their bytes (-1 for a directory), sorted; empty where there is no such directory."""
        listing: str = self._try(self._storage.list, path)
        entries = (entry.rsplit("\t", 1) for entry in listing.splitlines())
        return {name: int(size) for name, size in entries}

    def names(self, path: str) -> Sequence[str]:
        """Names in a directory, in no order; empty where there is no such directory. Cheap also where they are many."""
        names: str = self._try(self._storage.names, path)
        return names.splitlines()

    def numbered(self, path: str, prefix: str, last: int) -> "Numbered":
        """What the names in a directory add up to that are a prefix and a number, up to `last`; counted in the JVM, since they may be many."""
        count, total, oldest, newest = map(int, str(self._try(self._storage.numbered, path, prefix, last)).split())
        return Numbered(count, total, oldest, newest)

    def sizes(self, uris: "Sequence[str]") -> dict[str, int]:
        """The bytes of files given by their URIs, -1 where there is none."""
        sizes: str = self._try(self._storage.sizes, list(uris))
        return dict(zip(uris, map(int, sizes.split()), strict=True))

    def exists(self, path: str) -> bool:
        return bool(self._try(self._storage.exists, path))

    def rename(self, source: str, target: str) -> None:
        self._try(self._storage.rename, source, target)

    def delete(self, path: str) -> None:
        self._try(self._storage.delete, path)

    @staticmethod
    def _try(method: Any, *arguments: Any) -> Any:
        from py4j.protocol import Py4JJavaError

        try:
            return method(*arguments)
        except Py4JJavaError as error:
            raise storage_error(str(arguments[0]), java_causes(error.java_exception)) from error


def is_own(path: str) -> bool:
    """Whether only drivers of this job write and delete what lies there."""
    return re.search(r"/(?:_staging|_streamproof)/", path) is not None


def gone_file(path: str) -> TwoDrivers:
    """The error for a file of a batch that was staged and is not there while the batch still runs, in one place."""
    return TwoDrivers(
        f"Another driver works on this checkpoint, or has: what this one had staged is gone, {path}.",
        required="One driver works on a checkpoint at a time; one that starts removes what an earlier one has left unfinished.",
        remedy="Look which one runs, let it go on, and do not start this one again beside it; the ledger decides what is published, nothing is doubled.",
    )


def storage_error(path: str, causes: Sequence[str]) -> StreamproofError:
    """The error for a failed file operation, in one place: disk full, no permission, or what the store said."""
    text = " <- ".join(causes)
    if "No space left" in text or "ENOSPC" in text or "Disk quota" in text:
        return DiskFull(
            f"The disk is full: {path} could not be written.",
            required="Nothing is lost: what was not committed is done again.",
            remedy="Make room and run the job again.",
        )
    if "FileNotFound" in text and is_own(path):
        return gone_file(path)
    if "Parent path is not a directory" in text or "Not a directory" in text:
        return SinkError(
            f"{path} cannot be written: a part of the path is a file, not a directory.",
            remedy="Move that file away, or bind the output or the checkpoint elsewhere.",
        )
    if "Permission denied" in text or "AccessControlException" in text or "Mkdirs failed" in text:
        return SinkError(
            f"No permission to write {path}.", remedy="Give this user write permission there, or bind the output elsewhere."
        )
    return SinkError(
        f"{path} could not be read or written: {plain(causes[-1]) if causes else 'unknown reason'}",
        required="Nothing is lost: what was not committed is done again.",
        remedy="Mend what the store says and run the job again.",
    )


_CLASS_NAMES = re.compile(r"^(?:Caused by: )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?:: |$)")


def plain(cause: str) -> str:
    """What a cause says, in its first line, without the names of Java classes before it."""
    said = cause.strip().splitlines()[0] if cause.strip() else ""
    while (shorter := _CLASS_NAMES.sub("", said)) != said:
        said = shorter
    return said or "no reason given"


def is_of_spark(problem: BaseException) -> bool:
    """Whether PySpark or py4j raised it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(problem, PySparkException | Py4JError)


def is_gone(problem: BaseException | None) -> bool:
    """Whether an error, or one that it comes from, says that there is no JVM any more; connections to others are not asked about."""
    from py4j.protocol import Py4JNetworkError

    while problem is not None:
        places = traceback.extract_tb(problem.__traceback__)
        if isinstance(problem, Py4JNetworkError) or (
            isinstance(problem, ConnectionError) and places and "py4j" in Path(places[-1].filename).parts
        ):
            return True
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    return False


def causes_of(problem: BaseException) -> list[str]:
    """The messages of what PySpark or py4j raised and of its causes in the JVM, outermost first."""
    java = getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)
    if java is None:
        return [str(problem)]
    try:
        return java_causes(java)
    except Exception:  # noqa: BLE001 -- the gateway may be gone; what Python knows is better than nothing
        return [str(problem)]


def java_causes(exception: Any) -> list[str]:
    """The messages of a Java exception and its causes, outermost first."""
    messages: list[str] = []
    while exception is not None and len(messages) < 20:
        messages.append(f"{exception.getClass().getName()}: {exception.getMessage()}")
        exception = exception.getCause()
    return messages


def operators_of_stream(rows: "DataFrame") -> list[str]:
    """The operators of the logical plan of a streaming DataFrame, from the top, by the names of Spark's classes; none of a batch one.

    A table that the stream is joined with is left out; "Generate explode" names its function, "Join of streams" has a stream on both sides.
    """
    found: str = _class(rows.sparkSession, "Operators").ofStream(rows._jdf)
    return found.splitlines()


def check_doors(metrics: dict[str, int]) -> None:
    """DivertError if one divert occurs twice in the executed plan: each row would be taken out twice (R5)."""
    for key, count in metrics.items():
        if key.startswith("door:") and count > 1:
            raise DivertError(
                f"The side output {key.removeprefix('door:')} occurs {count} times in Spark's plan; its rows would be doubled.",
                remedy="Simplify the transform before it (a union or a self-join duplicates what comes before).",
            )
