"""Suspicious payments, by rules that change while the job runs."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def as_text(payments: DataFrame) -> DataFrame:
    failed = F.concat_ws(",", "hits_failed").alias("failed")
    return payments.withColumn("hits", F.concat_ws(",", "hits")).select("*", failed).drop("hits_failed")


@sp.job
def fraud(payments: sp.Stream) -> sp.Outputs:
    """A payment that no rule holds for is harmless."""
    checked = payments.require(amount="amount > 0").rules("fraud_rules", rule="rule", when="condition", into="hits")
    suspicious = checked.filter("size(hits) > 0", name="harmless").transform(as_text)
    return sp.Outputs(suspicious=suspicious, rejected=suspicious.rejected)
