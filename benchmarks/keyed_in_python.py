"""The same count and sum by Python's transformWithState, for `keyed`."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle


class Counting(StatefulProcessor):
    """One value state with both fields: each call of a state is a round trip."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("state", "n bigint, total double")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        n, total = self.state.get() if self.state.exists() else (0, 0.0)
        for row in rows:
            n, total = n + 1, total + row.v
        self.state.update((n, total))
        if n % 1000 == 0:
            yield Row(client=key[0], n=n, total=total)

    def close(self) -> None:
        """Nothing is open."""
