"""The twin of requirements: rows that do not fulfil one are rejected, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.prove.oracle.operators.twin import OneByOne, Twin


@dataclass(frozen=True)
class Require(Twin):
    """Conditions, by the names of the arguments."""

    conditions: Mapping[str, Any]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Require":
        return cls(given["conditions"])

    @property
    def reasons(self) -> tuple[str, ...]:
        """The text of a condition, or the name of one that is a Column."""
        return tuple(_said(name, condition) for name, condition in self.conditions.items())

    def applied(self, rows: OneByOne) -> OneByOne:
        return rows.required((_said(name, condition), condition) for name, condition in self.conditions.items())


def _said(name: str, condition: Any) -> str:
    """The reason of a row that does not fulfil a condition."""
    return condition if isinstance(condition, str) else name
