"""The twin of filters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.prove.oracle.operators.twin import OneByOne, Twin
from streamproof.prove.oracle.rows import FILTERED, Side


@dataclass(frozen=True)
class Filter(Twin):
    """Rows for which the condition is not true are left out, and counted under a name."""

    condition: Any
    name: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Filter":
        return cls(given["condition"], given["name"])

    @property
    def leaves_out(self) -> bool:
        return True

    def takes_out(self, side: Side, reason: str) -> bool:
        return side == FILTERED and reason == self.name

    def applied(self, rows: OneByOne) -> OneByOne:
        return rows.kept(self.condition, self.name)
