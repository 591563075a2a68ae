"""Clicks from a table of Delta Lake to two others: those that cost money by a stream's sink, spending per batch by `foreachBatch`."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def clicks_of(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("delta").option("ignoreDeletes", "true").load("/lake/clicks")


def paid(spark: SparkSession) -> None:
    clicks = clicks_of(spark).where("price > 0").withColumn("day", F.to_date("at"))
    checkpoint = clicks.writeStream.format("delta").option("checkpointLocation", "/lake/_checkpoints/paid")
    checkpoint.partitionBy("day").start("/lake/paid").awaitTermination()


def spending(spark: SparkSession) -> None:
    def add(rows: DataFrame, batch: int) -> None:
        spent = rows.groupBy("user").agg(F.round(F.sum("price"), 2).alias("spent")).withColumn("batch", F.lit(batch))
        once = spent.write.format("delta").option("txnAppId", "spending").option("txnVersion", batch)
        once.mode("append").save("/lake/spending")

    writer = clicks_of(spark).writeStream.foreachBatch(add).option("checkpointLocation", "/lake/_checkpoints/spending")
    writer.start().awaitTermination()
