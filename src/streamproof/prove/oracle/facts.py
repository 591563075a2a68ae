"""Which rows a table holds that has one of each key: the greatest version, in whatever order they came (S20), or the one that came last."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from streamproof.prove.oracle.ordering import placed

Key = tuple[Any, ...]
Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class OneOfKey(ABC):
    """What tells the rows about a key apart.

    Parameters
    ----------
    key
        The columns that say what a row is about.
    """

    calls: ClassVar[str]
    """What findings call such a row."""
    loses: ClassVar[str]
    """How findings call a row that should not be there any more."""

    key: tuple[str, ...]

    def key_of(self, row: Mapping[str, Any]) -> Key:
        """What a row is about."""
        return tuple(row[column] for column in self.key)

    @property
    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """The columns by which a row counts more than another."""

    @abstractmethod
    def greatest(self, rows: Rows, batches: Mapping[str, int]) -> dict[Key, frozenset[str]]:
        """Of each key that the table has, the names of the rows that may be the one there: several where nothing decides between them.

        Parameters
        ----------
        rows, batches
            By the same names the columns of each row, and the batch that gave it.
        """


@dataclass(frozen=True)
class Facts(OneOfKey):
    """The greatest version of each key.

    Parameters
    ----------
    version
        The column whose greatest value counts.
    deleted
        The boolean column of tombstones, where there is one: of equal versions a tombstone counts.
    """

    calls: ClassVar[str] = "fact"
    loses: ClassVar[str] = "an older fact"

    version: str
    deleted: str | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        return (self.version, *([self.deleted] if self.deleted else []))

    def greatest(self, rows: Rows, batches: Mapping[str, int]) -> dict[Key, frozenset[str]]:
        """A row without a version is no fact: the sink stops there."""
        facts = {name: row for name, row in rows.items() if row[self.version] is not None}
        ranks = {name: (row[self.version], bool(self.deleted and row[self.deleted])) for name, row in facts.items()}
        return _greatest({name: self.key_of(row) for name, row in facts.items()}, ranks)


@dataclass(frozen=True)
class LastRows(OneOfKey):
    """The row of each key that came last: that of the latest batch.

    Parameters
    ----------
    order_by
        The column whose greatest value counts among rows of one batch; None where a batch has one row of a key at most.
    deleting
        The names of rows that delete the row of their key.
    """

    calls: ClassVar[str] = "row"
    loses: ClassVar[str] = "an earlier row"

    order_by: str | None = None
    deleting: frozenset[str] = frozenset()

    @property
    def shown(self) -> tuple[str, ...]:
        return (self.order_by,) if self.order_by else ()

    def greatest(self, rows: Rows, batches: Mapping[str, int]) -> dict[Key, frozenset[str]]:
        """A key is not there where a row that may be its last one deletes it, and no other may be."""
        ranks = {name: (batches[name], placed(row[self.order_by]) if self.order_by else None) for name, row in rows.items()}
        last = _greatest({name: self.key_of(row) for name, row in rows.items()}, ranks)
        return {key: names - self.deleting for key, names in last.items() if names - self.deleting}


def _greatest(keys: Mapping[str, Key], ranks: Mapping[str, Any]) -> dict[Key, frozenset[str]]:
    found: dict[Key, tuple[Any, set[str]]] = {}
    for name, key in keys.items():
        known = found.get(key)
        if known is None or ranks[name] > known[0]:
            found[key] = ranks[name], {name}
        elif ranks[name] == known[0]:
            known[1].add(name)
    return {key: frozenset(names) for key, (_, names) in found.items()}
