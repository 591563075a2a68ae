"""Rows without Spark: the names of their columns, and who holds names against them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from streamproof.errors import JobDefinitionError


@dataclass(frozen=True)
class Mention:
    """What an operator says of columns: names of them (`exact`), or conditions and aggregates that have them in them."""

    where: str
    columns: Sequence[Any]
    exact: bool = False


@dataclass(frozen=True)
class Known:
    """The columns of rows, in order; `further` says why there may be others (""  where there are none), `types` what is known of their types."""

    names: tuple[str, ...]
    further: str = ""
    types: Mapping[str, str] = field(default_factory=dict, compare=False)

    def has(self, name: str, *, exact: bool = False) -> bool:
        return name in self.names if exact else name.lower() in map(str.lower, self.names)

    def beside(self, others: "Known") -> "Known":
        """These and others."""
        return Known((*self.names, *(name for name in others.names if name not in self.names)), self.further or others.further)

    def with_column(self, name: str) -> "Known":
        if not self.has(name):
            return Known((*self.names, name), self.further)
        return Known(tuple(name if one.lower() == name.lower() else one for one in self.names), self.further)


class Look(Protocol):
    """Looks at what operators name, where there is no Spark; what is wrong, and what could not be looked at, it keeps."""

    def mentions(self, mentions: Sequence[Mention], known: Known) -> None:
        """Holds what an operator mentions against the columns."""

    def text(self, where: str, text: str, known: Known, *, besides: Iterable[str] = ()) -> None:
        """Holds the names in a SQL text against the columns, and others that may stand in it."""

    def wrong(self, problem: JobDefinitionError) -> None:
        """Keeps what an operator has found itself."""

    def applied(self, function: "Callable[[Any], Any]", named: str, known: Known) -> Known:
        """The columns of what a function of the user's makes of rows; `named` is how errors call it."""
