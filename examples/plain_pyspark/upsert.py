"""Spending per customer, kept in SQLite: a stream joined with a table, each batch upserted by `foreachBatch`."""

import sqlite3

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SCHEMA = "click string, user string, page string, price double, at timestamp"


def spending(spark: SparkSession, database: str, customers: DataFrame) -> None:
    clicks = spark.readStream.format("json").schema(SCHEMA).load("/data/clicks")
    spent = (
        clicks.join(customers, "user")
        .groupBy("country")
        .agg(F.count("*").alias("clicks"), F.round(F.sum("price"), 2).alias("spent"))
    )

    def upsert(rows: DataFrame, _: int) -> None:
        found = [(row["country"], row["clicks"], row["spent"]) for row in rows.collect()]
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS spending (country TEXT PRIMARY KEY, clicks INTEGER, spent REAL)")
            connection.executemany(
                "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (country) DO UPDATE SET clicks = excluded.clicks, spent = excluded.spent",
                found,
            )

    query = (
        spent.writeStream.outputMode("update")
        .foreachBatch(upsert)
        .option("checkpointLocation", "/data/checkpoints/spending")
        .start()
    )
    query.awaitTermination()


def read_spending(database: str) -> list[tuple[str, int, float]]:
    """What is in the table: the proof asks for it by --read spending=upsert:read_spending."""
    with sqlite3.connect(database) as connection:
        return list(connection.execute("SELECT country, clicks, spent FROM spending"))
