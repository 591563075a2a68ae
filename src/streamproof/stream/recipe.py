"""The steps a stream is made of: immutable descriptions, turned into a Spark plan once the job function has returned."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile

from streamproof.stream.operators import Deduplicate, Operator, Transform, WindowAggregate
from streamproof.stream.operators.operator import Stateful


@dataclass(frozen=True)
class Recipe:
    """A source's name and the steps behind it, in order."""

    source: str
    steps: tuple[Operator, ...] = ()

    def then(self, step: Operator) -> "Recipe":
        return Recipe(self.source, (*self.steps, step))

    @property
    def deduplicate(self) -> Deduplicate | None:
        return next((step for step in self.steps if isinstance(step, Deduplicate)), None)

    @property
    def aggregate(self) -> WindowAggregate | None:
        return next((step for step in self.steps if isinstance(step, WindowAggregate)), None)

    @property
    def stateful(self) -> bool:
        return bool(self.stateful_steps)

    @property
    def stateful_steps(self) -> tuple[Stateful, ...]:
        return tuple(step for step in self.steps if isinstance(step, Stateful))

    @property
    def allowed_lateness(self) -> timedelta:
        return self.aggregate.allowed_lateness if self.aggregate else timedelta()

    @property
    def row_wise(self) -> tuple[Operator, ...]:
        """The steps before the first stateful one."""
        return tuple(takewhile(lambda step: not step.keeps_state, self.steps))

    @property
    def afterwards(self) -> tuple[Transform, ...]:
        """The transforms behind the aggregation."""
        if self.aggregate is None:
            return ()
        behind = self.steps[self.steps.index(self.aggregate) + 1 :]
        return tuple(step for step in behind if isinstance(step, Transform))
