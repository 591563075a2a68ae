"""The same with a mistake: each batch of pairs is appended to a folder, so that one that runs again is there twice."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def paid_clicks(clicks: DataFrame, payments: DataFrame) -> None:
    left = clicks.select("click", "user", F.to_timestamp("at").alias("clicked")).withWatermark("clicked", "20 seconds").alias("c")
    right = payments.select("click", "amount", F.to_timestamp("at").alias("paid")).withWatermark("paid", "20 seconds").alias("p")
    within = F.expr("c.click = p.click AND paid BETWEEN clicked AND clicked + INTERVAL 1 MINUTE")
    pairs = left.join(right, within, "leftOuter").select("c.click", "user", "clicked", "amount", "paid")
    writer = pairs.writeStream.foreachBatch(lambda rows, _: rows.write.mode("append").parquet("/data/pairs"))
    writer.option("checkpointLocation", "/data/checkpoints/pairs").start()
