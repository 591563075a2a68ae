"""Cases that are of the full tables: of a test with many slow ones, those that every run need not have."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def full(*cases: Any) -> list[ParameterSet]:
    """`parametrize("n", [1, *full(2, 3)])`: the last two run with FULL=1 alone. A tuple is the values of several arguments."""
    return [
        pytest.param(
            *_values(case), id=case.id if isinstance(case, ParameterSet) else None, marks=[*_marks(case), pytest.mark.full]
        )
        for case in cases
    ]


def beyond(first: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a table that is made elsewhere: those beyond the first ones are of the full tables."""
    found = list(cases)
    return [*found[:first], *full(*found[first:])]


def _values(case: Any) -> Iterable[Any]:
    if isinstance(case, ParameterSet):
        return case.values
    return case if isinstance(case, tuple) else (case,)


def _marks(case: Any) -> Iterable[Any]:
    return case.marks if isinstance(case, ParameterSet) else ()
