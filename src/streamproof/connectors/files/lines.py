"""Files of lines that are no JSON: CSV and text. What is no record keeps its bytes and says why."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof.connectors import json_records
from streamproof.stream.names import CORRUPT, ORIGINAL, PROBLEM, TRACE, quoted

_BYTES = "_csv_original"
_NO_UTF8 = "bytes that are not UTF-8"


def of_csv(rows: DataFrame, schema: StructType, beside: Sequence[str] = (), *, lenient: bool) -> DataFrame:
    """What a reader of CSV reads, with the columns of `schema`, `_problem` (why a record does not fit; null of the others) and `_original`."""
    apart = rows.select("json", F.col("original").alias(_BYTES), F.col("problem").alias(PROBLEM), *beside)
    parsed = json_records.parsed(apart, F.col("json"), schema, (_BYTES, PROBLEM, *beside), lenient=lenient)
    unread = F.when(F.col(PROBLEM).isNotNull(), F.col(PROBLEM)).otherwise(F.col(CORRUPT))
    columns = [F.col(quoted(name)) for name in schema.names]
    return parsed.select(*columns, *beside, unread.alias(PROBLEM), F.col(_BYTES).alias(ORIGINAL))


def of_text(rows: DataFrame, schema: StructType, beside: Sequence[str] = ()) -> DataFrame:
    """Lines (`value`, string) as the first column of `schema`, the others null; in proofs the trace id stands in front of a line, with a tab after it."""
    line = F.col("value")
    problem = F.when(~F.is_valid_utf8(line), F.lit(_NO_UTF8))
    text = next(name for name in schema.names if name != TRACE)
    values = {
        TRACE: F.substring_index(line, "\t", 1),
        text: F.expr("substring(value, instr(value, '\t') + 1)") if TRACE in schema.names else line,
    }
    columns = [values.get(field.name, F.lit(None).cast(field.dataType)).alias(field.name) for field in schema.fields]
    return rows.select(*columns, *beside, problem.alias(PROBLEM), line.alias(ORIGINAL))
