"""Edges of deduplications: a copy in a later batch, and rivals of which an order decides who stays."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.prove.scenario.edges.board import Board
from streamproof.prove.scenario.edges.values import may_be_null
from streamproof.prove.scenario.generate import Edge


def copy_in_a_later_batch(board: Board) -> None:
    """A copy that comes a batch after its event."""
    if board.batches < 2 or not any(query.once for query, _ in board.around.queries):
        return
    original = board.put(0, Edge("whose copy comes in the next batch"))
    if original is not None:
        board.copy(original, 1, Edge("as a copy in the next batch"))


def _own_column(board: Board, key: str) -> bool:
    """Whether the source's events have the column, and it is not their time."""
    return key in board.around.plan.columns and key != board.around.plan.time_column


def rivals(board: Board) -> None:
    """Two different events of one key, for each deduplication that goes by an order: one without an order, and one that differs in its time.

    Where another query deduplicates without an order there are none: after a crash both may come in one batch, and which stays is not promised.
    """
    if board.promises_no_order:
        return
    twins = [node.twin for query, _ in board.around.queries for node in query.keeping]
    orders = {(twin.order, twin.once): twin.order for twin in twins if twin.order is not None}
    for (_, once), order in orders.items():
        if not all(_own_column(board, key) for key in (order, *once)):
            continue  # a transform makes them, or they are the time
        if order in may_be_null(board.around):
            _against(board, once, order, "without an order", {order: None})
        _against(board, once, order, "of another time", {})


def _against(board: Board, once: Sequence[str], order: str, words: str, values: Mapping[str, Any]) -> None:
    """An event with these values in the first batch, and in the next one a rival, as old or a tick older, that has the event's key."""
    first = board.put(0, Edge(f"{words}, against a rival of its key"), values=values)
    if first is None or first.time_us is None:
        return
    keys = [*once, *([] if values else [order])]
    own = {key: first.values[key] for key in keys}
    older = 0 if values else board.tick_us
    board.put(min(1, board.batches - 1), Edge(f"whose rival is {words}"), time_us=first.time_us - older, values=own)
