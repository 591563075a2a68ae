"""Clicks per minute to Parquet, as a script for spark-submit: a window over a watermark, and Spark's own file sink."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

if __name__ == "__main__":
    spark = SparkSession.builder.appName("minutes").getOrCreate()
    clicks = spark.readStream.schema("click string, user string, page string, price double, at timestamp").json("s3a://lake/clicks")
    minutes = clicks.withWatermark("at", "20 seconds").groupBy(F.window("at", "1 minute")).agg(F.count("*").alias("clicks"))
    query = (
        minutes.select("window.start", "clicks")
        .writeStream.format("parquet")
        .option("path", "s3a://lake/minutes")
        .option("checkpointLocation", "s3a://lake/checkpoints/minutes")
        .start()
    )
    query.awaitTermination()
