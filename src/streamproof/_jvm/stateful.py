"""What keeps state in a query, as Spark has planned it; called by names that are the same from 3.5 to 4.3, so that no class of ours is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_DELAY = "spark.watermarkDelayMs"
"""In the metadata of a column: it is event time with a watermark of this delay."""
_KEEPS_STATE = {
    "StateStoreSaveExec": "aggregation",
    "SessionWindowStateStoreSaveExec": "aggregation",
    "StreamingDeduplicateExec": "deduplication",
    "StreamingDeduplicateWithinWatermarkExec": "deduplication within the watermark",
    "StreamingSymmetricHashJoinExec": "join",
    "FlatMapGroupsWithStateExec": "groups",
    "FlatMapGroupsInPandasWithStateExec": "groups",
    "TransformWithStateExec": "processor",
    "TransformWithStateInPandasExec": "processor",
    "TransformWithStateInPySparkExec": "processor",
    "StreamingGlobalLimitExec": "limit",
}
_STATEFUL = (
    "Aggregate",
    "Deduplicate",
    "DeduplicateWithinWatermark",
    "Distinct",
    "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState",
    "TransformWithState",
    "TransformWithStateInPandas",
    "TransformWithStateInPySpark",
    "GlobalLimit",
)
_SEEN_THROUGH = ("AdaptiveSparkPlanExec", "ShuffleQueryStageExec", "ResultQueryStageExec", "BroadcastQueryStageExec")


@dataclass(frozen=True)
class Key:
    """A column by which state is kept: its name, its type in Spark's words, whether the watermark bounds it."""

    name: str
    type: str
    bounded: bool


@dataclass(frozen=True)
class Operator:
    """An operator of Spark's physical plan that keeps state.

    Parameters
    ----------
    kind
        "aggregation", "deduplication", "deduplication within the watermark", "join", "groups" (flatMapGroupsWithState and its like),
        "processor" (transformWithState) or "limit".
    keys
        By what it keeps state; those of a join are left out.
    mode
        The output mode, where the operator goes by it.
    timeout
        Of groups the timeout, of a processor the time mode, as Spark writes them; else empty.
    sides
        Of a join, whether the state of its left and of its right side is ever freed.
    watermarked
        Whether a column that comes to it has a watermark; without one no row is late there.
    """

    kind: str
    keys: tuple[Key, ...] = ()
    mode: str = ""
    timeout: str = ""
    sides: tuple[bool, ...] = ()
    watermarked: bool = True


@dataclass(frozen=True)
class BeforeState:
    """The rows that reach the one stateful operator of a query, with the time that Spark compares with the watermark.

    Parameters
    ----------
    rows
        The time that decides (the end of a window) and the event's own time, in microseconds since 1970; null where a row has none.
    delay_ms
        The delay of the watermark.
    """

    rows: "DataFrame"
    delay_ms: int


class NotOne(Exception):
    """The plan does not say which rows Spark drops; the text says why, as the end of a sentence."""


def operators_of_query(query: "StreamingQuery") -> list[Operator]:
    """The stateful operators of the last batch of a query, from the top, in the order of its progress; none before its first batch."""
    execution = query._jsq.streamingQuery().lastExecution()
    return (
        [] if execution is None else [_operator(node) for node in _nodes(execution.executedPlan()) if _name(node) in _KEEPS_STATE]
    )


def before_state(frame: "DataFrame") -> BeforeState:
    """The rows that reach the one stateful operator of a streaming DataFrame.

    Raises
    ------
    NotOne
        If it has none or several, or if more or less than one watermark leads to it.
    """
    plan = frame._jdf.queryExecution().analyzed()
    nodes = [node for node in _nodes(plan) if node.isStreaming()]
    if any(_name(node) == "Join" and all(child.isStreaming() for child in _seq(node.children())) for node in nodes):
        raise NotOne("it joins streams")
    stateful = [node for node in nodes if _name(node) in _STATEFUL]
    if len(stateful) != 1:
        raise NotOne("it has no stateful operator" if not stateful else "it has several stateful operators, one after another")
    watermarks = sum(_name(node) == "EventTimeWatermark" for node in nodes)
    if watermarks != 1:
        raise NotOne("it has no watermark" if not watermarks else "it has several watermarks")
    (node,) = stateful
    return _before(frame, node)


def _before(frame: "DataFrame", node: Any) -> BeforeState:
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    spark, child = frame.sparkSession, node.child()
    columns = _seq(child.output())
    times = [place for place, column in enumerate(columns) if column.metadata().contains(_DELAY)]
    own = [place for place in times if not _is_window(columns[place])]
    deciding = times
    if _name(node) == "Aggregate":
        keys = {
            key.exprId().id()
            for key in _seq(node.groupingExpressions())
            if hasattr(key, "exprId") and _name(key) == "AttributeReference"
        }
        deciding = [place for place in times if columns[place].exprId().id() in keys]
    if len(deciding) != 1:
        raise NotOne("no column of event time, or more than one, decides there what is late")
    names = [f"c{place}" for place in range(len(columns))]
    rows = DataFrame(_dataset(spark).ofRows(spark._jsparkSession, child), spark).toDF(*names)
    (place,) = deciding
    decides = F.col(f"{names[place]}.end") if _is_window(columns[place]) else F.col(names[place])
    mine = F.col(names[own[0]]) if own else F.lit(None).cast("timestamp")
    delay = int(columns[place].metadata().getLong(_DELAY))
    return BeforeState(rows.select(F.unix_micros(decides).alias("decides"), F.unix_micros(mine).alias("own")), delay)


def _dataset(spark: "SparkSession") -> Any:
    from py4j.java_gateway import JavaPackage

    found = getattr(spark._jvm, "org.apache.spark.sql.classic.Dataset")
    return found if not isinstance(found, JavaPackage) else getattr(spark._jvm, "org.apache.spark.sql.Dataset")  # before 4.0


def _operator(node: Any) -> Operator:
    kind = _KEEPS_STATE[_name(node)]
    marked = any(column.metadata().contains(_DELAY) for child in _seq(node.children()) for column in _seq(child.output()))
    if kind == "join":
        freed = node.stateWatermarkPredicates()
        return Operator(kind, sides=(bool(freed.left().isDefined()), bool(freed.right().isDefined())), watermarked=marked)
    if kind == "limit":
        return Operator(kind)
    attributes = list(_seq(node.groupingAttributes() if kind in ("groups", "processor") else node.keyExpressions()))
    if _name(node) == "SessionWindowStateStoreSaveExec":
        attributes.append(node.sessionExpression())
    keys = tuple(
        Key(str(one.name()), str(one.dataType().catalogString()), bool(one.metadata().contains(_DELAY))) for one in attributes
    )
    marked = marked or any(key.bounded for key in keys)
    if kind == "groups":
        return Operator(kind, keys, timeout=str(node.timeoutConf().toString()), watermarked=marked)
    if kind == "processor":
        return Operator(kind, keys, timeout=str(node.timeMode().toString()), watermarked=marked)
    if kind == "aggregation":
        mode = node.outputMode()
        return Operator(kind, keys, mode=str(mode.get().toString()).lower() if mode.isDefined() else "", watermarked=marked)
    return Operator(kind, keys, watermarked=marked)


def _nodes(plan: Any) -> Iterator[Any]:
    """A plan from the top, left to right."""
    name = _name(plan)
    if name in _SEEN_THROUGH:
        yield from _nodes(plan.executedPlan() if name == "AdaptiveSparkPlanExec" else plan.plan())
        return
    yield plan
    for child in _seq(plan.children()):
        yield from _nodes(child)


def _seq(found: Any) -> Sequence[Any]:
    return [found.apply(place) for place in range(found.size())]


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _is_window(column: Any) -> bool:
    return str(column.dataType().catalogString()).startswith("struct<start:timestamp")
