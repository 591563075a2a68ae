"""Which events rows are of, in a proof: what windows add up of their rows."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


def trace_hash(trace: "Column") -> "Column":
    """40 bits of the MD5 of the event id (the trace id up to a "+"), bigint; sums of up to 8 million stay exact."""
    from pyspark.sql import functions as F

    event = F.substring_index(trace, "+", 1)
    return F.conv(F.substring(F.md5(event.cast("binary")), 1, 10), 16, 10).cast("bigint")
