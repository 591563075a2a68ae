"""Clicks with the payment that followed within a minute, or without one: an outer join of two streams."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def paid_clicks(clicks: DataFrame, payments: DataFrame) -> DataFrame:
    left = clicks.select("click", "user", F.to_timestamp("at").alias("clicked")).withWatermark("clicked", "20 seconds").alias("c")
    right = payments.select("click", "amount", F.to_timestamp("at").alias("paid")).withWatermark("paid", "20 seconds").alias("p")
    within = F.expr("c.click = p.click AND paid BETWEEN clicked AND clicked + INTERVAL 1 MINUTE")
    return left.join(right, within, "leftOuter").select("c.click", "user", "clicked", "amount", "paid")
