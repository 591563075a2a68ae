"""Users who pay three times within a minute: keyed state with `transformWithState`."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle


class ThreePayments(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.times = handle.getValueState("times", "seen array<bigint>")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        seen = list(self.times.get()[0]) if self.times.exists() else []
        for at in sorted(row["millis"] for row in rows):
            seen = [*(time for time in seen if time > at - 60_000), at]
            if len(seen) >= 3:
                yield Row(user=key[0], at=at, payments=len(seen))
        self.times.update((seen,))

    def close(self) -> None:
        pass


def payments(clicks: DataFrame) -> DataFrame:
    paid = clicks.where("page = '/pay'").withColumn("millis", F.unix_millis(F.to_timestamp("at")))
    return paid.groupBy("user").transformWithState(ThreePayments(), "user string, at bigint, payments int", "append", "none")
