"""Right: where the watermark has passed the end of a visit, the visit ends first, and the clicks that came begin another one."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

MINUTE_MS = 60_000


def visit(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """A row for each visit: the clicks of a user within a minute of the first one."""
    times = sorted(int(at) for frame in frames for at in frame["millis"])
    began, clicks = state.get if state.exists else (None, 0)
    for at in times:
        if began is not None and at >= began + MINUTE_MS:
            yield pd.DataFrame({"user": [key[0]], "began": [began], "clicks": [clicks]})
            began, clicks = None, 0
        began, clicks = at if began is None else min(began, at), clicks + 1
    if began is None:
        return
    if began + MINUTE_MS <= state.getCurrentWatermarkMs():
        yield pd.DataFrame({"user": [key[0]], "began": [began], "clicks": [clicks]})
        if state.exists:
            state.remove()
        return
    state.update((began, clicks))
    state.setTimeoutTimestamp(began + MINUTE_MS)


def visits(clicks: DataFrame) -> DataFrame:
    timed = clicks.withColumn("at", F.to_timestamp("at")).withWatermark("at", "20 seconds").where("user IS NOT NULL")
    row = "user string, began bigint, clicks bigint"
    given = timed.withColumn("millis", F.unix_millis("at")).groupBy("user")
    return given.applyInPandasWithState(visit, row, "began bigint, clicks bigint", "append", "EventTimeTimeout")
