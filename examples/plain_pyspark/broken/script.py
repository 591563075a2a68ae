"""The same with a mistake: a batch's rows are numbered on from what the driver has counted so far."""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

if __name__ == "__main__":
    least = float(sys.argv[1])
    spark = SparkSession.builder.appName("paid clicks").getOrCreate()
    clicks = spark.readStream.schema("click string, user string, page string, price double, at timestamp").json("s3a://lake/clicks")
    written = {"rows": 0}

    def write(rows: DataFrame, batch: int) -> None:
        written["rows"] += rows.count()
        rows.withColumn("so_far", F.lit(written["rows"])).write.mode("overwrite").json(f"s3a://lake/paid/batch={batch}")

    writer = clicks.where(F.col("price") >= least).writeStream.foreachBatch(write)
    writer.option("checkpointLocation", "s3a://lake/checkpoints/paid").start().awaitTermination()
