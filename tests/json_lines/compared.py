"""What two readers make of the same lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from json_lines.lines import SCHEMA
from streamproof._jvm.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_MICROSECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
AS_TEXT = {
    "ignoreNullFields": "false",
    "timestampFormat": f"{_MICROSECONDS}XXX",
    "timestampNTZFormat": _MICROSECONDS,
    "timeZone": "UTC",
}
"""All of a row: by default Spark leaves out nulls, and the microseconds of a time."""


@dataclass(frozen=True)
class Compared:
    """How many lines were read, how many of them in one pass, how many fit, and those of which the two say something else."""

    lines: int
    in_one_pass: int
    fit: int
    differ: list[tuple[bytes, str | None, str | None]]


def compared(spark: "SparkSession", lines: Iterable[bytes], *, zone: str = "UTC", lenient: bool = False) -> Compared:
    """Reads each line in one pass, where that is possible, and by Spark's parser alone."""
    import pyarrow as pa
    from pyspark.sql import Column
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    schema = StructType.fromDDL(f"{SCHEMA}, _corrupt string")
    frame = session.createDataFrame(pa.table({"line": pa.array(list(lines), pa.binary())}))
    line = F.col("line").cast("string")

    def record(function: str, *more: bool) -> "Column":
        made = getattr(java_class(session, "JsonRecord"), function)
        return Column(made(session._jsparkSession, line._jc, schema.json(), "_corrupt", *more))

    def text(row: "Column") -> "Column":
        return F.to_json(row, AS_TEXT)

    # A parser gives the same row again for the next record: each is a text before the other begins.
    rows = (
        frame.select("line", record("isInOnePass").alias("plain"), record("column", lenient).alias("ours"))
        .select("line", "plain", text(F.col("ours")).alias("ours"))
        .select("*", record("bySparksParser", lenient).alias("judge"))
        .select("line", "plain", "ours", text(F.col("judge")).alias("judge"), F.col("judge._corrupt").isNull().alias("fit"))
    )
    rows = rows.persist()
    try:
        counts = rows.agg(F.count("*"), F.count_if("plain"), F.count_if("fit")).first()
        found = rows.where(~F.col("ours").eqNullSafe(F.col("judge"))).limit(20).collect()
    finally:
        rows.unpersist()
    assert counts is not None
    return Compared(*counts, [(bytes(row.line), row.ours, row.judge) for row in found])
