"""What brands sell, in euros: a price list that changes while the job runs, and rates as of the time of the order."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def with_euros(orders: DataFrame) -> DataFrame:
    return orders.withColumn("euros", (F.col("amount") * F.col("price") * F.col("rate")).cast("decimal(20,4)"))


@sp.job
def sales(orders: sp.Stream) -> sp.Outputs:
    """An order whose product has no price, or whose currency had no rate then, is unmatched."""
    checked = orders.require(amount="amount > 0")
    priced = checked.lookup("prices", on={"product": "sku"}, columns=("price", "brand"))
    converted = priced.lookup("rates", on="currency", columns="rate", as_of="ts").transform(with_euros)
    sales = converted.window(sp.tumbling("1 minute"), by="brand").aggregate(euros=F.sum("euros"), orders=F.count("*"))
    return sp.Outputs(sales=sales, unmatched=sales.unmatched, late=sales.late, rejected=sales.rejected)
