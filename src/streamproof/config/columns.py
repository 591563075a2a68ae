"""What the schema says without Spark: the columns, their types, and whether the event time fits them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from streamproof.config.positions import KeyPath
from streamproof.config.problems import Problem, did_you_mean
from streamproof.config.secret import SecretText, shown
from streamproof.config.sources import SourceConfig
from streamproof.core.file_formats import TYPED
from streamproof.errors import ConfigurationError

_NUMBERS = (
    "tinyint",
    "byte",
    "smallint",
    "short",
    "int",
    "integer",
    "bigint",
    "long",
    "float",
    "real",
    "double",
    "decimal",
    "dec",
    "numeric",
)
_TEXTS = ("string", "char", "varchar")
_TIMES = ("timestamp", "timestamp_ltz", "timestamp_ntz", "date")
_OTHERS = ("boolean", "binary", "array", "map", "struct", "variant", "interval")
_NOT_IN_CSV = ("array", "map", "struct", "variant", "interval")
_LIKE_A_TIME = re.compile(
    r"(?i:(?:^|_)(?:ts|at|on|when|time|timestamp|date|datetime|instant)(?:$|_)|time$|timestamp|date$)|At$|Ts$"
)
_FLAT = "Read it as a string, and take it apart in the job: from_json in a transform."
_COLUMN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^\s:`]+))(?:\s*:\s*|\s+)([A-Za-z_]+)\s*(\(\s*\d+\s*(?:,\s*\d+\s*)?\))?", re.DOTALL)

_BESIDE = re.compile(r"\s+(?:not\s+null|comment\s+(?:'[^']*'|\"[^\"]*\")|default\s+\S+)", re.IGNORECASE)


class UnreadableSchema(ValueError):
    """A schema text that is not DDL; the message is the end of a sentence that begins with `schema`."""


def columns_of(ddl: str) -> dict[str, str]:
    """The top columns of a schema in DDL with the first word of their types, in lower case: {"notional": "decimal"}.

    Raises
    ------
    UnreadableSchema
        If a part of the text is no column, or its type is not known.
    """
    columns: dict[str, str] = {}
    for part in _parts(ddl):
        found = _COLUMN.match(part)
        if found is None:
            raise UnreadableSchema(f'has the part "{part.strip()}", which is no column with a type')
        name, kind = (found[1].replace("``", "`") if found[1] else found[2]), found[3].lower()
        known = (*_NUMBERS, *_TEXTS, *_TIMES, *_OTHERS)
        if kind not in known:
            raise UnreadableSchema(
                f'gives the column "{name}" the type "{kind}", which is not known.{did_you_mean(kind, known)}'.removesuffix(".")
            )
        if name.lower() in (other.lower() for other in columns):
            raise UnreadableSchema(f'has the column "{name}" twice')
        columns[name] = kind
    return columns


def sized_columns_of(ddl: str) -> dict[str, str]:
    """As `columns_of`, with what stands in brackets after a number: {"notional": "decimal(10,2)"}."""
    columns = columns_of(ddl)
    sized: dict[str, str] = {}
    for (name, kind), part in zip(columns.items(), _parts(ddl), strict=True):
        found = _COLUMN.match(part)
        size = found[4] if found is not None and kind in _NUMBERS else None
        sized[name] = kind + "".join((size or "").split())
    return sized


def typed_columns_of(ddl: str) -> dict[str, str]:
    """As `columns_of`, with the whole type of each column: {"at": "timestamp", "tags": "array<string>"}."""
    typed: dict[str, str] = {}
    for (name, kind), part in zip(columns_of(ddl).items(), _parts(ddl), strict=True):
        found = _COLUMN.match(part)
        assert found is not None
        rest = _BESIDE.sub("", part[found.start(3) + len(found[3]) :]).strip()
        typed[name] = kind + rest
    return typed


def parts_of(ddl: str) -> list[str]:
    """What stands between the commas of columns, of fields of a struct, or of types in angle brackets."""
    return [part.strip() for part in _parts(ddl)]


def require_said(source: str, columns: Sequence[str], named: Collection[str], where: str = "") -> None:
    """ConfigurationError if lines of text have a column beside the first that no folder of their path gives a value."""
    said = {name.lower() for name in named}
    missing = next((column for column in columns[1:] if column.lower() not in said), None)
    if missing is not None:
        raise ConfigurationError(
            f'{where}{": " if where else ""}[source.{source}] format is "text", and no folder of the path names the column {missing}.',
            required=f"A line of text is one column, the first; others are those that folders name: {missing}=...",
            remedy=f"Leave {missing} out of schema.",
        )


def check_columns(path: KeyPath, source: SourceConfig) -> Iterator[Problem]:
    """What is wrong with schema and event time of a source that is otherwise valid."""
    if source.schema_ddl is None:
        if not source.says_columns:
            yield Problem(
                path,
                f'needs the key "schema" for format "{source.format}".',
                'It is the columns, such as "trade_id string, notional double, ts long".',
            )
        return
    try:
        columns = columns_of(source.schema_ddl)
    except UnreadableSchema as problem:
        secret = isinstance(source.schema_ddl, SecretText)
        sentence = f"is {shown(source.schema_ddl)} and no list of columns with types" if secret else str(problem)
        end = "" if sentence.endswith("?") else "."
        yield Problem(
            (*path, "schema"), f"schema {sentence}{end}", 'It is the columns, such as "trade_id string, notional double, ts long".'
        )
        return
    if source.format == "text" and next(iter(columns.values())) != "string":
        found = f'schema is "{source.schema_ddl}", and a line of text is one column, the first.'
        yield Problem((*path, "schema"), found, 'It must be a string, such as "value string".')
    for name, kind in columns.items() if source.format == "csv" else ():
        if kind in _NOT_IN_CSV:
            yield Problem(
                (*path, "schema"),
                f'schema gives the column "{name}" the type "{kind}", and a field of CSV holds one value.',
                remedy=_FLAT,
            )
    if source.event_time is not None:
        yield from _check_event_time((*path, "event_time"), source, columns)


def _check_event_time(path: KeyPath, source: SourceConfig, columns: dict[str, str]) -> Iterator[Problem]:
    assert source.event_time is not None
    event_time, by_lower = source.event_time, {name.lower(): kind for name, kind in columns.items()}
    kind = by_lower.get(event_time.column.lower())
    if kind is None:
        found = f'event_time.column is "{event_time.column}", which is no column of the schema.{did_you_mean(event_time.column, columns)}'
        if isinstance(source.schema_ddl, SecretText):
            yield Problem(
                (*path, "column"), "event_time.column is no column of the schema.", f"The schema is {shown(source.schema_ddl)}."
            )
        else:
            yield Problem((*path, "column"), found, f"The columns are {', '.join(columns)}.")
        return
    is_a = f'the column "{event_time.column}" is a {kind}'
    if kind in _NUMBERS and event_time.unit is None:
        yield Problem(
            path, f'event_time needs the key "unit": {is_a}.', "It must be seconds, milliseconds, microseconds or nanoseconds."
        )
    elif kind in _TIMES and event_time.unit is not None:
        yield Problem((*path, "unit"), f"event_time.unit is for numbers, and {is_a}.", remedy="Leave unit out.")
    elif kind in _TEXTS and event_time.unit is not None and event_time.format is not None:
        yield Problem(
            (*path, "format"),
            f"event_time has unit and format, and {is_a}.",
            "A text is read as a number (unit) or by a pattern (format).",
            'Leave format out for numbers in quotes, such as "1767603600000", and unit for all other texts.',
        )
    elif kind not in (*_NUMBERS, *_TEXTS, *_TIMES):
        yield Problem(
            (*path, "column"), f"event_time.column cannot be a time: {is_a}.", "It must be a number, a text, a timestamp or a date."
        )
    if kind not in _TEXTS and event_time.format is not None:
        remedy = "Leave format out."
        if kind in _NUMBERS and source.format not in TYPED:
            remedy += (
                f' A number that is to be read by a pattern, such as 20260105, is declared as a text: "{event_time.column} string".'
            )
        yield Problem((*path, "format"), f"event_time.format is for texts, and {is_a}.", remedy=remedy)


def event_time_of(columns: Mapping[str, str]) -> str:
    """What to write for a source without event time: the line, for the column that most looks like one, and what to choose in it.

    Parameters
    ----------
    columns
        The columns and the first words of their types: {"at": "string"}.
    """
    kinds = {name: re.split(r"\W", kind.lower(), maxsplit=1)[0] for name, kind in columns.items()}
    named = [name for name in kinds if _LIKE_A_TIME.search(name) and kinds[name] in (*_TIMES, *_TEXTS, *_NUMBERS)]
    times = [name for name, kind in kinds.items() if kind in _TIMES]
    column = next((name for name in (*[one for one in named if one in times], *times, *named)), None)
    if column is None:
        return (
            'event_time = { column = "...", lag = "10 seconds" }\nA column of numbers needs unit = "milliseconds" besides, a text '
            'format = "yyyy-MM-dd HH:mm:ss" unless it is ISO 8601.'
        )
    how, choice = "", ""
    if kinds[column] in _NUMBERS:
        how, choice = ', unit = "milliseconds"', f"\n{column} is a number: unit says what it counts, seconds to nanoseconds."
    elif kinds[column] in _TEXTS:
        how = ', format = "yyyy-MM-dd HH:mm:ss"'
        choice = (
            f"\n{column} is a text: format says how it is written. Leave it out for ISO 8601, such as 2026-01-05T09:00:00Z; for a number in "
            'quotes write unit = "milliseconds" in its place.'
        )
    return f'event_time = {{ column = "{column}"{how}, lag = "10 seconds" }}{choice}'


def _parts(ddl: str) -> Iterator[str]:
    """The text split at the commas that stand in no bracket and no quotes."""
    depth, quote, part = 0, "", ""
    for character in ddl:
        if quote:
            quote = "" if character == quote else quote
        elif character in "`'\"":
            quote = character
        elif character in "<(":
            depth += 1
        elif character in ">)":
            depth -= 1
        elif character == "," and depth == 0:
            yield part
            part = ""
            continue
        part += character
    yield part
