"""Trades in euros, by a rate that is read when the job starts: the mistake is that it may change before a restart."""

from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp

RATE = Path(__file__).with_name("rate.txt")


def in_euros(rows: DataFrame) -> DataFrame:
    """The same rows with the notional in euros, by a function that runs in Python workers."""
    rate = float(RATE.read_text())
    return rows.withColumn("notional", F.udf(partial(times, rate), "double")("notional"))


def times(rate: float, notional: float) -> float:
    """An amount in another currency."""
    return rate * notional


@sp.job
def converted(trades: sp.Stream) -> sp.Outputs:
    """Every trade, its notional in euros."""
    return sp.Outputs(euros=trades.transform(in_euros))
