"""Tables that rows are looked up in, as whoever works out their columns asks for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class PlainTable:
    """What a table holds at one time.

    Parameters
    ----------
    rows
        Its rows, their values made plain: instants as microseconds UTC.
    valid_from, valid_to
        The columns that say between which instants a row holds; None where rows hold at all times, or to this day.
    """

    rows: Sequence[Mapping[str, Any]]
    valid_from: str | None = None
    valid_to: str | None = None


class Finds(Protocol):
    """Finds the row of a table."""

    def find(self, values: Sequence[Any], instant_us: int | None = None) -> int | None:
        """The number of the table's row, from 0, with these values of the key, at an instant where one is asked for; None without one."""


class HoldsRules(Protocol):
    """A twin that adds the names of the rules that hold for a row."""

    @property
    def table(self) -> str:
        """The name of the table."""

    @property
    def into(self) -> str:
        """The name of the column that is added; another, with "_failed" behind it, has those that fail."""

    def conditions(self, table: PlainTable) -> Sequence[tuple[str, str]]:
        """The name and the condition of each rule of a table, in the order of the names."""


class LooksUp(Protocol):
    """A twin that adds columns of a table to rows."""

    @property
    def table(self) -> str:
        """The name of the table."""

    @property
    def on(self) -> Mapping[str, str]:
        """By column of the stream the column of the table that it equals."""

    @property
    def as_of(self) -> str | None:
        """The column that says at which instant the table's row holds."""

    @property
    def keeps_all(self) -> bool:
        """Whether a row without one in the table goes on, with nulls."""

    @property
    def unmatched(self) -> str:
        """The reason of a row without one in the table, where it leaves."""

    def finder(self, table: PlainTable) -> Finds:
        """Finds rows of the table as it is at one time."""

    def added(self, table: PlainTable, columns: Sequence[str]) -> list[str]:
        """The columns that a row gets of those that the table has."""
