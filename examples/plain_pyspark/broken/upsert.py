"""The same with a mistake: each batch is added to what is there, so that one that runs again counts twice."""

import sqlite3

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SCHEMA = "click string, user string, page string, price double, at timestamp"


def spending(spark: SparkSession, database: str, customers: DataFrame) -> None:
    clicks = spark.readStream.format("json").schema(SCHEMA).load("/data/clicks")
    joined = clicks.join(customers, "user")

    def upsert(rows: DataFrame, _: int) -> None:
        spent = rows.groupBy("country").agg(F.count("*").alias("clicks"), F.round(F.sum("price"), 2).alias("spent"))
        found = [(row["country"], row["clicks"], row["spent"]) for row in spent.collect()]
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS spending (country TEXT PRIMARY KEY, clicks INTEGER, spent REAL)")
            connection.executemany(
                "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (country) DO UPDATE SET clicks = clicks + excluded.clicks, spent = spent + excluded.spent",
                found,
            )

    query = joined.writeStream.foreachBatch(upsert).option("checkpointLocation", "/data/checkpoints/spending").start()
    query.awaitTermination()


def read_spending(database: str) -> list[tuple[str, int, float]]:
    """What is in the table: the proof asks for it by --read spending=upsert:read_spending."""
    with sqlite3.connect(database) as connection:
        return list(connection.execute("SELECT country, clicks, spent FROM spending"))
