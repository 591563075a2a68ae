"""q21: bids with the id of their channel."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import FAST, Query

IN_URL = "nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '')"
"""Spark's function gives an empty text where nothing is found, Flink's a null."""
CHANNEL_ID = f"""CASE lower(channel)
    WHEN 'apple' THEN '0'
    WHEN 'google' THEN '1'
    WHEN 'facebook' THEN '2'
    WHEN 'baidu' THEN '3'
    ELSE {IN_URL}
END"""
WANTED = f"{IN_URL} IS NOT NULL OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')"


def identified(bids: DataFrame) -> DataFrame:
    return bids.withColumn("channel_id", F.expr(CHANNEL_ID)).drop("url")


@sp.job
def q21(bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=bids.filter(WANTED, name="without an id").transform(identified))


def by_hand(bids: DataFrame) -> DataFrame:
    return identified(bids.filter(WANTED))


QUERY = Query(
    "q21",
    "Add channel id: bids with the id of their channel.",
    {"bids": ("auction", "bidder", "price", "channel", "url")},
    q21,
    by_hand,
    timed=False,
    events=FAST,
)
