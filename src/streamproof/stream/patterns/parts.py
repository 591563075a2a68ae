"""What the calls of patterns have in common: keys, durations, bounds, and lists of rows that wait."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.windows.durations import positive_duration

Key = str | Sequence[str]


def key_of(key: Key) -> tuple[str, ...]:
    """The columns of a key."""
    return (key,) if isinstance(key, str) else tuple(key)


def interval(call: str, text: str) -> str:
    """A duration as SQL; JobDefinitionError unless it is longer than zero."""
    milliseconds = round(positive_duration(call, text, "it needs a duration").total_seconds() * 1000)
    return f"INTERVAL {milliseconds} MILLISECONDS"


def require_number(call: str, number: object) -> None:
    """JobDefinitionError unless it is a number of records, 1 or more."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise JobDefinitionError(f"{call}: {number!r} is no number of records.", required="1 or more.")


def columns_of(call: str, given: Any, taken: Sequence[str]) -> Mapping[str, str]:
    """The columns that a row keeps while it waits, by name with their SQL types.

    Raises
    ------
    JobDefinitionError
        If they are no texts by name, or one has a name that the pattern gives itself.
    """
    if not isinstance(given, Mapping) or not all(isinstance(part, str) and part for item in given.items() for part in item):
        raise JobDefinitionError(
            f"{call} is no mapping of names to types.",
            required="A row that waits is kept in a list, and the list needs the type of each column.",
            remedy='For example: {"payment_id": "string", "amount": "double"}.',
        )
    clash = next((name for name in given if name.lower() in taken), None)
    if clash is not None:
        raise JobDefinitionError(
            f"{call} has a column {clash}, and the pattern has one of that name itself.",
            remedy="Leave it out, or give the column another name by transform().",
        )
    return given


def row_type(columns: Mapping[str, str]) -> str:
    """The SQL type of a row that waits: its instant, and its columns."""
    return f"struct<{', '.join(f'{name}: {type_}' for name, type_ in {'at': 'timestamp', **columns}.items())}>"


def row_of(time: str, columns: Mapping[str, str]) -> str:
    """A row as a list keeps it, as SQL; `columns` are expressions by name."""
    return f"struct({', '.join(f'{text} AS {name}' for name, text in {'at': time, **columns}.items())})"
