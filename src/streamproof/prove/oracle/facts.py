"""Which facts a table with versions holds: of each key the greatest one, in whatever order they came (S20)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Facts:
    """What tells the facts about a key apart.

    Parameters
    ----------
    key
        The columns that say what a fact is about.
    version
        The column whose greatest value counts.
    deleted
        The boolean column of tombstones, where there is one: of equal versions a tombstone counts.
    """

    key: tuple[str, ...]
    version: str
    deleted: str | None = None

    def key_of(self, row: Mapping[str, Any]) -> Key:
        """What a row is about."""
        return tuple(row[column] for column in self.key)

    def greatest(self, rows: Mapping[str, Mapping[str, Any]]) -> dict[Key, frozenset[str]]:
        """Of each key the traces of the facts that may be the one in the table: several where version and tombstone are equal.

        A row without a version is no fact: the sink stops there.
        """
        found: dict[Key, tuple[tuple[Any, bool], set[str]]] = {}
        for trace, row in rows.items():
            if row[self.version] is None:
                continue
            key, rank = self.key_of(row), (row[self.version], bool(self.deleted and row[self.deleted]))
            known = found.get(key)
            if known is None or rank > known[0]:
                found[key] = rank, {trace}
            elif rank == known[0]:
                known[1].add(trace)
        return {key: frozenset(traces) for key, (_, traces) in found.items()}
