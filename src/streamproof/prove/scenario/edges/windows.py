"""Edges of windows: at their starts, and a gap apart."""

import re

from streamproof.prove.oracle.operators.twin import Grouped
from streamproof.prove.oracle.query import Query
from streamproof.prove.oracle.windows import PlainGap, PlainSession, PlainWindow
from streamproof.prove.scenario.edges.board import Board
from streamproof.prove.scenario.generate import Edge


def window_edges(board: Board) -> None:
    """At the start of a window of each kind, a tick before and a tick after, in the first batch; of sessions also a gap apart."""
    if board.around.plan.time_column is None:
        return
    kinds = {
        (grouped.window, "a window of windows" if number else "a window"): None
        for query, _ in board.around.queries
        for number, grouped in enumerate(query.groupings)
    }
    for kind, window in kinds:
        start, _ = kind.assign(board.newest.get(0, 0))[-1]
        for offset, words in ((0, "at"), (-board.tick_us, "a tick before"), (board.tick_us, "a tick after")):
            board.put(0, Edge(f"{words} the start of {window}"), time_us=start + offset)


def gaps(board: Board) -> None:
    """Two events of one key a gap apart, a tick less and a tick more: in one session, in one, in two."""
    if board.around.plan.time_column is None:
        return
    waiting = {(waits.window, waits.by): None for query, _ in board.around.queries for waits in _waits(board, query)}
    sessions = [(kind, by) for kind, by in waiting if kind.merges]
    for number, (kind, by) in enumerate(sessions):
        _apart(board, kind, by, number)


def _waits(board: Board, query: Query) -> list[Grouped]:
    """The windows in which rows of a key wait for each other: those of the first operator that has any."""
    waiting = ((node.twin, node.twin.waits) for node in query.keeping)
    twin, waits = next(((twin, waits) for twin, waits in waiting if waits is not None), (None, None))
    if waits is None or (twin is not None and twin.order is not None and board.promises_no_order):
        return []
    return [waits]


def _apart(board: Board, kind: PlainWindow, by: tuple[str, ...], before: int) -> None:
    """The pairs of one kind of session; those of `before` other kinds lie in front of them."""
    tick, gap, own = board.tick_us, kind.at_least_us, {}
    if isinstance(kind, PlainSession) and kind.own is not None:
        seconds = _own_gaps(board, kind.own)
        if seconds is None:
            return
        gap, own = seconds * 1_000_000, {kind.own.column: seconds}
    for number, (offset, words) in enumerate(
        ((0, "exactly a gap"), (-tick, "a tick less than a gap"), (tick, "a tick more than a gap"))
    ):
        newest = board.newest.get(0, 0)
        at = newest - newest % tick - (3 * (number + 3 * before) + 2) * (gap - gap % tick + tick)
        first = board.put(0, Edge(f"that another follows by {words}"), time_us=at, values=own)
        if first is not None:
            keys = {name: first.values[name] for name in by if name in first.values}
            board.put(0, Edge(f"{words} after another of its key"), time_us=at + gap + offset, values=keys)


def _own_gaps(board: Board, gap: PlainGap) -> int | None:
    """Adds events at the edges of a gap: no gap, the longest gap, a gap just too long. Gives the seconds of a valid gap, if the column takes seconds."""
    found = re.search(rf"(?<!\w){re.escape(gap.column)}(?!\w)[\s:]+(\w+)", board.around.ddl, re.IGNORECASE)
    longest = gap.at_most_us // 1_000_000
    can = found is not None and found[1].lower() in ("int", "integer", "bigint", "long", "float", "real", "double")
    if gap.column not in board.around.plan.columns or not can or not 0 < longest < 2**24:
        return None  # a column that a transform makes, or one that could not hold them
    for number, (value, words) in enumerate(
        ((0, "of zero"), (-1, "below zero"), (longest, "as long as it may be"), (longest + 1, "that is too long"))
    ):
        board.put(number % board.batches, Edge(f"with a gap {words}"), values={gap.column: value})
    return max(1, min(longest // 2, 10))
