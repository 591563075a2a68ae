"""The mistake: both streams have a watermark, and the condition of their join says nothing of time."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def paid_clicks(clicks: DataFrame, payments: DataFrame) -> DataFrame:
    left = clicks.select("click", "user", F.to_timestamp("at").alias("clicked")).withWatermark("clicked", "20 seconds")
    right = payments.select("click", "amount", F.to_timestamp("at").alias("paid")).withWatermark("paid", "20 seconds")
    return left.join(right, "click")
