"""The same with a mistake: clicks are counted by the second in which they are read, not by their own time."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def click_sessions(clicks: DataFrame) -> DataFrame:
    """Clicks per user and second."""
    read = clicks.withColumn("at", F.current_timestamp())
    return (
        read.groupBy("user", F.window("at", "1 second")).agg(F.count("*").alias("clicks")).select("user", "window.start", "clicks")
    )
