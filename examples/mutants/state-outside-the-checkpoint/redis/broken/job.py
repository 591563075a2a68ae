"""The mistake: the total of each shop and minute is kept in Redis, and every payment that a task sees is added to it."""

import os
from collections.abc import Iterator

import pyarrow as pa
import redis
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StructField, StructType

import streamproof as sp

STORE = os.environ.get("TOTALS_REDIS", "redis://localhost:6379/1")
_MINUTE_US = 60_000_000


def added(payments: DataFrame) -> DataFrame:
    """The same rows, each with the total of its shop and minute so far."""
    return payments.mapInArrow(add, StructType([*payments.schema, StructField("so_far", DoubleType())]))


def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Adds the amounts of a task's payments to what Redis holds; a task that runs again adds them again."""
    with redis.Redis.from_url(STORE) as store:
        for batch in batches:
            pipeline = store.pipeline(transaction=False)
            for shop, at, amount in zip(*(batch.column(name) for name in ("shop", "at", "amount")), strict=True):
                pipeline.hincrbyfloat(f"total:{shop}", str(at.value // _MINUTE_US), amount.as_py())
            yield batch.append_column("so_far", pa.array(pipeline.execute(), pa.float64()))


@sp.job
def takings(payments: sp.Stream) -> sp.Outputs:
    """What each shop takes per minute: the greatest of the totals of its payments."""
    totals = payments.transform(added)
    per_minute = totals.window(sp.tumbling("1 minute"), by="shop").aggregate(total=F.max("so_far"), payments=F.count("*"))
    return sp.Outputs(takings=per_minute, late=per_minute.late)
