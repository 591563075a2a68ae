"""What may grow in a run without end, and by how much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from statistics import median
from typing import TypeVar

from soak.samples import Sample

WINDOW = 0.15
"""After that share of the batches, and the hundred that are kept, everything is there that a run keeps. The greatest value of the next 15 % is
held against that of the last; of living objects the least one, since a batch under way has some too, and of times the median."""
KEPT = 110
LIMITS: Mapping[str, tuple[float, float]] = {  # how many times as much, and how much is nothing
    "files tmp": (1.50, 50),  # the files of a shuffle are there until a collection has found that nobody needs them
    "files */state": (1.05, 150),  # what some batches have written since the last look for what is old
    "files *": (1.05, 10),
    "bytes *": (1.10, 200_000),
    "heap": (1.20, 0),
    "memory": (1.20, 0),
    "threads": (1.20, 4),
    "descriptors": (1.20, 8),
    "batch_ms": (1.10, 0),
    "start_seconds": (1.20, 0),
}
ON_PURPOSE: Mapping[str, str] = {
    "* data": "the input",
    "* out": "the output",
    "bytes */sources": "Spark keeps the name of every file that it has read",
    "bytes */state": "RocksDB notes every version in its MANIFEST, which goes along with each, until the next start begins a new one",
    "bytes .streamproof": "the log of the run",
}

_TAKEN: Mapping[str, Callable[[Sequence[float]], float]] = {"heap": min, "batch_ms": median}


Found = TypeVar("Found")


@dataclass(frozen=True)
class Growth:
    """How a figure was early and late in a run; `why` says of one without a limit that it may grow."""

    name: str
    early: float
    late: float
    most: float
    why: str = ""

    @property
    def too_much(self) -> bool:
        return self.late > self.most

    def __str__(self) -> str:
        if self.why:
            return f"{self.name}: {self.early:,.0f} early, {self.late:,.0f} late; may grow: {self.why}"
        return f"{self.name}: {self.early:,.0f} early, {self.late:,.0f} late; {self.most:,.0f} is the most"


def settled(batches: int) -> int:
    """The batch after which a run of so many has all that it keeps."""
    return max(int(WINDOW * batches), KEPT)


def growths(samples: Sequence[Sample], batches: int, starts: Mapping[int, float]) -> list[Growth]:
    """Every figure that has a limit, or grows on purpose; a folder that was not there early counts as nothing.

    Parameters
    ----------
    starts
        What starts took, by the batch that they came after; the first against the last.

    Raises
    ------
    ValueError
        If a window has no sample.
    """
    early = _of_window(samples, settled(batches), settled(batches) + WINDOW * batches)
    late = _of_window(samples, (1 - WINDOW) * batches, float("inf"))
    if starts:
        early["start_seconds"], late["start_seconds"] = starts[min(starts)], starts[max(starts)]
    found = []
    for name, value in sorted(late.items()):
        before, limit = early.get(name, 0.0), _matching(LIMITS, name)
        if (why := _matching(ON_PURPOSE, name)) is not None:
            found.append(Growth(name, before, value, float("inf"), why))
        elif limit is not None:
            times, nothing = limit
            found.append(Growth(name, before, value, max(times * before, before + nothing)))
    return found


def _matching(by_pattern: Mapping[str, Found], name: str) -> Found | None:
    return next((found for pattern, found in by_pattern.items() if fnmatch(name, pattern)), None)


def _of_window(samples: Sequence[Sample], first: float, last: float) -> dict[str, float]:
    inside = [sample.series() for sample in samples if first <= sample.batch <= last]
    if not inside:
        raise ValueError(f"No sample between the batches {first:.0f} and {last:.0f}.")
    names = {name for each in inside for name in each}
    return {name: _TAKEN.get(name, max)([each.get(name, 0.0) for each in inside]) for name in names}
