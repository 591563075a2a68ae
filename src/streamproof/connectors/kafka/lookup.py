"""A topic as a table that rows are looked up in: of each key the newest record counts."""

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from streamproof.connectors.kafka.reading import TIMEOUTS, ends_now
from streamproof.stream.looked_up import TableRows
from streamproof.stream.names import CORRUPT, LOOKED_UP, NUMBER, quoted

if TYPE_CHECKING:
    from streamproof.config import KafkaTable

_OFFSET, _GONE = f"{LOOKED_UP}offset", f"{LOOKED_UP}gone"


def records_of_topic(spark: SparkSession, name: str, table: "KafkaTable") -> TableRows:
    """The committed records of a topic, from its beginning to where it ends now; what does not fit the schema is counted and left out.

    Raises
    ------
    StreamproofError
        If no broker answers, the topic is not there, or the broker refuses us.
    """
    ends = ends_now(spark, f"[table.{name}]", table, committed=True)
    asked = {**TIMEOUTS, **table.options, "bootstrap.servers": table.servers, "isolation.level": "read_committed"}
    reader = spark.read.format("kafka").options(**{f"kafka.{key}": value for key, value in asked.items()})
    return table_of(reader.options(subscribe=table.topic, startingOffsets="earliest", endingOffsets=ends).load(), table)


def table_of(records: DataFrame, table: "KafkaTable") -> TableRows:
    """The rows of a table from records (key and value, binary; offset, bigint); what does not fit the schema is counted and left out."""
    columns = StructType.fromDDL(table.schema_ddl)
    fields = [*getattr(columns, "fields", ()), StructField(CORRUPT, StringType())]
    how = {"columnNameOfCorruptRecord": CORRUPT, "mode": "PERMISSIVE"}
    value = F.from_json(F.col("value").cast("string"), StructType(fields), how)
    gone, offset = F.col("value").isNull().alias(_GONE), F.col("offset").alias(_OFFSET)
    taken = records.select(F.col("key").cast("string").alias("key"), gone, offset, value.alias("record"))
    types = {field.name: field.dataType for field in fields}
    of_key = F.coalesce(F.col(f"record.{quoted(table.key)}"), F.col("key").try_cast(types[table.key]))
    shown = [of_key.alias(column) if column == table.key else F.col(f"record.{quoted(column)}") for column in types]
    parsed = taken.select(*shown, F.col(quoted(_GONE)), F.col(quoted(_OFFSET)))
    fits = F.col(quoted(table.key)).isNotNull() & F.col(CORRUPT).isNull()
    return TableRows(
        parsed.where(fits).drop(CORRUPT), fold=lambda rows: _newest(rows, table.key), unread=parsed.where(~fits).count()
    )


def _newest(records: DataFrame, key: str) -> DataFrame:
    """Of each key the newest record, where it has a value."""
    order = Window.partitionBy(quoted(key)).orderBy(F.col(quoted(_OFFSET)).desc())
    newest = records.withColumn(NUMBER, F.row_number().over(order)).where((F.col(NUMBER) == 1) & ~F.col(quoted(_GONE)))
    return newest.select(*[quoted(name) for name in records.columns if name not in (_GONE, _OFFSET)])
