"""Where records leave the main path of a plan, and where they are counted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from streamproof.core.sides import LATE, Side

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from streamproof.stream.looked_up import Conditions, TableRows


class SourceDoors(Protocol):
    """What the reading of a source asks for."""

    def clock(self) -> "Column":
        """The batch's own timestamp (bigint, microseconds)."""

    def reject(self, rows: "DataFrame", reason: "Column") -> "DataFrame":
        """Lets rows pass whose reason is null."""


class Doors(SourceDoors, Protocol):
    """In production records go to side files; in an oracle they are collected."""

    def batch(self) -> "Column":
        """The number of the running batch (bigint)."""

    def bound(self) -> "Column":
        """The first instant above the late bound (bigint, microseconds)."""

    def table(self, name: str, conditions: "Conditions | None" = None) -> "TableRows":
        """A table that rows are looked up in, by the name of its [table.NAME]; in a stream each batch has a version of it.

        Parameters
        ----------
        conditions
            What of it are conditions: a row whose condition is none is rejected when the table is read, and the former one stays.
        """

    def divert(self, rows: "DataFrame", side: Side, leaves: "Column", payload: "Column", reason: "Column") -> "DataFrame":
        """Lets rows pass for which `leaves` is false; the others leave by a side output.

        Parameters
        ----------
        payload
            What is written of a row (struct); all that leave by one side output become rows of one table.
        reason
            Why a row leaves (string), by which the account counts them.
        """

    def drop(self, rows: "DataFrame", keep: "Column", name: str) -> "DataFrame":
        """Lets rows pass for which `keep` is true; counts the others under the name."""

    def late(
        self,
        rows: "DataFrame",
        decides: "Column",
        window_us: int = 0,
        *,
        window: "tuple[Column, Column] | None" = None,
        side: Side = LATE,
    ) -> "DataFrame":
        """Lets rows pass whose deciding instant (bigint, microseconds) is above the late bound.

        Parameters
        ----------
        window_us
            Where it is given, the deciding instant is the event time, and what is held against the bound is the end of its tumbling
            window of that length.
        window
            Start and end of the window that a row is late for (TIMESTAMP), where it has several; late rows have them too.
        side
            The side output that late rows leave by; of an operator with several inputs one for each.
        """

    def watched(self, rows: "DataFrame", key: "Sequence[str]", operator: str) -> "DataFrame":
        """Lets all rows pass on their way to an operator; which keys have most of them is found meanwhile."""

    def once(self, rows: "DataFrame", key: list[str]) -> "DataFrame":
        """One row for each key: in a stream as long as the watermark is behind it, in a batch of all that there are."""

    def going_on(self, rows: "DataFrame", records: "Column", *, after: str) -> "DataFrame":
        """Lets all rows of an operator pass that are of several records; counts them, and the records that they are of (bigint)."""

    def expanded(self, rows: "DataFrame", further: "Column") -> "DataFrame":
        """Lets all rows pass; counts those for which `further` is true: a record's second window and those after it."""
