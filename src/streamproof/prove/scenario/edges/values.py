"""Edges of values: nulls, empty lists, a missing event time, two records on a line."""

import re
from collections.abc import Iterator
from dataclasses import replace

from streamproof.prove.scenario.edges.board import Around, Board
from streamproof.prove.scenario.generate import Edge, Kind, without_trace
from streamproof.prove.scenario.scenario import ChoiceColumn, EventTimeColumn


def nulls(board: Board) -> None:
    """Null in each column that may be null, the keys among them, in turn over the batches."""
    for number, name in enumerate(may_be_null(board.around)):
        board.put(number % board.batches, Edge(f"with null in {name}"), values={name: None})


def may_be_null(around: Around) -> Iterator[str]:
    """The columns that may be null, but not the event time; none where the format knows no null: there an absent text is an empty one."""
    if around.source.format in ("protobuf", "text"):
        return
    for name, column in around.plan.columns.items():
        not_null = re.search(rf"(?<!\w){re.escape(name)}(?!\w)[^,]*\bnot\s+null\b", around.ddl, re.IGNORECASE)
        if not isinstance(column, EventTimeColumn) and not not_null and name not in around.never_null:
            yield name


def two_records(board: Board) -> None:
    """Two objects in one line of JSON: one record, which cannot be read."""
    if board.around.source.format == "json":
        event = board.put(0, Edge("as two records on a line"), kind=Kind.MALFORMED)
        if event is not None:
            board.events[event.arrival] = replace(event, record=event.record + b" " + without_trace(event.record))


def nested(board: Board) -> None:
    """An empty list, and an object whose fields are null, where a column of JSON has such values."""
    if board.around.source.format != "json":
        return
    for number, (name, column) in enumerate(board.around.plan.columns.items()):
        for value in column.values[:1] if isinstance(column, ChoiceColumn) else ():
            if isinstance(value, list):
                board.put(number % board.batches, Edge(f"with an empty list in {name}"), values={name: []})
            elif isinstance(value, dict):
                board.put(number % board.batches, Edge(f"with nulls inside {name}"), values={name: dict.fromkeys(value)})


def missing_time(board: Board) -> None:
    """Null in the event time."""
    column = board.around.plan.time_column
    if column is not None and board.around.source.time_column is not None:
        event = board.put(0, Edge(f"with null in {column}"), kind=Kind.MISSING_TIME, values={column: None})
        if event is not None:
            board.events[event.arrival] = replace(event, time_us=None)
