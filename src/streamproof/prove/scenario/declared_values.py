"""Whether a value of a sample fits a declared type, as Spark's readers of JSON and CSV see it, and what it is then."""

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from streamproof.config.columns import UnreadableSchema, typed_columns_of

Read = Callable[[Any], Any]


class Misfit(ValueError):
    """A value that is not of its type; the message says why, without the value."""


_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}
_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?")
_NO_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "Inf": math.inf, "+Inf": math.inf}
_NO_NUMBERS |= {"-Infinity": -math.inf, "-Inf": -math.inf, "INF": math.inf, "+INF": math.inf, "-INF": -math.inf}
_TIME = re.compile(
    r"\s*(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<part>\d{0,9}))?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?(?::\d{2})?|[A-Za-z]+(?:/[A-Za-z_]+)+)?)?)?)?\s*"
)
"""What Spark casts to a timestamp, in years of four digits."""
_DAY = re.compile(r"\s*(\d{4}-\d{1,2}-\d{1,2})[ T].*", re.DOTALL)
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?(?::\d{2})?")
_SIZE = re.compile(r"\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_SECONDS = range(946_684_800, 4_102_444_800)  # the years 2000 to 2100


def reader_of(type_: str, *, fields: bool) -> Read:
    """What reads values of a type; it raises `Misfit` over one that is none.

    Parameters
    ----------
    type_
        In DDL, "array<struct<at: timestamp>>".
    fields
        Whether the values are fields of CSV, which are all texts.

    Raises
    ------
    ValueError
        If there is no such type, or no file of this format holds it.
    """
    kind, inside = _taken_apart(type_)
    if kind in ("array", "map", "struct"):
        if fields:
            raise ValueError("a field of CSV holds one value")
        return _NESTED[kind](inside)
    if kind in _BITS:
        return _whole(_BITS[kind], fields=fields)
    if kind in ("float", "real", "double"):
        return _fraction(fields=fields)
    if kind in ("decimal", "dec", "numeric"):
        return _decimal(inside)
    reads = _OF_FIELDS if fields else _OF_VALUES
    if kind not in reads:
        raise ValueError(f"no {'CSV' if fields else 'JSON'} file holds values of it")
    return reads[kind]


def _taken_apart(type_: str) -> tuple[str, str]:
    found = re.fullmatch(r"\s*([A-Za-z_]+)\s*(.*?)\s*", type_, re.DOTALL)
    if found is None:
        raise ValueError("it is no type")
    kind, rest = found[1].lower(), found[2]
    if kind in ("array", "map", "struct"):
        if not (rest.startswith("<") and rest.endswith(">")):
            raise ValueError(f"{kind} is written {kind}<...>")
        return kind, rest[1:-1]
    return kind, rest


def _array(inside: str) -> Read:
    read = reader_of(inside, fields=False)

    def array(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise Misfit(f"{_named(value)} is no list")
        return [None if each is None else read(each) for each in value]

    return array


def _map(inside: str) -> Read:
    parts = list(typed_parts(inside))
    if len(parts) != 2:
        raise ValueError("a map is written map<key, value>")
    read = reader_of(parts[1], fields=False)

    def map_(value: Any) -> Any:
        pairs = list(value.items()) if isinstance(value, Mapping) else value
        if not isinstance(pairs, list):
            raise Misfit(f"{_named(value)} is no object")
        return {key: None if each is None else read(each) for key, each in pairs}

    return map_


def _struct(inside: str) -> Read:
    try:
        readers = {name: reader_of(type_, fields=False) for name, type_ in typed_columns_of(inside).items()}
    except UnreadableSchema as problem:
        raise ValueError(f"it {problem}") from None

    def struct(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(f"{_named(value)} is no object")
        return {name: None if value.get(name) is None else read(value[name]) for name, read in readers.items()}

    return struct


def typed_parts(text: str) -> list[str]:
    """The text split at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _whole(bits: int, *, fields: bool) -> Read:
    def whole(value: Any) -> int:
        if fields and isinstance(value, str):
            if not _WHOLE.fullmatch(value):
                raise Misfit("a text is no whole number" if not _NUMBER.fullmatch(value) else "a number has decimals")
            value = int(value) if len(value) < 40 else 1 << 200
        if isinstance(value, bool) or not isinstance(value, int):
            raise Misfit(_no_number(value, "a number has decimals"))
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise Misfit("a number is too great")
        return value

    return whole


def _fraction(*, fields: bool) -> Read:
    def fraction(value: Any) -> float:
        if isinstance(value, str) and value in _NO_NUMBERS:
            return _NO_NUMBERS[value]
        if fields and isinstance(value, str):
            if not _NUMBER.fullmatch(value.strip()):
                raise Misfit("a text is no number")
            return float(value.strip().rstrip("dDfF"))
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise Misfit(_no_number(value, ""))
        return float(str(value))

    return fraction


def _decimal(inside: str) -> Read:
    size = _SIZE.fullmatch(inside)
    precision, scale = (int(size[1]), int(size[2] or 0)) if size else (10, 0)

    def decimal(value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
            raise Misfit(f"{_named(value)} is no number")
        try:
            found = Decimal(str(value))
        except InvalidOperation:
            raise Misfit("a text is no number") from None
        if not found.is_finite() or abs(found) >= Decimal(10) ** (precision - scale):
            raise Misfit("a number is too great")
        return found

    return decimal


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Misfit(f"{_named(value)} is neither true nor false")
    return value


def _boolean_field(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() not in ("true", "false"):
        raise Misfit("a text is neither true nor false")
    return str(value).lower() == "true"


def _text(value: Any) -> Any:
    from streamproof.prove.scenario.sample_as_json import json_text

    return value if isinstance(value, str) else json_text(value)


def _timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, str):
        return _instant(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value not in _SECONDS:
            raise Misfit("a number is no count of seconds since 1970, as which Spark reads it")
        return datetime.fromtimestamp(value, UTC)
    raise Misfit(f"{_named(value)} is no time")


def _local(value: Any) -> datetime:
    if isinstance(value, str):
        found = _TIME.fullmatch(value)
        if found is not None and found["zone"]:
            raise Misfit("a text names a zone, which a timestamp without one does not take")
    return _timestamp(value).replace(tzinfo=None)


def _date(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        raise Misfit(f"{_named(value)} is no day")
    found = _DAY.fullmatch(value)  # what follows a whole day is not looked at
    return _instant(found[1] if found else value).date()


def _instant(text: str) -> datetime:
    found = _TIME.fullmatch(text)
    if found is None:
        raise Misfit("a text is empty" if not text.strip() else "a text is no time in ISO 8601")
    part = (found["part"] or "")[:6].ljust(6, "0")
    numbers = [int(found[name] or least) for name, least in (("month", 1), ("day", 1), ("hour", 0), ("minute", 0), ("second", 0))]
    try:
        return datetime(int(found["year"]), *numbers, int(part), tzinfo=_zone(found["zone"])).astimezone(UTC)  # type: ignore[arg-type, misc]
    except (ValueError, OverflowError, KeyError):
        raise Misfit("a text is no time that there is") from None


def _zone(text: str | None) -> Any:
    if text is None or text in ("Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset is None:
        return ZoneInfo(text)
    length = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    return timezone(-length if offset[1] == "-" else length)


def _binary(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise Misfit(f"{_named(value)} is no base64") from None


def _bytes_of_field(value: Any) -> bytes:
    return str(value).encode()


def _no_number(value: Any, decimals: str) -> str:
    if decimals and isinstance(value, float | Decimal):
        return decimals
    return (
        "a number stands in quotes, and is a text"
        if isinstance(value, str) and _NUMBER.fullmatch(value)
        else f"{_named(value)} is no number"
    )


def _named(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float() | Decimal():
            return "a number"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return "a value"


_NESTED: Mapping[str, Callable[[str], Read]] = {"array": _array, "map": _map, "struct": _struct}
_OF_VALUES: Mapping[str, Read] = {
    "string": _text,
    "char": _text,
    "varchar": _text,
    "boolean": _boolean,
    "timestamp": _timestamp,
    "timestamp_ltz": _timestamp,
    "timestamp_ntz": _local,
    "date": _date,
    "binary": _binary,
}
_OF_FIELDS: Mapping[str, Read] = {**_OF_VALUES, "boolean": _boolean_field, "binary": _bytes_of_field}
