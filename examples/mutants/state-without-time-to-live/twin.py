"""Right: each click of a user is remembered for five minutes, within which copies come; then a timer forgets it."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

FIVE_MINUTES_MS = 300_000


class Once(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.seen = handle.getMapState("seen", "click string", "until bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        for row in rows:
            if not self.seen.containsKey((row["click"],)):
                until = row["millis"] + FIVE_MINUTES_MS
                self.seen.updateValue((row["click"],), (until,))
                self.handle.registerTimer(until)
                yield Row(user=key[0], click=row["click"])

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        now = expiredTimerInfo.getExpiryTimeInMs()
        for click in [click for click, (until,) in self.seen.iterator() if until <= now]:
            self.seen.removeKey(click)
        return iter(())

    def close(self) -> None:
        pass


def clicks_once(clicks: DataFrame) -> DataFrame:
    timed = clicks.where("click IS NOT NULL").withColumn("at", F.to_timestamp("at")).withWatermark("at", "20 seconds")
    kept = timed.withColumn("millis", F.unix_millis("at")).groupBy("user")
    return kept.transformWithState(Once(), "user string, click string", "append", "eventTime")
