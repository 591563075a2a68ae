"""Right: what each user has paid so far is in Spark's state, and in the checkpoint with the offsets."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def spending(clicks: DataFrame) -> None:
    def publish(totals: DataFrame, _: int) -> None:
        totals.write.mode("overwrite").parquet("/lake/spending")

    paid = clicks.where("page = '/pay'").select("user", F.round(F.col("price") * 100).cast("bigint").alias("cents"))
    totals = paid.groupBy("user").agg(F.sum("cents").alias("cents"))
    writer = totals.writeStream.outputMode("complete").foreachBatch(publish)
    writer.option("checkpointLocation", "/lake/checkpoints/spending").start().awaitTermination()
