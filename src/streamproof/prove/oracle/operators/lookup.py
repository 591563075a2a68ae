"""The twin of looking rows up in a table: which row of the table a row gets is decided here, in plain Python."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from streamproof.prove.oracle.operators.twin import OneByOne, Twin
from streamproof.prove.oracle.rows import UNMATCHED, Side
from streamproof.prove.oracle.tables import PlainTable

Key = tuple[Any, ...]
_KEEPS_ALL = {"inner": False, "left": True}
"""By what is written for `how`."""


@dataclass(frozen=True)
class Lookup(Twin):
    """A row gets columns of the table's row that has its key, at its instant where one is asked for.

    Parameters
    ----------
    on
        By column of the stream the column of the table.
    adds
        The columns that are added; None for all but the key and the validity.
    keeps_all
        Whether a row without one in the table goes on, with nulls.
    """

    table: str
    on: Mapping[str, str]
    adds: tuple[str, ...] | None = None
    keeps_all: bool = False
    as_of: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Lookup":
        on, columns = given["on"], given["columns"]
        if isinstance(on, str):
            on = {on: on}
        elif not isinstance(on, Mapping):
            on = {name: name for name in on}
        adds = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
        return cls(given["table"], dict(on), adds, _KEEPS_ALL[given["how"]], given["as_of"])

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,)

    @property
    def leaves_out(self) -> bool:
        return not self.keeps_all

    @property
    def unmatched(self) -> str:
        """The reason of a row without one in the table."""
        return f"no row in {self.table}"

    def takes_out(self, side: Side, reason: str) -> bool:
        return side == (UNMATCHED, "") and reason == self.unmatched

    def applied(self, rows: OneByOne) -> OneByOne:
        return rows.looked_up(self)

    def finder(self, state: PlainTable) -> "Finder":
        """Finds rows of the table as it is at one time."""
        return Finder(self, state)

    def added(self, state: PlainTable, columns: Sequence[str]) -> list[str]:
        """The columns that a row gets of those that the table has."""
        hidden = {*self.on.values(), state.valid_from, state.valid_to}
        return list(self.adds) if self.adds is not None else [name for name in columns if name not in hidden]


@dataclass(frozen=True)
class Finder:
    """Which row of a table belongs to a key, at an instant."""

    twin: Lookup
    state: PlainTable

    @cached_property
    def _by_key(self) -> Mapping[Key, Sequence[int]]:
        found: dict[Key, list[int]] = {}
        for number, row in enumerate(self.state.rows):
            key = _comparable([row[name] for name in self.twin.on.values()])
            if key is not None:
                found.setdefault(key, []).append(number)
        return found

    def find(self, values: Sequence[Any], instant_us: int | None = None) -> int | None:
        """The number of the row of the table, from 0; None where there is none.

        Parameters
        ----------
        values
            Of the columns of the key, in their order, made plain.
        instant_us
            When the row happened, microseconds UTC, where an instant is asked for.

        Raises
        ------
        ValueError
            If there are several: no table that the product takes has them.
        """
        key = _comparable(values)
        numbers = [] if key is None else self._by_key.get(key, [])
        if self.twin.as_of is not None:
            numbers = [number for number in numbers if instant_us is not None and self._holds(self.state.rows[number], instant_us)]
        if len(numbers) > 1:
            raise ValueError(f"the table {self.twin.table} has {len(numbers)} rows for {values}")
        return numbers[0] if numbers else None

    def _holds(self, row: Mapping[str, Any], instant_us: int) -> bool:
        begins, ends = self.state.valid_from, self.state.valid_to
        since, until = row[begins] if begins else None, row[ends] if ends else None
        return (since is None or since <= instant_us) and (until is None or instant_us < until)


def _comparable(values: Sequence[Any]) -> Key | None:
    """Values of a key as they are held against each other; None with a null among them, which is like nothing. Of numbers NaN is one."""
    if any(value is None for value in values):
        return None
    return tuple("NaN" if isinstance(value, float) and math.isnan(value) else value for value in values)
