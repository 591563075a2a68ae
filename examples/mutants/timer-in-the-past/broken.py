"""The mistake: the timeout of a visit counts from its first click, and is set again with each further one, however late that comes."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

MINUTE_MS = 60_000


def visit(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """A row for each visit: the clicks of a user within a minute of the first one."""
    if state.hasTimedOut:
        began, clicks = state.get
        state.remove()
        yield pd.DataFrame({"user": [key[0]], "began": [began], "clicks": [clicks]})
        return
    times = [int(at) for frame in frames for at in frame["millis"]]
    began, clicks = state.get if state.exists else (min(times), 0)
    state.update((began, clicks + len(times)))
    state.setTimeoutTimestamp(began + MINUTE_MS)


def visits(clicks: DataFrame) -> DataFrame:
    timed = clicks.withColumn("at", F.to_timestamp("at")).withWatermark("at", "20 seconds").where("user IS NOT NULL")
    row = "user string, began bigint, clicks bigint"
    given = timed.withColumn("millis", F.unix_millis("at")).groupBy("user")
    return given.applyInPandasWithState(visit, row, "began bigint, clicks bigint", "append", "EventTimeTimeout")
