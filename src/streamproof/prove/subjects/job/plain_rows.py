"""The generated events as a plain DataFrame with the declared columns: nothing of the product's reading is in it (R28)."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import CharType, DataType, LongType, StringType, StructField, StructType, VarcharType

from streamproof import _jvm
from streamproof.config import KafkaSource
from streamproof.prove.scenario.generate import TRACE, Event
from streamproof.stream.names import quoted

if TYPE_CHECKING:
    from streamproof.config import SourceConfig

_TIME = "_time_us"
_RECORD = ("_topic", "_partition", "_offset")


def plain_rows(
    spark: SparkSession, events: Sequence[Event], source: "SourceConfig", time_column: str | None, file: Path
) -> DataFrame:
    """Writes the events to a file of JSON and reads it with Spark's own reader: `_trace` and the declared columns.

    The event time is the instant that each event was made with.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    as_they_are = source.format in ("json", "parquet")
    file.write_bytes(b"".join(_line(event, as_they_are=as_they_are) for event in events))
    declared = StructType.fromDDL(source.schema_ddl) if source.schema_ddl else StructType([])
    assert isinstance(declared, StructType), "columns with their types parse to a struct"
    others = [StructField(field.name, _text(field.dataType)) for field in declared.fields if field.name != time_column]
    schema = StructType([StructField(TRACE, StringType()), StructField(_TIME, LongType()), *others])
    rows = _jvm.rows_of_named(spark, "json", [str(file)], columns=schema)
    instant = F.timestamp_micros(_TIME)
    return rows.select(TRACE, *[instant.alias(name) if name == time_column else F.col(quoted(name)) for name in declared.names])


def _line(event: Event, *, as_they_are: bool) -> bytes:
    """The event's own line where it has one, so that numbers stand there digit for digit; the time is put in front of it."""
    time = json.dumps(event.time_us).encode()
    if as_they_are:
        return b'{"' + _TIME.encode() + b'": ' + time + b", " + event.record.removeprefix(b"{") + b"\n"
    values = {TRACE: event.trace, _TIME: event.time_us, **event.values}
    return json.dumps(values, default=_written).encode() + b"\n"


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _text(type_: DataType) -> DataType:
    return StringType() if isinstance(type_, CharType | VarcharType) else type_


def with_records(rows: DataFrame, source: KafkaSource, traces: Mapping[str, Sequence[str]]) -> DataFrame:
    """The rows with what a record of Kafka is by itself, where the source asks for it: its key, its offset, headers that are carried.

    Parameters
    ----------
    traces
        By the record's name, "trades-0@17", the trace in it.
    """
    if not source.include and not source.carry:
        return rows
    spark = rows.sparkSession
    places = []
    for name, there in traces.items():
        if not there:
            continue  # a record of an aborted transaction
        partitioned, _, offset = name.rpartition("@")
        topic, _, partition = partitioned.rpartition("-")
        places.append((there[0], topic, int(partition), int(offset)))
    where = spark.createDataFrame(places, f"{TRACE} string, _topic string, _partition int, _offset bigint")
    options = {"kafka.bootstrap.servers": source.servers, "subscribe": ",".join(source.topic), "includeHeaders": "true"}
    records = (
        spark.read.format("kafka").options(**options, **{f"kafka.{key}": value for key, value in source.options.items()}).load()
    )
    shown = {
        "key": F.col("key").cast("string"),
        "timestamp": F.col("timestamp"),
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "headers": F.col("headers"),
        "schema_id": _schema_id() if source.registry is not None else F.lit(None).cast("int"),
    }
    own = [shown[name].alias(f"kafka_{name}") for name in source.include]
    own += [F.try_element_at(_of_name(name), F.lit(-1))["value"].cast("string").alias(f"carried_{name}") for name in source.carry]
    place = [F.col(name.removeprefix("_")).alias(name) for name in _RECORD]
    return rows.join(where.join(records.select(*place, *own), list(_RECORD)).drop(*_RECORD), TRACE)


def _of_name(name: str) -> Any:
    return F.filter("headers", lambda header: header["key"] == name)


def _schema_id() -> Any:
    """The four bytes after the first one."""
    return F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("int")
