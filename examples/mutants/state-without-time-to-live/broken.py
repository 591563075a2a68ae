"""The mistake: each click that a user has ever made is remembered, so that a copy of it is left out, and nothing forgets it."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle


class Once(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.seen = handle.getMapState("seen", "click string", "page string")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        for row in rows:
            if not self.seen.containsKey((row["click"],)):
                self.seen.updateValue((row["click"],), (row["page"],))
                yield Row(user=key[0], click=row["click"])

    def close(self) -> None:
        pass


def clicks_once(clicks: DataFrame) -> DataFrame:
    return (
        clicks.where("click IS NOT NULL").groupBy("user").transformWithState(Once(), "user string, click string", "append", "none")
    )
