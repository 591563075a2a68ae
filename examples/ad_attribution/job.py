"""Ad attribution: a purchase is credited to the last ad that its buyer was shown in the 24 hours before it."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def as_touch(impressions: DataFrame) -> DataFrame:
    """Impressions with the columns of purchases: the union needs them."""
    nothing = F.lit(None)
    return impressions.withColumns({"kind": F.lit("ad"), "purchase": nothing.cast("string"), "euros": nothing.cast("decimal(9,2)")})


def as_conversion(purchases: DataFrame) -> DataFrame:
    """Purchases with the columns of impressions."""
    nothing = F.lit(None).cast("string")
    return purchases.withColumns({"kind": F.lit("purchase"), "impression": nothing, "campaign": nothing})


@sp.job
def ad_attribution(impressions: sp.Stream, purchases: sp.Stream) -> sp.Outputs:
    """A purchase leaves when both streams are at its instant: an ad that comes after it can still be credited."""
    sold = purchases.require(euros="euros > 0")
    both = impressions.transform(as_touch).union(sold.transform(as_conversion))
    attributed = sp.patterns.attribution(
        both,
        "user",
        time="at",
        touch=sp.patterns.event("kind = 'ad'", impression="string", campaign="string"),
        conversion=sp.patterns.event("kind = 'purchase'", purchase="string", euros="decimal(9,2)"),
        within="24 hours",
        credit="last",
        at_most=1000,
    )
    return sp.Outputs(
        attributed=attributed,
        unattributed=attributed.tagged("unattributed"),
        late=attributed.late,
        rejected=attributed.rejected,
    )
