"""The same with a mistake: pages get the number of the driver's start, drawn anew by each one."""

import uuid

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.appName("pages").getOrCreate()
    run = uuid.uuid4().hex
    records = (
        spark.readStream.format("kafka").option("kafka.bootstrap.servers", "kafka-1:9092").option("subscribe", "clicks").load()
    )
    clicks = records.select(
        F.from_json(F.col("value").cast("string"), "user string, page string, price double, at timestamp").alias("c")
    )
    rows = clicks.select(F.col("c.page").alias("key"), F.concat_ws(":", F.lit(run), "c.user").alias("value"))
    writer = rows.writeStream.format("kafka").option("topic", "pages").option("kafka.bootstrap.servers", "kafka-1:9092")
    writer.option("checkpointLocation", "hdfs://production/checkpoints/pages").start().awaitTermination()
