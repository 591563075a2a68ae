"""What is known of each account: the newest word counts, however late an older one comes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import streamproof as sp


def as_facts(changes: DataFrame) -> DataFrame:
    return changes.withColumns({"version": F.unix_micros("ts"), "closed": F.col("status") == "closed"})


@sp.job
def facts(changes: sp.Stream) -> sp.Outputs:
    """One fact a change; those that close an account are tombstones."""
    checked = changes.require(account="account is not null")
    return sp.Outputs(accounts=checked.transform(as_facts), rejected=checked.rejected)
