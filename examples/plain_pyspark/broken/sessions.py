"""The same with a mistake: sessions by the hour in which a click is read, not by its own time."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def click_sessions(clicks: DataFrame) -> DataFrame:
    """Clicks per user and session."""
    events = clicks.withColumn("at", F.current_timestamp()).withWatermark("at", "0 seconds")
    sessions = events.groupBy("user", F.session_window("at", "1 second")).agg(F.count("*").alias("clicks"))
    return sessions.select("user", "session_window.start", "session_window.end", "clicks")
