"""What keys of a scenario file may hold: shares, counts, instants, names. Errors are sentences that `problems.py` puts a place before."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainValidator
from pydantic_core import PydanticCustomError

from streamproof.config.secret import shown

_MODEL = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[A-Za-z_]\w*)")


def wrong(sentence: str, required: str = "") -> PydanticCustomError:
    """What is wrong with a value, and what it must be."""
    return PydanticCustomError("sentence", "{sentence}", {"sentence": sentence, "required": required})


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise wrong(f"is {shown(value)}", "It must be a share between 0 and 1, such as 0.005.")
    return float(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(f"is {shown(value)}", "It must be a whole number of at least 1, without quotes.")
    return value


def _instant(value: object) -> datetime:
    required = 'It must be an instant with its zone, such as "2026-01-05T09:00:00Z".'
    try:
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise wrong(f"is {shown(value)}, which is no instant", required) from None
    if instant.tzinfo is None:
        raise wrong(f"is {shown(value)}, which has no zone", required)
    return instant.astimezone(UTC)


def _variable(value: object) -> str:
    if not isinstance(value, str) or not value.isidentifier():
        raise wrong(f"has {shown(value)}", 'It must be the name of an environment variable, such as "TOTALS_URL".')
    return value


def _model_name(value: object) -> str:
    if not isinstance(value, str) or not _MODEL.fullmatch(value):
        raise wrong(f"is {shown(value)}", 'It must be a Python file and a function in it, such as "model.py:exposure".')
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise wrong(f"is {shown(value)}", 'It must be a list of names, such as ["late", "duplicate"].')
    return tuple(value)


Share = Annotated[float, PlainValidator(_share)]
Count = Annotated[int, PlainValidator(_count)]
Instant = Annotated[datetime, PlainValidator(_instant)]
Variable = Annotated[str, PlainValidator(_variable)]
ModelName = Annotated[str, PlainValidator(_model_name)]
Names = Annotated[tuple[str, ...], PlainValidator(_names)]


class Table(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
