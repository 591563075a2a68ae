"""What q15, q16 and q17 share: days as a column, the query by hand, and counts of bids and of who made them by level of price."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.nexmark.query import LAG

LEVELS: Mapping[str, str] = {
    "total": "true",
    "rank1": "price < 10000",
    "rank2": "price >= 10000 AND price < 1000000",
    "rank3": "price >= 1000000",
}


def bids_of_levels() -> dict[str, Column]:
    return {f"{level}_bids": F.count_if(F.expr(wanted)) for level, wanted in LEVELS.items()}


def distinct_of_levels(name: str) -> dict[str, Column]:
    """How many different values a column has among the bids of each level."""
    return {
        f"{level}_{name}s": F.size(F.collect_set(F.expr(f"CASE WHEN {wanted} THEN {name} END"))) for level, wanted in LEVELS.items()
    }


def dated(days: DataFrame) -> DataFrame:
    """Windows of a day with the day as a text in the place of their bounds."""
    return days.withColumn("day", F.date_format("window_start", "yyyy-MM-dd")).drop("window_start", "window_end")


def by_day(bids: DataFrame, aggregates: Mapping[str, Column], *key: str) -> DataFrame:
    """The query by hand."""
    named = [column.alias(name) for name, column in aggregates.items()]
    days = bids.withWatermark("dateTime", LAG).groupBy(F.window("dateTime", "1 day").alias("of"), *key).agg(*named)
    return dated(days.select(*key, F.col("of.start").alias("window_start"), *aggregates))
