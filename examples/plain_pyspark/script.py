"""A script as for spark-submit: clicks that cost money, to Parquet by day."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

if __name__ == "__main__":
    least = float(sys.argv[1])
    spark = SparkSession.builder.appName("paid clicks").getOrCreate()
    clicks = spark.readStream.schema("click string, user string, page string, price double, at timestamp").json("s3a://lake/clicks")
    paid = clicks.where(F.col("price") >= least).withColumn("day", F.to_date("at"))
    query = (
        paid.writeStream.format("parquet")
        .option("path", "s3a://lake/paid")
        .option("checkpointLocation", "s3a://lake/checkpoints/paid")
        .partitionBy("day")
        .start()
    )
    print("started", query.id)
    query.awaitTermination()
