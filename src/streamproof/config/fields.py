"""The kinds of values that a table of `streamproof.toml` takes, each with what is said of a wrong one."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator
from pydantic_core import PydanticCustomError

from streamproof.config.problems import did_you_mean, one_of
from streamproof.config.secret import shown
from streamproof.core.durations import format_duration, parse_duration


def wrong(sentence: str, required: str = "", remedy: str = "") -> PydanticCustomError:
    """What a validator raises: the end of a sentence that begins with the key, such as 'is "x", which is no duration'."""
    return PydanticCustomError("sentence", "{sentence}", {"sentence": sentence, "required": required, "remedy": remedy})


def text(value: object) -> str:
    if not isinstance(value, str):
        raise wrong(f"is {shown(value)}", "It must be a text in quotes.")
    if not value.strip():
        raise wrong("is empty", "It must be a text in quotes.")
    return value


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    required = 'It must be a duration in quotes, such as "10 seconds", "5 minutes" or "1 hour".'
    if not isinstance(value, str):
        raise wrong(f"is {shown(value)}", required)
    try:
        return parse_duration(value)
    except ValueError:
        raise wrong(f"is {shown(value)}, which is not a duration", required) from None


def _limit(value: object) -> timedelta | None:
    return None if value is None or value == NO_LIMIT else _duration(value)


def _zone(value: object) -> str:
    name = text(value)
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        required = 'It must be a time zone by its IANA name, such as "UTC", "Europe/Berlin" or "America/New_York".'
        raise wrong(
            f"is {shown(name)}, which is no known time zone.{did_you_mean(name, available_timezones())}".removesuffix("."), required
        ) from None
    return name


def choice(*names: str) -> PlainValidator:
    def validate(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        raise wrong(f"is {shown(value)}{f'.{hint}'.rstrip('.')}", f"It must be {one_of(names)}.")

    return PlainValidator(validate)


def some_of(*names: str) -> PlainValidator:
    """A list of some of the names."""

    def validate(value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise wrong(f"is {shown(value)}", f"It must be a list of {one_of(names)}.")
        for each in value:
            if each not in names:
                hint = did_you_mean(each, names) if isinstance(each, str) else ""
                raise wrong(f"has {shown(each)}{f'.{hint}'.rstrip('.')}", f"It takes {one_of(names)}.")
        return tuple(value)

    return PlainValidator(validate)


def count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(f"is {shown(value)}", "It must be a whole number of at least 1, without quotes.")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (text(value),)
    if not isinstance(value, list | tuple) or not value:
        raise wrong(f"is {shown(value)}", "It must be a text in quotes, or a list of texts.")
    return tuple(text(each) for each in value)


def _servers(value: object) -> str:
    if not all(_SERVER.fullmatch(server.strip()) for server in text(value).split(",")):
        raise wrong(f"is {shown(value)}", 'It must be "host:9092", several with commas; TLS and passwords belong into options.')
    return text(value)


def _options(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise wrong(f"is {shown(value)}", 'It must be a table of texts, such as { "security.protocol" = "SSL" }.')
    flat: dict[str, str] = {}
    for key, each in value.items():
        if isinstance(each, Mapping):  # what TOML makes of a dotted key without quotes
            flat.update({f"{key}.{inner}": found for inner, found in _options(each).items()})
        elif isinstance(each, bool):
            flat[str(key)] = str(each).lower()
        elif isinstance(each, str | int | float):
            flat[str(key)] = each if isinstance(each, str) else str(each)
        else:
            raise wrong(f"has {key} = {shown(each)}", "It must be a text, a number, or true or false.")
    return flat


def _reading_options(value: object) -> dict[str, str]:
    found = _options(value)
    for key in found:
        required = _SAID_ELSEWHERE.get(key.lower())
        if required is not None:
            raise wrong(f'has "{key}"', required)
    return found


_SAID_ELSEWHERE: Mapping[str, str] = {
    "isolation.level": 'What a transaction has aborted is left out, or taken in by read = "uncommitted".',
    "failondataloss": "It is true: records that retention took, or that a deleted topic had, were never counted.",
}
"""By an option of a source in small letters: what says it, or that nothing does."""
NO_LIMIT = "none"
_SERVER = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.\-]+):\d{1,5}")
"""A host by its name or address, an IPv6 address in brackets, and a port."""
Text = Annotated[str, PlainValidator(text)]
Duration = Annotated[timedelta, PlainValidator(_duration), PlainSerializer(format_duration)]
Limit = Annotated[
    timedelta | None,
    PlainValidator(_limit),
    PlainSerializer(lambda value: format_duration(value) if value is not None else NO_LIMIT),
]
"""A duration; None, which is written "none", for no limit."""
Zone = Annotated[str, PlainValidator(_zone)]
Count = Annotated[int, PlainValidator(count)]
Texts = Annotated[tuple[str, ...], PlainValidator(_texts)]
"""One text, or a list of texts."""
Servers = Annotated[str, PlainValidator(_servers)]
"""Kafka's bootstrap servers."""
Options = Annotated[dict[str, str], PlainValidator(_options)]
"""Settings of a client library, passed on as they are."""
ReadingOptions = Annotated[dict[str, str], PlainValidator(_reading_options)]
"""The same for a client that reads, without what the guarantees stand on (R27)."""


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
