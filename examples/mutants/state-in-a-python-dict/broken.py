"""The mistake: what each user has paid so far is kept in a dict of the driver."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

PAID: dict[str, int] = {}


def spending(clicks: DataFrame) -> None:
    def publish(rows: DataFrame, _: int) -> None:
        for row in rows.groupBy("user").agg(F.sum("cents").alias("cents")).collect():
            PAID[row["user"]] = PAID.get(row["user"], 0) + row["cents"]
        totals = rows.sparkSession.createDataFrame(sorted(PAID.items()), "user string, cents bigint")
        totals.write.mode("overwrite").parquet("/lake/spending")

    paid = clicks.where("page = '/pay'").select("user", F.round(F.col("price") * 100).cast("bigint").alias("cents"))
    paid.writeStream.foreachBatch(publish).option("checkpointLocation", "/lake/checkpoints/spending").start().awaitTermination()
