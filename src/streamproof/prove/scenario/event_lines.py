"""Events as lines of files: JSON, CSV and text, with their trace ids and as they are shipped."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.generate import TRACE, Event, Kind, without_trace

if TYPE_CHECKING:
    from streamproof.config import FilesSource
    from streamproof.config.sources import CsvDialect

_NO_UTF8 = b"\xff\xfe"


def in_lines(events: Iterable[Event], source: "FilesSource", columns: Sequence[str], *, trace: bool) -> list[Event]:
    """The events with the lines of their records as the source's format has them; without `trace` as they are shipped.

    Raises
    ------
    ScenarioError
        If a value cannot stand in a line of text.
    """
    if source.format == "csv":
        return [replace(event, record=_csv(event, source.csv, columns, trace=trace)) for event in events]
    if source.format == "text":
        if len(columns) > 1:
            raise ScenarioError(
                f"The columns {', '.join(columns[1:])} of lines of text are named by folders, and the files of a scenario lie in none.",
                required="A scenario writes lines of text with one column.",
                remedy=f'Prove the job with schema = "{columns[0]} string", in a profile of its own.',
            )
        return [replace(event, record=_text(event, columns[0], trace=trace)) for event in events]
    return [event if trace else replace(event, record=without_trace(event.record)) for event in events]


def header_of(source: "FilesSource", columns: Sequence[str], partition: int, *, trace: bool) -> bytes | None:
    """The first line of the files of a partition; None where files have none."""
    if source.format != "csv" or not source.csv.header:
        return None
    names = [*([TRACE] if trace else []), *_in_order(source.csv, columns, partition)]
    return source.csv.delimiter.join(_field(name, source.csv) for name in names).encode()


def _in_order(dialect: "CsvDialect", columns: Sequence[str], partition: int) -> list[str]:
    """The columns of a file: where a header says their order, every second file has another one."""
    return list(reversed(columns)) if dialect.header and partition % 2 else list(columns)


def _csv(event: Event, dialect: "CsvDialect", columns: Sequence[str], *, trace: bool) -> bytes:
    head = [event.trace] if trace else []
    fields = [_field(event.values.get(name), dialect) for name in _in_order(dialect, columns, event.partition)]
    if event.kind is not Kind.MALFORMED:
        return dialect.delimiter.join([*head, *fields]).encode()
    fields = [field.replace("\r", " ").replace("\n", " ") for field in fields]  # what is no record is a line: it has one end
    ways = ("bytes", "short", "open", "behind") if len(fields) > 1 else ("bytes",)
    way = ways[event.arrival % len(ways)]
    if way == "bytes":
        first = dialect.delimiter.join([*head, ""]).encode()
        return first + _NO_UTF8 + dialect.delimiter.join(fields).encode()
    if way == "short":
        return dialect.delimiter.join([*head, *fields[:-1]]).encode()
    spoilt = dialect.quote + ("" if way == "open" else dialect.quote + "x")
    plain = [field.replace(dialect.quote, "") for field in fields]
    return dialect.delimiter.join([*head, spoilt + plain[0], *plain[1:]]).encode()


def _field(value: Any, dialect: "CsvDialect") -> str:
    """A value as a field; in quotes where it would be taken for something else."""
    if value is None:
        return dialect.null
    text = _plain(value)
    special = (dialect.delimiter, dialect.quote, "\n", "\r")
    if text not in ("", dialect.null) and not any(each in text for each in special):
        return text
    for each in dict.fromkeys((dialect.escape, dialect.quote)):
        text = text.replace(each, dialect.escape + each)
    return f"{dialect.quote}{text}{dialect.quote}"


def _text(event: Event, column: str, *, trace: bool) -> bytes:
    value = event.values.get(column)
    text = "" if value is None else _plain(value)
    if "\n" in text or "\r" in text:
        raise ScenarioError(
            f'The column "{column}" has a value with a line end, {text!r}.', required="A line of text is a record: it has none."
        )
    spoilt = _NO_UTF8 if event.kind is Kind.MALFORMED else b""
    return (f"{event.trace}\t".encode() if trace else b"") + spoilt + text.encode()


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime) else str(value)
