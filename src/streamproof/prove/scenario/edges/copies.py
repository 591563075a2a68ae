"""Edges of deduplications: a copy in a later batch, keys that are just forgotten, and rivals of which an order decides who stays."""

from collections.abc import Mapping
from typing import Any

from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.scenario.edges.board import Board
from streamproof.prove.scenario.edges.values import may_be_null
from streamproof.prove.scenario.generate import Edge


def copy_in_a_later_batch(board: Board) -> None:
    """A copy that comes a batch after its event."""
    if board.batches < 2 or all(shape.deduplicate is None for shape, _ in board.around.queries):
        return
    original = board.put(0, Edge("whose copy comes in the next batch"))
    if original is not None:
        board.copy(original, 1, Edge("as a copy in the next batch"))


def forgotten_keys(board: Board) -> None:
    """In the last batch two events of keys that were remembered: one whose key has just been forgotten, one whose key has a tick left."""
    done = set()
    for shape, batch, bound in board.moved():
        horizon = (bound - shape.horizon_us, shape.deduplicate)
        known = shape.deduplicate is not None and all(_own_column(board, key) for key in shape.deduplicate)
        if shape.order_by is None and known and horizon not in done:
            done.add(horizon)
            _remembered_until(board, shape, batch, bound)


def _remembered_until(board: Board, shape: QueryShape, batch: int, bound: int) -> None:
    bounds = next(bounds for one, bounds in board.around.queries if one is shape)
    at = -(-(bound - shape.horizon_us) // board.tick_us) * board.tick_us
    exact = at == bound - shape.horizon_us
    earlier = [number for number in range(batch) if bounds[number] < at <= board.newest.get(number, at - 1)]
    ticks = ((0, "has just been forgotten"), (board.tick_us, "has a tick left")) if exact else ((0, "has less than a tick left"),)
    for offset, words in ticks if earlier else ():
        first = board.put(earlier[0], Edge(f"whose key {words} when a rival comes"), time_us=at + offset)
        if first is not None:
            own = {key: first.values[key] for key in shape.deduplicate or ()}
            board.put(batch, Edge(f"of a key that {words}"), values=own)


def _own_column(board: Board, key: str) -> bool:
    """Whether the source's events have the column, and it is not their time."""
    return key in board.around.plan.columns and key != board.around.plan.time_column


def rivals(board: Board) -> None:
    """Two different events of one key, for each deduplication that goes by an order: one without an order, and one that differs in its time."""
    orders = {(shape.order_by, shape.deduplicate): shape for shape, _ in board.around.queries if shape.order_by is not None}
    for shape in orders.values():
        if not all(_own_column(board, key) for key in (str(shape.order_by), *(shape.deduplicate or ()))):
            continue  # a transform makes them, or they are the time
        if str(shape.order_by) in may_be_null(board.around):
            _against(board, shape, "without an order", {str(shape.order_by): None})
        _against(board, shape, "of another time", {})


def _against(board: Board, shape: QueryShape, words: str, values: Mapping[str, Any]) -> None:
    """An event with these values in the first batch, and in the next one a rival, as old or a tick older, that has the event's key."""
    first = board.put(0, Edge(f"{words}, against a rival of its key"), values=values)
    if first is None or first.time_us is None:
        return
    keys = [*(shape.deduplicate or ()), *([] if values else [str(shape.order_by)])]
    own = {key: first.values[key] for key in keys}
    older = 0 if values else board.tick_us
    board.put(min(1, board.batches - 1), Edge(f"whose rival is {words}"), time_us=first.time_us - older, values=own)
