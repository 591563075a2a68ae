"""What happens to an event, one moment after another; the words for it stand in `words.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What can happen to a record on its way."""

    ARRIVED = "arrived"
    NOT_READ = "not-read"
    NO_EFFECT = "no-effect"
    PASSED = "passed"
    LEFT = "left"
    KEPT = "kept"
    MADE = "made"
    GROUPED = "grouped"
    OPEN = "open"
    WAITS = "waits"
    REMEMBERED = "remembered"
    PUBLISHED = "published"
    REPLACED = "replaced"
    NOT_AN_OUTPUT = "not-an-output"
    MISSING = "missing"
    DOUBLED = "doubled"
    OTHER_CONTENTS = "other-contents"
    UNEXPLAINED = "unexplained"
    MAY_BE_IN = "may-be-in"


_WRONG = frozenset({Kind.NOT_READ, Kind.MISSING, Kind.DOUBLED, Kind.OTHER_CONTENTS, Kind.UNEXPLAINED})
_ENDS = frozenset({Kind.LEFT, Kind.OPEN, Kind.WAITS, Kind.PUBLISHED, Kind.REPLACED, *_WRONG})


@dataclass(frozen=True)
class Moment:
    """One thing that happens to a record.

    Parameters
    ----------
    batch
        The batch that does it; None where no batch does, or it is not known which.
    operator
        The operator, as people tell it from others: "deduplicate (trade_id)"; empty where none does.
    about
        What there is to know besides, by kind of moment.
    """

    kind: Kind
    batch: int | None = None
    operator: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        """Whether it contradicts the model."""
        return self.kind in _WRONG

    @property
    def end(self) -> tuple[str, ...] | None:
        """Where the record is by it, apart from the number of the batch; None where it goes on."""
        if self.kind not in _ENDS:
            return None
        return str(self.kind), *(str(self.about.get(key, "")) for key in ("side", "output", "window", "traces", "times"))

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        found = {"kind": str(self.kind), "batch": self.batch, "operator": self.operator or None, **self.about}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Way:
    """The way of one record through one query."""

    query: str
    trace: str
    moments: tuple[Moment, ...]

    @property
    def ends(self) -> tuple[tuple[str, ...], ...]:
        """Where it is at the end, in every window and row."""
        return tuple(sorted(moment.end for moment in self.moments if moment.end is not None))

    @property
    def wrong(self) -> bool:
        """Whether anything contradicts the model."""
        return any(moment.wrong for moment in self.moments)

    @property
    def batches(self) -> tuple[int, ...]:
        """The batches that have to do with it."""
        return tuple(sorted({moment.batch for moment in self.moments if moment.batch is not None}))


__all__ = ["Kind", "Moment", "Way"]
