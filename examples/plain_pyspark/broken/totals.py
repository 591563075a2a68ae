"""The same with a mistake: the totals of a batch are appended to a folder, so that one that runs again is there twice."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def so_far(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    payments, cents = state.get if state.exists else (0, 0)
    for frame in frames:
        payments, cents = payments + len(frame), cents + int(frame["cents"].sum())
    state.update((payments, cents))
    yield pd.DataFrame({"user": [key[0]], "payments": [payments], "cents": [cents]})


def totals(clicks: DataFrame) -> None:
    paid = clicks.where("page = '/pay'").withColumn("cents", F.round(F.col("price") * 100).cast("bigint"))
    row = "user string, payments bigint, cents bigint"
    found = paid.groupBy("user").applyInPandasWithState(so_far, row, "payments bigint, cents bigint", "update", "NoTimeout")
    writer = found.writeStream.outputMode("update").foreachBatch(lambda rows, _: rows.write.mode("append").parquet("/data/totals"))
    writer.option("checkpointLocation", "/data/checkpoints/totals").start()
