"""The generated events as a plain DataFrame with the declared columns: nothing of the product's reading is in it (R28)."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import CharType, DataType, LongType, StringType, StructField, StructType, VarcharType

from streamproof import _jvm
from streamproof.prove.scenario.generate import TRACE, Event
from streamproof.stream.names import quoted

if TYPE_CHECKING:
    from streamproof.config import SourceConfig

_TIME = "_time_us"


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
