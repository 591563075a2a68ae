"""How values put rows in order, and whether what a state holds of one is what it should be."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

Order = tuple[bool, bool, Any]
_EPOCH = date(1970, 1, 1)


def placed(value: Any) -> Order:
    """Where a plain value stands among others: none is below all, and NaN is the greatest number."""
    if value is None:
        return (False, False, 0)
    nan = isinstance(value, float) and math.isnan(value)
    return (True, nan, 0 if nan else value)


def is_held(value: Any, found: Any) -> bool:
    """Whether a state that holds this of a row holds its value.

    Parameters
    ----------
    value
        The plain value of a row: a date is an ISO text, an instant is in microseconds.
    found
        As the file about the state has it: truths and dates are whole numbers, texts the digits of their bytes, decimals texts.
    """
    if value is None or found is None:
        return value is None and found is None
    if isinstance(value, Decimal):
        return Decimal(str(found)) == value
    if isinstance(value, float):
        number = float(found)
        return number == value or (math.isnan(number) and math.isnan(value))
    if isinstance(value, str):
        return bool(found == (value.encode().hex() if isinstance(found, str) else (date.fromisoformat(value) - _EPOCH).days))
    return bool(found == value)
