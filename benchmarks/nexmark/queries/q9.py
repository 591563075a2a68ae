"""q9: the winning bid of each auction."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.query import LAG, Query

AUCTION = "STRUCT<itemName: STRING, initialBid: BIGINT, reserve: BIGINT, dateTime: TIMESTAMP, expires: TIMESTAMP, seller: BIGINT, category: BIGINT>"
OFFER = "STRUCT<price: BIGINT, before: BIGINT, bidder: BIGINT>"
"""What is greater wins: a higher price, else an earlier time."""
ITEM = ("itemName", "initialBid", "reserve", "expires", "seller", "category")
IN_TIME = "-one.before BETWEEN unix_micros({auction}.dateTime) AND unix_micros({auction}.expires)"


def as_auctions(rows: DataFrame) -> DataFrame:
    struct = F.struct("itemName", "initialBid", "reserve", "dateTime", "expires", "seller", "category").alias("auction")
    return rows.select("*", struct, F.expr(f"CAST(NULL AS {OFFER})").alias("offer")).drop(*ITEM)


def as_offers(rows: DataFrame) -> DataFrame:
    offer = F.struct("price", (-F.unix_micros("dateTime")).alias("before"), "bidder").alias("offer")
    made = rows.withColumnRenamed("auction", "id").select("*", offer, F.expr(f"CAST(NULL AS {AUCTION})").alias("auction"))
    return made.drop("price", "bidder")


def won(auctions: sp.Stream, bids: sp.Stream) -> sp.Stream:
    first_offers = f"filter(early, one -> {IN_TIME.format(auction='auction')})"
    one_offer = f"filter(array(offer), one -> {IN_TIME.format(auction='held')})"
    return auctions.union(bids).keyed(
        "id",
        state={
            "held": f"CAST(NULL AS {AUCTION})",
            "best": f"CAST(NULL AS {OFFER})",
            "early": sp.list_of(OFFER, at_most=1_000),
        },
        on_row=sp.step(
            set={
                "held": "coalesce(held, auction)",
                "best": f"CASE WHEN held IS NOT NULL AND offer IS NOT NULL THEN greatest(best, get({one_offer}, 0)) "
                f"WHEN auction IS NOT NULL THEN greatest(best, array_max({first_offers})) ELSE best END",
                "early": "CASE WHEN held IS NULL AND offer IS NOT NULL THEN array_append(early, offer) ELSE filter(early, one -> false) END",
                "over": "coalesce(over, auction.expires)",
            }
        ),
        on_timer={
            "over": sp.step(
                emit=sp.emit(
                    "id",
                    *[f"held.{name} AS {name}" for name in ("dateTime", *ITEM)],
                    "best.bidder AS bidder",
                    "best.price AS price",
                    "timestamp_micros(-best.before) AS bid_dateTime",
                    when="best IS NOT NULL",
                )
            )
        },
        ttl="1 minute",
    )


@sp.job
def q9(auctions: sp.Stream, bids: sp.Stream) -> sp.Outputs:
    return sp.Outputs(out=won(auctions.transform(as_auctions), bids.transform(as_offers)))


def by_hand(auctions: DataFrame, bids: DataFrame) -> DataFrame:
    sold = auctions.withWatermark("dateTime", LAG)
    offers = bids.withWatermark("dateTime", LAG).withColumnRenamed("dateTime", "at")
    within = "id = auction AND at BETWEEN dateTime AND dateTime + INTERVAL 1 MINUTE"
    met = sold.join(offers, F.expr(within)).filter("at <= expires")
    offer = F.struct("price", (-F.unix_micros("at")).alias("before"), "bidder")
    best = (
        met.select("id", "dateTime", *ITEM, offer.alias("offer")).groupBy("id", "dateTime", *ITEM).agg(F.max("offer").alias("best"))
    )
    at = F.timestamp_micros(-F.col("best.before")).alias("bid_dateTime")
    return best.select("id", "dateTime", *ITEM, "best.bidder", "best.price", at)


QUERY = Query(
    "q9",
    "Winning bids: the highest bid of each auction while it was open, of equal ones the first.",
    {
        "auctions": ("id", "itemName", "initialBid", "reserve", "dateTime", "expires", "seller", "category"),
        "bids": ("auction", "bidder", "price", "dateTime"),
    },
    q9,
    by_hand,
    differs="When the auction is over, and final; without the long texts. Declared state with a timer here, by hand a join within a minute "
    "and an aggregation after it; no auction lasts as long.",
)
