"""Columns of a sample as arrays: instants in microseconds, and the texts that groups are called by."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamproof.core.clock import LAST_MICROS
from streamproof.prove.scenario.sample_time import MICROS_PER, instant_us

NOTHING = "(none)"
_NONE = -(2**62)

Instants = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Microseconds since 1970, and which of them there are."""


def instants(values: Any, unit: str | None) -> Instants:
    """The event times of a column: a list of plain values, or an array of Arrow's; what says no time, or one that Spark cannot print, is not there.

    Parameters
    ----------
    unit
        What a number counts since 1970; by its size where it is None.
    """
    if isinstance(values, pa.Array):
        return _usable(_of_arrow(values, unit))
    return _usable(_of_list(values, unit))


def texts(values: Any) -> Iterable[str]:
    """What each value is called as a group."""
    return map(_text, values.to_pylist() if isinstance(values, pa.Array) else values)


def _usable(found: NDArray[np.int64]) -> Instants:
    return found, (found >= -LAST_MICROS) & (found <= LAST_MICROS)


def _of_arrow(values: Any, unit: str | None) -> NDArray[np.int64]:
    type_ = values.type
    if pa.types.is_dictionary(type_):
        return _of_arrow(values.dictionary_decode(), unit)
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        micros = values.cast(pa.timestamp("us", getattr(type_, "tz", None)), safe=False).cast(pa.int64())
        return np.asarray(micros.fill_null(_NONE).to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_signed_integer(type_) and unit is not None:
        there = values.is_valid().to_numpy(zero_copy_only=False)
        numbers = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(there, _scaled(numbers, unit), _NONE)
    return _of_list(values.to_pylist(), unit)


def _of_list(values: Sequence[Any], unit: str | None) -> NDArray[np.int64]:
    kinds = set(map(type, values))
    if kinds == {int} and unit is not None:
        numbers = np.array(values)
        if numbers.dtype == np.int64:
            return _scaled(numbers, unit)
    if kinds == {str}:
        read = _of_texts(values)
        if read is not None:
            return read
    return np.fromiter((_micros(value, unit) for value in values), dtype=np.int64, count=len(values))


def _scaled(numbers: NDArray[np.int64], unit: str) -> NDArray[np.int64]:
    factor = MICROS_PER[unit]
    if factor < 1:
        return numbers // factor.denominator
    most = LAST_MICROS // int(factor)
    return np.where((numbers >= -most) & (numbers <= most), np.clip(numbers, -most, most) * int(factor), _NONE)


def _of_texts(values: Sequence[str]) -> NDArray[np.int64] | None:
    """Texts in ISO 8601, all with a zone or all without; None where they are others."""
    column = pa.array(values, pa.string())
    for zone in ("UTC", None):
        try:
            micros = column.cast(pa.timestamp("us", zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        return np.asarray(micros.to_numpy(zero_copy_only=False), dtype=np.int64)
    return None


def _micros(value: Any, unit: str | None) -> int:
    try:
        found = instant_us(value, unit)
    except (OverflowError, ValueError, ArithmeticError):
        found = None
    return _NONE if found is None or abs(found) > LAST_MICROS else found


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case None:
            return NOTHING
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)
