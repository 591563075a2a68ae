"""The values of rows as people see them."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from streamproof.core.clock import from_micros

ENDS_OF_WINDOWS = ("window_start", "window_end")
_HIDDEN = "_"
_FIRST_US, _LAST_US = 10**14, 10**17
"""1973 and 5138: a number outside is no instant in microseconds, but what a job has made of it."""


def is_hidden(name: str) -> bool:
    """Whether a column is one that a proof adds."""
    return name.startswith(_HIDDEN)


def shown_values(values: Mapping[str, Any], instants: Collection[str]) -> dict[str, Any]:
    """The values without hidden columns, instants as texts in UTC: "2026-01-05 09:00:30.500".

    Parameters
    ----------
    instants
        The columns that are instants, there in microseconds UTC.
    """
    return {
        name: as_text(value, sure=name in ENDS_OF_WINDOWS) if name in instants else value
        for name, value in values.items()
        if not is_hidden(name)
    }


def as_text(value: Any, *, sure: bool) -> Any:
    """An instant in microseconds UTC as a text; anything else as it is. Where it is not `sure` that a number is one, its size decides."""
    if not isinstance(value, int) or isinstance(value, bool) or not (sure or _FIRST_US <= value < _LAST_US):
        return value
    try:
        moment = from_micros(value)
    except (ValueError, OverflowError, OSError):
        return value
    text = moment.strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03d}" if moment.microsecond else text


def decimals_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns that hold decimals. They are kept as texts, which have all of their digits, so it has to be kept which they are."""
    return list(dict.fromkeys(name for values in rows for name, value in values.items() if isinstance(value, Decimal)))


__all__ = ["ENDS_OF_WINDOWS", "as_text", "decimals_of", "is_hidden", "shown_values"]
