"""The steps a stream is made of: immutable descriptions, turned into a Spark plan once the job function has returned."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile

from streamproof.stream.emissions import Emission, Final
from streamproof.stream.operators import (
    Deduplicate,
    Operator,
    OrderedDeduplicate,
    RequireGap,
    Transform,
    Union,
    WindowAggregate,
)
from streamproof.stream.operators.operator import Stateful
from streamproof.stream.windows import Gap, Session


@dataclass(frozen=True)
class Recipe:
    """A source's name and the steps behind it, in order; a step can bring the rows of other sources in."""

    source: str
    steps: tuple[Operator, ...] = ()

    def then(self, step: Operator) -> "Recipe":
        return Recipe(self.source, (*self.steps, step))

    @property
    def branches(self) -> "tuple[Recipe, ...]":
        """By source the row-wise steps that its rows take, those behind a union among them; in the order in which Spark numbers sources."""
        found: tuple[Recipe, ...] = (Recipe(self.source),)
        for step in self.row_wise:
            if isinstance(step, Union):
                found = (*found, *step.other.branches)
            else:
                found = tuple(branch.then(step) for branch in found)
        return found

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of all sources, in the order in which Spark numbers them."""
        return tuple(branch.source for branch in self.branches)

    @property
    def every_step(self) -> tuple[Operator, ...]:
        """The steps of all sources, each once."""
        others = (step for union in self.steps if isinstance(union, Union) for step in union.other.every_step)
        return (*others, *self.steps)

    @property
    def deduplicate(self) -> Deduplicate | None:
        return next((step for step in self.steps if isinstance(step, Deduplicate)), None)

    @property
    def ordered(self) -> OrderedDeduplicate | None:
        """The deduplication by an order; nothing stands behind it."""
        return next((step for step in self.steps if isinstance(step, OrderedDeduplicate)), None)

    @property
    def aggregate(self) -> WindowAggregate | None:
        """The window whose rows come out: of two the second."""
        return next(reversed(self.windows), None)

    @property
    def windows(self) -> tuple[WindowAggregate, ...]:
        return tuple(step for step in self.steps if isinstance(step, WindowAggregate))

    @property
    def stateful(self) -> bool:
        return bool(self.stateful_steps)

    @property
    def stateful_steps(self) -> tuple[Stateful, ...]:
        return tuple(step for step in self.steps if isinstance(step, Stateful))

    @property
    def emission(self) -> Emission:
        """When the windows give rows; what has none gives each row once."""
        return self.aggregate.emission if self.aggregate is not None else Final()

    @property
    def allowed_lateness(self) -> timedelta:
        return max((window.allowed_lateness for window in self.windows), default=timedelta())

    @property
    def row_wise(self) -> tuple[Operator, ...]:
        """The steps before the first stateful one, and what the windows behind them require there: what is rejected has changed no state."""
        gaps = [window.window.gap for window in self.windows if isinstance(window.window, Session)]
        return (*self.before_state, *[RequireGap(gap) for gap in gaps if isinstance(gap, Gap)])

    @property
    def before_state(self) -> tuple[Operator, ...]:
        """The steps that were asked for before the first stateful one."""
        return tuple(takewhile(lambda step: not step.keeps_state, self.steps))

    @property
    def afterwards(self) -> tuple[Transform, ...]:
        """The transforms behind the aggregation."""
        if self.aggregate is None:
            return ()
        place = max(number for number, step in enumerate(self.steps) if isinstance(step, WindowAggregate))
        behind = self.steps[place + 1 :]
        return tuple(step for step in behind if isinstance(step, Transform))
