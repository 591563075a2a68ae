"""The columns that a SQL text names, as far as they are known without Spark: `check` holds them against those that are there."""

from dataclasses import dataclass
from typing import Any

Name = tuple[str, ...]
"""A column as it is written, part by part: ("address", "city") of `address.city`, ("address.city",) of `` `address.city` ``."""

_UNITS = frozenset(
    {
        *("year", "years", "quarter", "month", "months", "week", "weeks", "day", "days", "dayofweek", "dayofyear", "hour", "hours"),
        *("minute", "minutes", "second", "seconds", "millisecond", "milliseconds", "microsecond", "microseconds", "nanosecond"),
        *("yearofweek", "dow", "doy", "isodow"),
    }
)
"""Parts of a time, which functions such as `timestampadd(HOUR, 1, at)` take as words."""
_WORDS = frozenset(
    {
        *("current_date", "current_timestamp", "current_time", "current_user", "user", "session_user", "current_catalog"),
        *("current_database", "current_schema", "current_timezone", "localtimestamp", "now", "nan", "infinity", "default"),
        *("grouping__id", "input_file_name", "any", "some", "all"),
    }
)
"""Functions that stand without brackets, and words that are values: where they are no column, Spark takes them for these."""


@dataclass(frozen=True)
class Text:
    """What a SQL text says: the columns that it names, what it calls its value ("" where Spark makes the name), and whether it has a star."""

    names: frozenset[Name]
    output: str = ""
    star: bool = False


def read_text(text: str) -> Text | None:
    """What a SQL expression names; None where it cannot be read as one, which does not say that Spark cannot."""
    import logging

    import sqlglot
    from sqlglot import exp

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        found = sqlglot.parse_one(text, read="spark")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    if found is None or isinstance(found, exp.Command) or found.find(exp.Query, exp.DDL, exp.DML) is not None:
        return None
    names = frozenset(
        name
        for column in found.find_all(exp.Column)
        if (name := _parts(column)) and not _is_word(column, name) and not _is_bound(column)
    )
    top = found.this if isinstance(found, exp.Alias) else found
    star = isinstance(top, exp.Star) or (isinstance(top, exp.Column) and isinstance(top.this, exp.Star))
    return Text(names, _output(found), star)


def parts_of(name: str) -> Name | None:
    """A name as `F.col` takes it, part by part; None where it cannot be read."""
    if "`" not in name:
        return tuple(name.split(".")) if name and not name.startswith(".") else None
    parts: list[str] = []
    rest = name
    while rest:
        if rest.startswith("`"):
            end = rest.find("`", 1)
            if end < 0 or rest[end : end + 2] == "``":  # a backtick in a name: nobody has one
                return None
            part, rest = rest[1:end], rest[end + 1 :]
        else:
            part, dot, tail = rest.partition(".")
            rest = dot + tail
        parts.append(part)
        if rest and not rest.startswith("."):
            return None
        rest = rest[1:]
    return tuple(parts)


def _parts(column: Any) -> Name:
    """The parts of a column; nothing for a star."""
    from sqlglot import exp

    parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
    return tuple(part.name for part in parts) if len(parts) == len(column.parts) else ()


def _is_word(column: Any, name: Name) -> bool:
    """Whether a name without dots and backticks may be no column: a part of a time, a function without brackets."""
    quoted = bool(column.this.args.get("quoted"))
    return len(name) == 1 and not quoted and name[0].lower() in _UNITS | _WORDS


def _is_bound(column: Any) -> bool:
    """Whether the name is an argument of a lambda function that it stands in."""
    from sqlglot import exp

    root, above = column.parts[0].name.lower(), column.parent
    while above is not None:
        if isinstance(above, exp.Lambda) and root in {one.name.lower() for one in above.expressions}:
            return True
        above = above.parent
    return False


def _output(found: Any) -> str:
    from sqlglot import exp

    if isinstance(found, exp.Alias):
        return str(found.alias)
    return str(found.name) if isinstance(found, exp.Column) and not isinstance(found.this, exp.Star) else ""
