"""The twin of transforms: the function is the user's, so it is called as it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from streamproof.prove.oracle.operators.twin import OneByOne, Twin


@dataclass(frozen=True)
class Transform(Twin):
    """One row of each, by a function."""

    remakes: ClassVar[bool] = True

    function: Callable[[Any], Any]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Transform":
        return cls(given["function"])

    def applied(self, rows: OneByOne) -> OneByOne:
        return rows.made(self.function)
