"""The steps a stream is made of: immutable descriptions, turned into a Spark plan once the job function has returned."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.paths import display
from streamproof.stream.windows import Tumbling

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Condition = Any
"""A SQL expression as text, or a PySpark Column."""


@dataclass(frozen=True)
class Require:
    """Rows for which a condition is not true leave by the rejected output, with the condition as the reason."""

    conditions: Mapping[str, Condition]


@dataclass(frozen=True)
class Filter:
    """Rows for which the condition is not true are counted under a name and dropped."""

    condition: Condition
    name: str


@dataclass(frozen=True)
class Transform:
    """A function of the DataFrame, applied when the plan is built."""

    function: "Callable[[DataFrame], DataFrame]"

    def __str__(self) -> str:
        """How errors call it: `transform(in_euros) in my_job/job.py line 12`; without a place where the function is not written in Python."""
        function: Any = self.function
        while isinstance(function, partial):
            function = function.func
        function = inspect.unwrap(function)
        named = getattr(function, "__name__", type(function).__name__).strip("<>")
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        return f"transform({named})" + (f" in {display(Path(code.co_filename))} line {code.co_firstlineno}" if code else "")


@dataclass(frozen=True)
class Deduplicate:
    """Keeps one row per key within the watermark delay (R12)."""

    key: tuple[str, ...]


@dataclass(frozen=True)
class WindowAggregate:
    """One row per window and key once the window can no longer change (emit="final")."""

    window: Tumbling
    by: tuple[str, ...]
    allowed_lateness: timedelta
    aggregates: "Mapping[str, Column]"


Step = Require | Filter | Transform | Deduplicate | WindowAggregate


@dataclass(frozen=True)
class Recipe:
    """A source's name and the steps behind it, in order."""

    source: str
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> "Recipe":
        return Recipe(self.source, (*self.steps, step))

    @property
    def deduplicate(self) -> Deduplicate | None:
        return next((step for step in self.steps if isinstance(step, Deduplicate)), None)

    @property
    def aggregate(self) -> WindowAggregate | None:
        return next((step for step in self.steps if isinstance(step, WindowAggregate)), None)

    @property
    def stateful(self) -> bool:
        return self.deduplicate is not None or self.aggregate is not None

    @property
    def allowed_lateness(self) -> timedelta:
        return self.aggregate.allowed_lateness if self.aggregate else timedelta()

    @property
    def row_wise(self) -> tuple[Step, ...]:
        """The steps before the first stateful one."""
        steps: list[Step] = []
        for step in self.steps:
            if isinstance(step, Deduplicate | WindowAggregate):
                break
            steps.append(step)
        return tuple(steps)

    @property
    def afterwards(self) -> tuple[Transform, ...]:
        """The transforms behind the aggregation."""
        if self.aggregate is None:
            return ()
        behind = self.steps[self.steps.index(self.aggregate) + 1 :]
        return tuple(step for step in behind if isinstance(step, Transform))
