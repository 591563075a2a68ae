"""Right: the rows of a batch are written first, and then it is committed how far the job has read."""

import sqlite3

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def clicks(spark: SparkSession, database: str) -> None:
    def write(records: DataFrame, batch: int) -> None:
        ends = {row["partition"]: row["end"] for row in records.groupBy("partition").agg(F.max("offset").alias("end")).collect()}
        if ends.items() <= committed(database).items():
            return  # a batch that runs again
        records.select("key", "value").write.mode("overwrite").parquet(f"/lake/clicks/batch={batch}")
        commit(database, ends)

    topic = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "kafka:9092").option("subscribe", "clicks").load()
    topic.writeStream.foreachBatch(write).option("checkpointLocation", "/lake/checkpoints/clicks").start().awaitTermination()


def committed(database: str) -> dict[int, int]:
    with sqlite3.connect(database) as offsets:
        offsets.execute("CREATE TABLE IF NOT EXISTS offsets (partition INTEGER PRIMARY KEY, committed INTEGER)")
        return dict(offsets.execute("SELECT partition, committed FROM offsets"))


def commit(database: str, ends: dict[int, int]) -> None:
    with sqlite3.connect(database) as offsets:
        offsets.executemany("INSERT OR REPLACE INTO offsets VALUES (?, ?)", ends.items())
