"""A chain of calls on a stream, as text for the job and as plain Python for the twin."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from random_jobs.sample import Scale

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Left:
    """A row that leaves by the way: "rejected" with a reason, "filtered" with the name of the filter, or "unmatched", as it was then."""

    fate: str
    reason: str
    row: Row = field(default_factory=dict)


Step = Callable[[Row], "Row | Left"]
"""What a call before the first state does with one row."""


@dataclass
class Chain:
    """What leads to one output, as far as it is drawn.

    Parameters
    ----------
    scale
        The durations that fit the events.
    calls
        The calls as they stand in the job: `.filter("v > 2", name="small")`.
    steps
        What each row-wise call does with a row, instants in microseconds.
    before_union
        By source the steps that its rows alone take, where several are put together.
    filters
        What the names of its filters begin with.
    keys
        Columns that windows may be grouped by.
    aggregates
        By name what an aggregate is over the rows of a window.
    behind
        What a transform after the aggregation does with a row of a window.
    """

    scale: Scale
    calls: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    before_union: Mapping[str, list[Step]] = field(default_factory=dict)
    filters: str = "kept"
    keys: list[str] = field(default_factory=lambda: ["client", "kind"])
    aggregates: dict[str, Callable[[list[Row]], Any]] = field(default_factory=dict)
    behind: list[Callable[[Row], Row]] = field(default_factory=list)
    stateful: bool = False
    ended: bool = False
    """Whether nothing may stand after it."""
    copies: bool = False
    """Whether the rows that a deduplication drops are an output."""
    joined: tuple[str, ...] = ()
    """The key of a join, where the rows are those of one."""
    of_right: frozenset[str] = frozenset()
    """Columns that only the right side of a join has."""
    alone: tuple[str, ...] = ()
    """Of which sides of a join the rows without a partner are outputs."""
    revised: bool = False
    """Whether a window can give several rows, which bear their number."""

    def copied(self) -> "Chain":
        """A chain that goes on from here by itself; the calls so far are those of this one."""
        return Chain(self.scale, [], list(self.steps), self.before_union, keys=list(self.keys))

    def row_wise(self, row: Row, source: str) -> "Row | Left":
        """The row of a source after the calls before the first state, or how it left."""
        for step in (*self.before_union.get(source, ()), *self.steps):
            found = step(row)
            if isinstance(found, Left):
                return found
            row = found
        return row

    def row_of_pair(self, left: Row | None, right: Row | None) -> Row:
        """The row that two rows of a join make together, or one of them alone."""
        ours, theirs = left or {}, right or {}
        made: Row = {
            **{
                name if name in self.of_right else f"{name}_right": value
                for name, value in theirs.items()
                if name not in self.joined
            },
            **ours,
            **{name: ours.get(name, theirs.get(name)) for name in self.joined},
        }
        for step in self.behind:
            made = step(made)
        return made

    def row_of_window(self, by: Row, start_us: int, end_us: int, rows: Iterable[Row], revision: int = 0) -> Row:
        """The row that a window with these rows is published as."""
        held = list(rows)
        made: Row = {
            **by,
            "window_start": start_us,
            "window_end": end_us,
            **({"revision": revision} if self.revised else {}),
            **{name: aggregate(held) for name, aggregate in self.aggregates.items()},
        }
        for step in self.behind:
            made = step(made)
        return made
