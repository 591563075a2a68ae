"""The columns of a sample as `scenario.toml` describes them, so that the generator makes values like those of the sample."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_as_json import json_text
from streamproof.prove.scenario.sample_types import date_in, instant_in

WHOLE = ("tinyint", "smallint", "int", "long")
_FRACTIONS = ("float", "double")
_MOST_CHOICES = 20
_MOST_CODES = 10
_MOST_KEYS = 1_000
_MOST_NESTED = 20
_MOST_EXAMPLES = 60
"""So many nested values are named where fewer do not hold all the texts in them."""
_MOST_DECIMALS = 6
_BEYOND = 10**15
"""Greater numbers are not drawn: a double does not count that far."""
_IDS = 10**9
"""So many numbers an id is drawn from at least: two events have hardly ever the same."""
_QUOTED = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_DIGITS = re.compile(r"\d+")
_WRITTEN_TO_PARQUET = ("string", "boolean", *WHOLE, *_FRACTIONS, "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Described:
    """A column of `scenario.toml`.

    Parameters
    ----------
    kind
        Its keys, as the reference of the file names them; None where the generator leaves it null.
    """

    name: str
    kind: Mapping[str, Any] | None


def described(sample: Sample, *, id_column: str | None = None) -> list[Described]:
    """How the generator makes each column of a sample in JSON or Parquet.

    Parameters
    ----------
    id_column
        The column that is to be different for every event.
    """
    return [Described(name, _kind(sample, name, type_, is_id=name == id_column)) for name, type_ in sample.columns.items()]


def written_to_parquet(sample: Sample) -> bool:
    """Whether the generator can write events with the columns of the sample to Parquet."""
    return all(type_ in _WRITTEN_TO_PARQUET for type_ in sample.columns.values())


def texts_of(sample: Sample, name: str) -> Counter[str]:
    """The values of a column of texts that stand in the records, and how often."""
    return Counter(value for record in sample.records if isinstance(value := record.values[name], str) and _writable(value))


def toml(value: Any) -> str:
    """The value as TOML writes it; what is null in a table or list is left out, TOML has no null."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            inner = ", ".join(f"{toml_key(name)} = {toml(each)}" for name, each in value.items() if each is not None)
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            return f"[{', '.join(toml(each) for each in value if each is not None)}]"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return repr(value)


def toml_key(name: str) -> str:
    """The name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def _kind(sample: Sample, name: str, type_: str, *, is_id: bool) -> Mapping[str, Any] | None:
    values = [value for record in sample.records if (value := record.values[name]) is not None]
    if name == sample.time_column:
        return {"kind": "event_time"}
    if not values:
        return None
    if type_ == "boolean":
        return {"kind": "choice", "values": sorted(set(values))}
    if type_ in WHOLE:
        return _whole(values, type_, is_id=is_id)
    if type_ in _FRACTIONS or type_.startswith("decimal"):
        return _fraction(values)
    if type_ == "string":
        return _id(texts_of(sample, name)) if is_id else _text(name, texts_of(sample, name))
    if sample.format == "parquet":  # a second timestamp: the generator has no kind that makes one
        return None
    return _examples(values)


def _id(texts: Mapping[str, int]) -> Mapping[str, Any]:
    prefix = _prefix(texts)
    rest = [text.removeprefix(prefix) for text in texts]
    width = min(map(len, rest)) if all(map(_DIGITS.fullmatch, rest)) else 6
    return {"kind": "id", "prefix": prefix, "width": max(1, width)}


def _text(name: str, texts: Counter[str]) -> Mapping[str, Any] | None:
    if not texts:
        return None
    if len(texts) <= _MOST_CHOICES and 2 * len(texts) <= texts.total():
        return {"kind": "choice", "values": sorted(texts)}
    if all(instant_in(text) is not None or date_in(text) is not None for text in texts):  # another time than the event's
        return {"kind": "choice", "values": _evenly(sorted(texts), _MOST_NESTED)}
    if all(map(_QUOTED.fullmatch, texts)):  # numbers in quotes: a key's name and number would be none
        return {"kind": "choice", "values": _evenly(sorted(texts, key=lambda text: (Decimal(text), text)), _MOST_NESTED)}
    share = round(texts.most_common(1)[0][1] / texts.total(), 2)
    hot = {"hot": share} if share > 2 / len(texts) else {}
    return {"kind": "key", "prefix": _prefix(texts) or f"{name}-", "count": min(len(texts), _MOST_KEYS), **hot}


def _evenly(values: Sequence[str], most: int) -> list[str]:
    """So many of the values, from the first to the last."""
    if len(values) <= most:
        return list(values)
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def _prefix(texts: Mapping[str, int]) -> str:
    """What the texts begin with, the digits of a number left out; empty where a number would not follow."""
    first, last = min(texts), max(texts)
    alike = next((place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    found = first[:alike].rstrip("0123456789")
    return found if len(found) <= _MOST_CHOICES else ""


def _whole(values: Sequence[int], type_: str, *, is_id: bool) -> Mapping[str, Any]:
    low, high = max(min(values), -_BEYOND), min(max(values), _BEYOND)
    if is_id:
        most = 2**31 - 1 if type_ == "int" else _BEYOND + _IDS
        low = min(low, most - _IDS)
        return {"kind": "number", "min": low, "max": min(most, max(high, low + _IDS)), "decimals": 0}
    codes = sorted(set(values))
    if len(codes) <= _MOST_CODES and 5 * len(codes) <= len(values):
        return {"kind": "choice", "values": codes}
    return {"kind": "number", "min": low, "max": max(low, high), "decimals": 0}


def _fraction(values: Sequence[float | Decimal]) -> Mapping[str, Any] | None:
    exact = [Decimal(repr(value)) if isinstance(value, float) else Decimal(value) for value in values if math.isfinite(value)]
    drawn = [value for value in exact if abs(value) <= _BEYOND]
    if not drawn:
        return None
    decimals = min(_MOST_DECIMALS, max(_decimals(value) for value in drawn))
    return {"kind": "number", "min": _number(min(drawn)), "max": _number(max(drawn)), "decimals": decimals}


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) and value != value.to_integral_value() else 0


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _examples(values: Sequence[Any]) -> Mapping[str, Any] | None:
    """Some of the values themselves: nested ones, dates, timestamps, bytes. Every text and truth in them is there if it can be."""
    counts = Counter(text for text in map(json_text, values) if _writable(text))
    found = {text: json.loads(text) for text, _ in counts.most_common()}
    chosen: list[str] = []
    seen: set[tuple[str, str]] = set()
    for text, value in found.items():
        new = set(_leaves(value)) - seen
        if new and len(chosen) < _MOST_EXAMPLES:
            chosen.append(text)
            seen |= new
    chosen += [text for text in found if text not in chosen][: max(0, _MOST_NESTED - len(chosen))]
    return {"kind": "choice", "values": [_without_null(found[text]) for text in chosen]} if chosen else None


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts and truths within a value, each with the names that lead to it."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from _leaves(inner, f"{path}.{name}")
        case list():
            for each in value:
                yield from _leaves(each, f"{path}[]")
        case str() | bool():
            yield path, str(value)


def _without_null(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_null(inner) for name, inner in value.items() if inner is not None}
        case list():
            return [_without_null(each) for each in value if each is not None]
        case _:
            return value


def _writable(text: str) -> bool:
    """Whether the text can stand in a file: JSON can name halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
