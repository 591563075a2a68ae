"""What q15, q16 and q17 count: bids of three levels of price, and who made them."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

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
