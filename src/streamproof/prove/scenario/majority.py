"""Columns whose values are nearly all of one kind: the few others are records that went wrong, and not a reason to read the column as text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from streamproof.prove.scenario.sample_time import is_named_as_id
from streamproof.prove.scenario.sample_types import DecimalOf, csv_type

_MOST = 0.9
"""So large a part of the values must be of one kind."""
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_WORDS = {"number": "number", "time": "time", "truth": "true or false", "object": "object", "list": "list"}

Kind = Callable[[Any], str | None]


def strays(columns: Mapping[str, Sequence[Any]], kind_of: Kind) -> dict[int, str]:
    """The places of records with a value of another kind than nearly all of its column, each with the reason.

    Parameters
    ----------
    columns
        The values of each column as they stand in the sample.
    kind_of
        What a value is: "number", "quoted" (a number in quotes), "text", "time", "truth", "object" or "list"; None where there is none.
    """
    found: dict[int, str] = {}
    for name, values in columns.items():
        kinds = [kind_of(value) for value in values]
        main = _main(name, Counter(kind for kind in kinds if kind is not None))
        if main is None:
            continue
        for place, kind in enumerate(kinds):
            if kind not in (None, main):
                said = "a number in quotes" if kind == "quoted" else f"no {_WORDS[main]}"
                found.setdefault(place, f"{name} is {said}")
    return found if 2 * len(found) < max(map(len, columns.values()), default=0) else {}


def of_json(value: Any) -> str | None:
    """The kind of a value that was read from JSON."""
    match value:
        case None:
            return None
        case bool():
            return "truth"
        case float() if not math.isfinite(value):
            return "text"  # NaN without quotes is no JSON: a job rejects it
        case int() | float() | Decimal():
            return "number"
        case str():
            return "quoted" if _NUMBER.fullmatch(value) else "text"
        case list():
            return "list"
        case _:
            return "object"


def of_field(value: str) -> str | None:
    """The kind of a field of CSV."""
    type_ = csv_type(value)
    if isinstance(type_, DecimalOf) or type_ in ("long", "double"):
        return "number"
    return {"null": None, "date": "time", "timestamp": "time", "boolean": "truth"}.get(str(type_), "text")


def _main(name: str, kinds: Counter[str]) -> str | None:
    """The kind of a column that has a few values of others; None where all are alike, or it can only be text."""
    if len(kinds) < 2 or is_named_as_id(name):
        return None
    numbers, total = kinds["number"], kinds.total()
    if numbers > kinds["quoted"] and numbers + kinds["quoted"] >= _MOST * total:
        return "number"
    kind, count = kinds.most_common(1)[0]
    return kind if kind in _WORDS and count >= _MOST * total else None
