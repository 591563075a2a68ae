"""Right: a payment belongs to a click if it follows within five minutes, so each row is forgotten after that."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def paid_clicks(clicks: DataFrame, payments: DataFrame) -> DataFrame:
    left = clicks.select("click", "user", F.to_timestamp("at").alias("clicked")).withWatermark("clicked", "20 seconds").alias("c")
    right = payments.select("click", "amount", F.to_timestamp("at").alias("paid")).withWatermark("paid", "20 seconds").alias("p")
    follows = F.expr("c.click = p.click AND paid BETWEEN clicked AND clicked + INTERVAL 5 MINUTES")
    return left.join(right, follows).select("c.click", "user", "clicked", "amount", "paid")
