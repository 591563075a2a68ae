"""Side outputs: the ways by which records leave a query beside its main output."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_BETWEEN = ":"
"""No word has it, and no name of a door or of a place is told apart by it."""


@dataclass(frozen=True)
class Side:
    """A side output of a query: why records leave by it, and which of several of its kind it is.

    Parameters
    ----------
    kind
        Why records leave: "late". Where the account has a place of this name (`core/account.py`), their records are there.
    name
        Which of several: "left" of the kind "unmatched"; empty where a query has one of the kind.
    if_returned
        Whether it has rows only where the job returns it; else they go to a default place.
    counted_by_spark
        Whether Spark itself counts what leaves by it, as what a deduplication drops: the rows that are written are held against that.

    Raises
    ------
    ValueError
        If the kind or the name is no word: doors, manifests and steps are named by both.
    """

    kind: str
    name: str = ""
    if_returned: bool = field(default=False, compare=False)
    counted_by_spark: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for word in (self.kind, self.name or self.kind):
            if not word.isidentifier():
                raise ValueError(f'"{word}" is no word that a side output can be called by')

    @classmethod
    def called(cls, text: str) -> "Side":
        """The side output that doors and manifests call so."""
        kind, _, name = text.partition(_BETWEEN)
        return cls(kind, name)

    def __str__(self) -> str:
        """As doors and manifests call it: "late", "unmatched:left"."""
        return f"{self.kind}{_BETWEEN}{self.name}" if self.name else self.kind

    @property
    def output(self) -> str:
        """What the output is called where the job gives no name: "late", "unmatched_left"."""
        return f"{self.kind}_{self.name}" if self.name else self.kind

    @property
    def said(self) -> str:
        """As people read it: "late", "unmatched left"."""
        return f"{self.kind} {self.name}" if self.name else self.kind


LATE = Side("late")
REJECTED = Side("rejected")
DUPLICATE = Side("duplicate", if_returned=True, counted_by_spark=True)
UNMATCHED = Side("unmatched")
LATE_OF = (Side("late", "left"), Side("late", "right"))
"""Of a join the late rows of each input: they have other columns."""
UNMATCHED_OF = (Side("unmatched", "left", if_returned=True), Side("unmatched", "right", if_returned=True))
"""Of a join the rows of each input that have met no partner."""

BY_METHOD: Mapping[str, Side] = {
    "late": LATE,
    "rejected": REJECTED,
    "duplicates": DUPLICATE,
    "unmatched": UNMATCHED,
    **{side.output: side for side in (*LATE_OF, *UNMATCHED_OF)},
}
"""By the property of a stream that gives it."""

GIVING = frozenset({*BY_METHOD, "tagged", "overflow"})
"""What gives a side output of a stream; the last two say which one by an argument."""


def copies_in(sides: Mapping[Side, str]) -> str:
    """Of the side outputs of a query, with the name of each, the one that has as rows what Spark counts; empty where the job returns none."""
    return next((name for side, name in sides.items() if side.counted_by_spark), "")
