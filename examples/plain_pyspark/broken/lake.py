"""The same with a mistake: each batch is appended to a table without txnAppId and txnVersion, so that one that runs again is there twice."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def clicks_of(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("delta").option("ignoreDeletes", "true").load("/lake/clicks")


def spending(spark: SparkSession) -> None:
    def add(rows: DataFrame, batch: int) -> None:
        spent = rows.groupBy("user").agg(F.round(F.sum("price"), 2).alias("spent")).withColumn("batch", F.lit(batch))
        spent.write.format("delta").mode("append").save("/lake/spending")

    writer = clicks_of(spark).writeStream.foreachBatch(add).option("checkpointLocation", "/lake/_checkpoints/spending")
    writer.start().awaitTermination()
