"""Files of lines that are no JSON: CSV and text. What is no record keeps its bytes and says why."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof.connectors import json_records
from streamproof.stream.names import CORRUPT, ORIGINAL, PROBLEM, TRACE, quoted

_BYTES = "_csv_original"
_NO_UTF8 = "bytes that are not UTF-8"


def of_csv(rows: DataFrame, schema: StructType, *, lenient: bool) -> DataFrame:
    """What a reader of CSV reads, with the columns of `schema`, `_problem` (why a record does not fit; null of the others) and `_original`."""
    apart = rows.select("json", F.col("original").alias(_BYTES), F.col("problem").alias(PROBLEM))
    parsed = json_records.parsed(apart, F.col("json"), schema, (_BYTES, PROBLEM), lenient=lenient)
    unread = F.when(F.col(PROBLEM).isNotNull(), F.col(PROBLEM)).otherwise(F.col(CORRUPT))
    columns = [F.col(quoted(name)) for name in schema.names]
    return parsed.select(*columns, unread.alias(PROBLEM), F.col(_BYTES).alias(ORIGINAL))


def of_text(rows: DataFrame, schema: StructType) -> DataFrame:
    """Lines (`value`, string) as the one column of `schema`; in proofs the trace id stands in front of a line, with a tab behind it."""
    line = F.col("value")
    problem = F.when(~F.is_valid_utf8(line), F.lit(_NO_UTF8))
    if TRACE not in schema.names:
        return rows.select(line.alias(schema.names[0]), problem.alias(PROBLEM), line.alias(ORIGINAL))
    text = next(name for name in schema.names if name != TRACE)
    behind = F.expr("substring(value, instr(value, '\t') + 1)")
    return rows.select(
        F.substring_index(line, "\t", 1).alias(TRACE), behind.alias(text), problem.alias(PROBLEM), line.alias(ORIGINAL)
    )
