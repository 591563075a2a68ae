"""Clicks from a table of Delta Lake, spending per batch to another one, once, by `foreachBatch` with `txnAppId`."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def clicks_of(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("delta").option("ignoreDeletes", "true").load("/lake/clicks")


def spending(spark: SparkSession) -> None:
    def add(rows: DataFrame, batch: int) -> None:
        spent = rows.groupBy("user").agg(F.round(F.sum("price"), 2).alias("spent")).withColumn("batch", F.lit(batch))
        once = spent.write.format("delta").option("txnAppId", "spending").option("txnVersion", batch)
        once.mode("append").save("/lake/spending")

    writer = clicks_of(spark).writeStream.foreachBatch(add).option("checkpointLocation", "/lake/_checkpoints/spending")
    writer.start().awaitTermination()
