"""How far two values may differ when floats are added in another order: not at all, in the last digits, by one step, or without limit.

A sum of doubles differs in its last digits from run to run. Where the job rounds it, two right answers can be one step apart (23.281488
beside 23.281487); where the job asks it a question, or makes a text of it, they can be anything.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

ANYTHING = math.inf
Steps = Mapping[str, float]
"""By column, for those that depend on the order: 0 for the last digits, the step of its rounding, or `ANYTHING`."""
CODE = "depends-on-float-order"
_NUMBERS = (int, float, Decimal)
_ONE_STEP = 1.5
"""One step and what floats add to it, but never two."""
_NEAR = 1e-3
"""Values that differ by at most this share of the larger one may differ by rounding alone."""


@dataclass(frozen=True)
class NotCompared:
    """A column that is compared with nothing: its code, "output.column", and a sentence for people."""

    name: str
    says: str

    def as_dict(self) -> dict[str, str]:
        """As the report holds it."""
        return {"code": CODE, "name": self.name, "says": self.says}


def not_compared(output: str, steps: Steps, compare: Mapping[str, str]) -> Iterator[NotCompared]:
    """The columns of an output that may be anything, and of which the scenario does not say how they are compared."""
    for column, step in steps.items():
        if step == ANYTHING and column not in compare:
            name = f"{output}.{column}"
            says = (
                f"{name} depends on the order in which events arrive, as a text or a condition does that is made of added floats, or a sketch "
                f'without a stated error: it was not compared. If it is to be: [expect] compare = {{ {column} = "exact" }}, or sp.sketch.'
            )
            yield NotCompared(name, says)


def alike(one: Any, other: Any, step: float, tolerance: float) -> bool:
    """Whether two numbers are equal within the tolerance, relative to the larger one and absolute, or at most one step apart."""
    if not isinstance(one, _NUMBERS) or not isinstance(other, _NUMBERS):
        return bool(one == other)
    mine, theirs = float(one), float(other)
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    return math.isclose(mine, theirs, rel_tol=tolerance, abs_tol=max(tolerance, step * _ONE_STEP))


def only_rounded(differing: Iterable[tuple[Any, Any]]) -> bool:
    """Whether values that are not equal may be apart by rounding alone: each pair is of numbers, not both whole, at most a thousandth apart.

    A number that a store keeps as text counts as that number.
    """
    pairs = [(_number(one), _number(other)) for one, other in differing]
    return bool(pairs) and all(_near(one, other) for one, other in pairs)


def _near(one: Any, other: Any) -> bool:
    if not isinstance(one, _NUMBERS) or not isinstance(other, _NUMBERS) or (isinstance(one, int) and isinstance(other, int)):
        return False
    return math.isclose(float(one), float(other), rel_tol=_NEAR)


def _number(value: Any) -> Any:
    if isinstance(value, str):
        with suppress(ArithmeticError):
            return Decimal(value)
    return value
