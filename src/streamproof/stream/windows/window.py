"""What every kind of window has to say of itself."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from streamproof.stream.names import WINDOW

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

    from streamproof.stream.doors import Doors
    from streamproof.stream.windows.gap import Gap

DELAY = "spark.watermarkDelayMs"
"""Where Spark keeps the watermark's delay: in the metadata of the column that it was declared on."""


class Window(ABC):
    """A kind of window. The start of a window is inclusive, its end exclusive.

    Spark keeps one row of state for each window and key, and drops it by the column that bears the watermark's delay: the window's end,
    not the times of its events (R12). `str` of a window is its identity: a checkpoint is bound to it (R25).
    """

    several: ClassVar[bool] = False
    """Whether an event can lie in several windows."""
    needs_key: ClassVar[bool] = False
    """Whether Spark has these windows only of a key."""

    before_exchange: ClassVar[Mapping[str, str]] = {}
    """What Spark has to be told so that a task aggregates what it has of a key before the rows of the key come together; it mostly does."""

    @property
    def own_gap(self) -> "Gap | None":
        """The gap that each event brings in a column; None where they bring none."""
        return None

    def assigned(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows, one for each window that they lie in; where there are several, the further ones are counted (R11)."""
        return rows

    @abstractmethod
    def divert(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The assigned rows without those whose window ends at or below the late bound (R10)."""

    @abstractmethod
    def placed(self, rows: "DataFrame", event_time: str) -> "DataFrame":
        """The assigned rows with the window of each, which bears the delay of the watermark; where Spark itself forms windows, as they are."""

    def grouped(self, rows: "DataFrame", event_time: str, by: Sequence[str]) -> "GroupedData":
        """The placed rows by window and key."""
        return rows.groupBy(WINDOW, *by)

    @property
    @abstractmethod
    def start(self) -> "Column":
        """The start of a window behind the grouping (TIMESTAMP)."""

    @property
    def end(self) -> "Column":
        """The end of a window behind the grouping (TIMESTAMP)."""
        from pyspark.sql import functions as F

        return F.col(WINDOW)


def with_end(rows: "DataFrame", event_time: str, end: "Column") -> "DataFrame":
    """Rows with the end of their window, which bears the delay of the watermark."""
    return rows.select("*", end.alias(WINDOW, metadata=delay_of(rows, event_time)))


def delay_of(rows: "DataFrame", event_time: str) -> dict[str, Any]:
    """The delay of the watermark as the metadata of a column; nothing in a batch query."""
    delay = rows.schema[event_time].metadata.get(DELAY)
    return {} if delay is None else {DELAY: delay}
