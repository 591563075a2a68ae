"""The hidden columns of a plan, what no column of a job may be called, and how a call names columns."""

from collections.abc import Iterable, Sequence
from typing import Any

from streamproof.errors import JobDefinitionError

TRACE = "_trace"
ORIGINAL = "_original"
RECORDS = "_records"
TRACE_HASH = "_trace_hash"
ADDED = "_added"
"""Of a row of a window that can give several: the records that are emitted with it, and were not before."""
DUE = "_due"
"""Of a row that may have to wait: when its window ends, microseconds UTC; null of one that goes out at once."""
WHOSE = "_whose"
"""Of a row that may have to wait: whose window it is, the key's values as JSON."""
PLACE = "_place"
"""Of rows of a window that wait: 1 of the newest."""
BATCH, GIVES, REVISIONS = "_batch", "_gives", "_revisions"
"""What numbers the rows of a window, see `emissions.revisions`."""
MADE = "_made"
"""Says that a transform of the user's lies below: the doors behind it ask for it, see `graph.row_wise`."""
INSTANT = "_instant"
"""The event time of a row as a source has read it."""
APPENDED = "_appended"
"""When a broker has taken a record, where latencies are measured."""
REASON = "_reason"
"""Why a row is rejected; null of the others."""
CORRUPT = "_corrupt"
"""The text of a JSON record that does not fit; null of the others."""
PROBLEM = "_problem"
"""Why a record in a registry's format cannot be read; null of the others."""
RECORD_COLUMNS = ("_record", "_record_text", "_record_schema_id")
"""A record in a registry's format, its text, and the id of its schema, until they are columns."""
WINDOW = "_window_end"
"""The window of a row: its end, or of a session its start and end."""
PIECE = "_piece"
"""The start of the piece of time that a session lies in, where sessions have a longest length."""
NUMBER = "_number"
LEFT, RIGHT = "_left_", "_right_"
"""In front of the name of a column of one side of a join, while both have theirs."""
BETWEEN_TRACES = "|"
"""Between the traces of a row that is of several records."""
FOUND = "_found"
"""Whether a row was found in a table."""
LOOKED_UP = "_lookup."
"""What the columns of a table's key and validity begin with, until the rows are joined."""
RULES = "_rules"
"""The rules of a batch, until it is known which hold."""
HIDDEN = (TRACE, ORIGINAL, RECORDS, TRACE_HASH, ADDED, DUE, WHOSE, MADE, INSTANT, APPENDED, REASON, CORRUPT, PROBLEM)
_OWN = frozenset({*HIDDEN, *RECORD_COLUMNS, WINDOW, PIECE, NUMBER, PLACE, BATCH, GIVES, REVISIONS, FOUND, RULES})
_PREFIXES = (LEFT, RIGHT, "_path.", LOOKED_UP)

WHOLE_TEXT = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How values are written as JSON by which they are told apart: Spark's own formats cut instants to milliseconds."""


def own_name(names: Iterable[str]) -> str | None:
    """The first of the names that is one of Streamproof's own columns, in whatever case: Spark takes `_Reason` for `_reason`."""
    return next((name for name in names if name.lower() in _OWN or name.lower().startswith(_PREFIXES)), None)


def require_names(where: str, names: Sequence[Any]) -> None:
    """JobDefinitionError unless a call names columns, each once: state has a column of its key once, so a row of it would have another length."""
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise JobDefinitionError(
                f"{where} got a {type(name).__name__}.", required='It takes names of columns, such as "client".'
            )
        if name in names[:place]:
            raise JobDefinitionError(
                f'{where} names the column "{name}" twice.', required="Each column is named once.", remedy="Leave one out."
            )


def quoted(name: str) -> str:
    """A column's name as Spark's expressions take any name, in backticks."""
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def visible(columns: Iterable[str]) -> list[str]:
    """The columns that a job knows of."""
    return [column for column in columns if column not in (*HIDDEN, WINDOW, PIECE)]


def hidden_in(columns: Iterable[str]) -> list[str]:
    """The hidden aggregates among columns; they stand in front: Spark orders a state's value by the final projection, and readers count on it."""
    there = set(columns)
    return [name for name in (RECORDS, TRACE_HASH, ADDED, DUE, WHOSE) if name in there]
