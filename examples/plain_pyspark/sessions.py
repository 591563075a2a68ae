"""Sessions of clicks, as any PySpark team writes them: nothing here knows Streamproof."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def click_sessions(clicks: DataFrame) -> DataFrame:
    """Clicks per user and session; a session ends after 30 seconds without a click."""
    events = clicks.withColumn("at", F.to_timestamp("at")).withWatermark("at", "20 seconds")
    sessions = events.groupBy("user", F.session_window("at", "30 seconds")).agg(
        F.count("*").alias("clicks"), F.sum("price").alias("spent")
    )
    return sessions.select("user", "session_window.start", "session_window.end", "clicks", "spent")
