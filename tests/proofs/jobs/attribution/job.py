"""Which ad led to which purchase: two sources with clocks of their own in one stream, and the last ad within three minutes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def as_touch(impressions: DataFrame) -> DataFrame:
    return impressions.withColumn("kind", F.lit("ad")).withColumn("amount", F.lit(None).cast("double"))


def as_conversion(purchases: DataFrame) -> DataFrame:
    return purchases.withColumn("kind", F.lit("buy")).withColumn("ad", F.lit(None).cast("string"))


@sp.job
def attributed_purchases(impressions: sp.Stream, purchases: sp.Stream) -> sp.Outputs:
    """A purchase leaves when both streams are at its instant."""
    both = impressions.transform(as_touch).union(purchases.transform(as_conversion)).require(amount="kind = 'ad' OR amount > 0")
    attributed = sp.patterns.attribution(
        both,
        "user",
        time="at",
        touch=sp.patterns.event("kind = 'ad'", ad="string"),
        conversion=sp.patterns.event("kind = 'buy'", id="string", amount="double"),
        within="3 minutes",
        at_most=100,
    )
    return sp.Outputs(
        attributed=attributed, unattributed=attributed.tagged("unattributed"), late=attributed.late, rejected=both.rejected
    )
