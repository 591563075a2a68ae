"""The lines of a sample that hold no record: they are counted, named by their numbers, and never shown."""

from collections.abc import Sequence
from pathlib import Path

from streamproof.core.paths import display
from streamproof.errors import ScenarioError

_SHOWN = 5
_REASONS = 2
_KEPT = 10_000
"""So many numbers are kept of a file however large it is; the rest are counted."""


class LeftOut:
    """Tells lines that are left out; a file with as many of them as records is none of its format."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines: list[int] = []
        self.count = 0
        self._reasons: dict[str, None] = {}
        self._first: ScenarioError | None = None

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, number: int, reason: str, problem: ScenarioError | None = None) -> None:
        """Leaves a line out; `problem` is what is raised where there are too many."""
        self.count += 1
        if len(self.lines) < _KEPT:
            self.lines.append(number)
        if len(self._reasons) <= _REASONS:
            self._reasons[reason] = None
        self._first = self._first or problem

    def require_fewer(self, records: int) -> None:
        """Raises what was wrong with the first of them, if there are as many as records."""
        if self.count >= max(1, records) and self._first is not None:
            raise self._first

    def notes(self, records: int) -> list[str]:
        """The notes about lines that were left out; `records` is how many were kept."""
        if not self:
            return []
        why = "; ".join([*list(self._reasons)[:_REASONS], *(["and more"] if len(self._reasons) > _REASONS else [])])
        what = "one line holds" if self.count == 1 else f"{self.count:,} lines hold"
        return [
            f"{display(self._path)}: {what} no record and {'is' if self.count == 1 else 'are'} left out, beside {records:,} that do: "
            f"{said_lines(self.lines, of=self.count)} ({why})."
        ]


def said_lines(numbers: Sequence[int], what: str = "line", *, of: int | None = None) -> str:
    """Line numbers in words: "line 7", "lines 7, 9 and 12", "lines 3, 4, 5, 6, 7 and 20 more".

    Parameters
    ----------
    of
        How many there are in all, where not all numbers are known.
    """
    shown = [f"{number:,}" for number in sorted(numbers)[:_SHOWN]]
    more = (len(numbers) if of is None else of) - len(shown)
    if more:
        return f"{what}s {', '.join(shown)} and {more:,} more"
    return f"{what}s {', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else f"{what} {shown[0]}"
