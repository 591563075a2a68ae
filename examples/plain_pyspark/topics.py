"""Clicks per page from Kafka, JSON in the value, back to Kafka: a program with brokers of production in it."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.appName("pages").master("yarn").config("spark.sql.shuffle.partitions", "200").getOrCreate()
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", "kafka-1.production.example:9092")
        .option("subscribe", "clicks")
        .option("startingOffsets", "earliest")
        .load()
    )
    clicks = records.select(
        F.from_json(F.col("value").cast("string"), "user string, page string, price double, at timestamp").alias("c")
    )
    pages = (
        clicks.select("c.*")
        .withWatermark("at", "20 seconds")
        .groupBy(F.window("at", "30 seconds"), "page")
        .agg(F.count("*").alias("clicks"))
    )
    rows = pages.select(F.col("page").alias("key"), F.to_json(F.struct("window", "page", "clicks")).alias("value"))
    (
        rows.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", "kafka-1.production.example:9092")
        .option("topic", "pages")
        .option("checkpointLocation", "hdfs://production/checkpoints/pages")
        .trigger(processingTime="10 seconds")
        .start()
        .awaitTermination()
    )
