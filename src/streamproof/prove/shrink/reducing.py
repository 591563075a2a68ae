"""The reducing: hypothesis looks for the smallest part of a scenario that still fails. It knows nothing of Spark or of jobs.

Why it is done this way stands in docs/decisions/shrinking.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.connectors.extras import library
from streamproof.core.clock import monotonic_seconds
from streamproof.prove.shrink.kept import Kept

_BLOCKS = 4
"""Into how many blocks the events are cut at least. hypothesis leaves out one choice after another, so a round takes about as many tries as
it has blocks, and the blocks that stay are cut into two for the next: twenty-five tries find one event in 5,000.
"""
_LIBRARIES = ("hypothesis", "hypothesis.database", "hypothesis.strategies")
_ROUND_SECONDS = 240.0
"""hypothesis ends its shrinking after five minutes with a warning on the screen: a round is over before that, and another one begins."""
_KEY = b"streamproof"
_ONE_TOO_MANY = 1
"""An example of the database that is exact was shrunk before, so hypothesis leaves it as it is; one with a choice too many it shrinks."""


@dataclass(frozen=True)
class _Choices:
    """What hypothesis has chosen: for events, borders and the fault a tree of booleans, which it need not print."""

    trees: Any = field(repr=False)


@dataclass
class Reduction:
    """The reducing of one scenario.

    Parameters
    ----------
    smallest
        What is known to fail; at the beginning all of it.
    fails
        Whether a part fails with the same finding. It is asked once for each part, which may take seconds.
    seconds
        How long it may take; the try that runs then is waited for.
    improved
        Is called with each smaller part that fails.
    """

    smallest: Kept
    fails: Callable[[Kept], bool]
    seconds: float
    improved: Callable[[Kept], None] = lambda _: None
    tries: int = 0
    _known: dict[Kept, bool] = field(default_factory=dict)
    _started: float = field(default_factory=lambda: monotonic_seconds())

    @property
    def seconds_left(self) -> float:
        """How much of the time is left; 0 where none is."""
        return max(0.0, self.seconds - (monotonic_seconds() - self._started))

    def guess(self, parts: Sequence[Kept]) -> None:
        """Tries these parts first, in their order, and goes on with the first that fails."""
        for part in parts:
            if part != self.smallest and part.within(self.smallest) and self._asked(part):
                return

    def run(self) -> bool:
        """Reduces until nothing more can be left out; whether it came to that end within its time.

        Raises
        ------
        MissingExtra
            If hypothesis is not installed.
        """
        blocks, first = _BLOCKS, True
        while self.seconds_left:
            before, cut = self.smallest, _cut(sorted(self.smallest.events), blocks)
            single = len(cut) == len(before.events)
            if not self._round(cut, beside=first or single):
                continue  # what was asked is known, so that the next round goes on where this one ended
            if self.smallest == before and single:
                return True
            first, blocks = False, max(_BLOCKS, 2 * sum(not self.smallest.events.isdisjoint(block) for block in cut))
        return False

    def _asked(self, part: Kept) -> bool:
        """Whether a part fails; what was asked already, or is no part of the smallest, or comes too late, is not tried."""
        if part in self._known:
            return self._known[part]
        if not part.events or not part.within(self.smallest) or not self.seconds_left:
            return False
        self.tries += 1
        self._known[part] = found = self.fails(part)
        if found:
            self.smallest = part
            self.improved(part)
        return found

    def _round(self, blocks: Sequence[Sequence[int]], *, beside: bool) -> bool:
        """Lets hypothesis leave out blocks of events, and `beside` them borders of batches and the fault; whether it came to its end."""
        hypothesis, database, strategies = (library(name, "shrink", "Shrinking") for name in _LIBRARIES)
        whole, ends = self.smallest, monotonic_seconds() + min(_ROUND_SECONDS, self.seconds_left)
        borders, faults = sorted(whole.borders) if beside else [], int(whole.fault and beside)
        trees = [_tree(strategies, len(blocks)), _tree(strategies, len(borders)), _tree(strategies, faults)]
        strategy = strategies.tuples(*trees).map(_Choices)

        def part_of(choices: _Choices) -> Kept:
            events, kept_borders, fault = (list(_leaves(tree)) for tree in choices.trees)
            numbers = (number for block, wanted in zip(blocks, events, strict=True) if wanted for number in block)
            left_out = {border for border, wanted in zip(borders, kept_borders, strict=True) if not wanted}
            return Kept(frozenset(numbers), whole.borders - left_out, whole.fault and all(fault))

        untried, problems = [False], list[BaseException]()

        def fails(choices: _Choices) -> bool:
            part = part_of(choices)
            if part == whole or part in self._known:
                return part == whole or self._known[part]
            if problems or monotonic_seconds() >= ends:
                untried[0] = True
                return False
            try:
                return self._asked(part)
            except BaseException as problem:  # noqa: BLE001 -- hypothesis would take it for one more failure, and shrink that
                problems.append(problem)
                return False

        kept, choices = database.InMemoryExampleDatabase(), len(blocks) + len(borders) + faults
        kept.save(_KEY, database.choices_to_bytes((True,) * (choices + _ONE_TOO_MANY)))
        hypothesis.find(
            strategy,
            fails,
            settings=hypothesis.settings(
                database=kept,
                phases=[hypothesis.Phase.reuse, hypothesis.Phase.shrink],
                deadline=None,
                derandomize=False,
                suppress_health_check=list(hypothesis.HealthCheck),
            ),
            database_key=_KEY,
        )
        if problems:
            raise problems[0]
        return not untried[0]


def _cut(numbers: Sequence[int], blocks: int) -> list[Sequence[int]]:
    """The numbers in so many blocks of neighbours, as even as they can be; each its own where there are fewer."""
    count = min(blocks, len(numbers))
    return [numbers[place * len(numbers) // count : (place + 1) * len(numbers) // count] for place in range(count)]


def _tree(strategies: Any, leaves: int) -> Any:
    """The strategy of so many choices, as halves of halves: hypothesis may leave out a half at once."""
    if leaves == 0:
        return strategies.just(())
    if leaves == 1:
        return strategies.booleans()
    return strategies.tuples(_tree(strategies, leaves // 2), _tree(strategies, leaves - leaves // 2))


def _leaves(tree: Any) -> Iterator[bool]:
    if isinstance(tree, bool):
        yield tree
        return
    for branch in tree:
        yield from _leaves(branch)
