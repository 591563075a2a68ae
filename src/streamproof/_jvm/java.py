"""What every part of the bridge stands on: our Java classes by name, and what exceptions of the JVM say."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof._jvm.versions import SPARK_VERSIONS, installed_spark, minor_version
from streamproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_JARS = Path(__file__).parents[1] / "_jars"
PROOF_JAR = _JARS / "streamproof-proof.jar"


def production_jar() -> Path:
    """The jar that fits the installed Spark. For one that only plain jobs run on it is the oldest: they take what stands on no class of Spark."""
    minor = minor_version(installed_spark())
    return _JARS / f"streamproof-production-{minor if minor in SPARK_VERSIONS else SPARK_VERSIONS[0]}.jar"


def java_class(spark: "SparkSession", name: str) -> Any:
    """A Java class of the production jar. By its full name: part by part, py4j would look for a class `io` in every jar first."""
    from py4j.java_gateway import JavaPackage

    found = getattr(spark._jvm, f"io.streamproof.{name}")
    if isinstance(found, JavaPackage):  # what py4j gives for a class that is not there
        raise EnvironmentProblem(
            "The Spark session that is running does not have Streamproof's Java classes.",
            required=f"{production_jar().name} on the driver's class path and among spark.jars before the session starts.",
            remedy="Let Streamproof start the session, or stop that session first.",
        )
    return found


def java_call(udf: Any, *arguments: "Column") -> "Column":
    from pyspark import SparkContext
    from pyspark.sql import Column
    from pyspark.sql.classic.column import _to_java_column, _to_seq

    context = SparkContext._active_spark_context
    assert context is not None, "a session is running"
    sequence = _to_seq(context, arguments, _to_java_column)
    return Column(udf.apply(sequence))


def whole_text(answer: Any) -> Any:
    """What Java answered: a long text comes in pieces, see `LongText`."""
    if answer is None or isinstance(answer, str):
        return answer
    return "".join(answer.piece(number) for number in range(answer.count()))


_CONDITION = re.compile(r"\[[A-Z][A-Z0-9]*[_.][A-Z0-9_.]*\]")
_OF_A_TASK = re.compile(r"\(TID \d+\)(?: \([^)\n]*\))?: ((?:[a-z]\w*\.)+[A-Z][\w$]*)(?:: ([^\n]*))?")
"""In the text of a job that was aborted: of which task, and what that raised."""
_WITHOUT_VALUES = re.compile(
    r"(?:[a-z]\w*\.)+(?:UnknownHost|Connect|NoRouteToHost|ClassNotFound)Exception: |"
    r"(?:[a-z]\w*\.)+(?:OutOfMemory|NoClassDefFound|NoSuchMethod|UnsupportedClassVersion)Error: "
)
_NO_MODULE = re.compile(r"No module named '[\w.]+'")
_CLASS_NAMES = re.compile(r"^(?:Caused by: )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?:: |$)")


def plain(cause: str) -> str:
    """What a cause says, in its first line, without the names of Java classes before it."""
    said = cause.strip().splitlines()[0] if cause.strip() else ""
    while (shorter := _CLASS_NAMES.sub("", said)) != said:
        said = shorter
    return said or "no reason given"


def named(cause: str) -> str:
    """What a cause is, without its words, which may hold values of rows: its class and Spark's condition, "SparkException [TASK_WRITE_FAILED]".

    Of a class that no value of a row can come into, such as that a host is not known, it is what the cause says; "" where there is neither class nor
    condition.
    """
    said = plain(cause)
    if _WITHOUT_VALUES.match(cause.strip()) or _NO_MODULE.fullmatch(said):
        return said
    first = cause.strip().partition("\n")[0]
    before = first[: len(first) - len(said)] if first.endswith(said) else first
    of_a_task = _OF_A_TASK.search(said)
    classes = re.findall(r"[\w$.]+", of_a_task[1] if of_a_task else before.removeprefix("Caused by"))
    condition = _CONDITION.match(of_a_task[2] if of_a_task else said)
    name = classes[-1].rpartition(".")[2].rpartition("$")[2] if classes else ""
    return " ".join(filter(None, (name, condition[0] if condition else "")))


def is_of_spark(problem: BaseException) -> bool:
    """Whether PySpark or py4j raised it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(problem, PySparkException | Py4JError)


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
