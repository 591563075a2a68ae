"""Edges of joins: partners of events of the other source, at the bounds of the time in which they meet."""

from collections.abc import Iterator, Sequence

from streamproof.prove.oracle.operators.twin import Pairs
from streamproof.prove.oracle.query import Query
from streamproof.prove.scenario.edges.board import Board
from streamproof.prove.scenario.generate import Edge, Event, Kind


def partners(board: Board) -> None:
    """For events of the first source of a join a partner each: at the first and at the last instant at which they meet, and a tick beyond.

    The source whose edges are made first has none: what its partners will be is not known then.
    """
    if board.around.plan.time_column is None:
        return
    done = set()
    for query, _ in board.around.queries:
        pairs = query.pairs
        if pairs is None or pairs in done:
            continue
        done.add(pairs)
        first = board.around.name in query.together[0]
        _around(board, pairs, _of_others(board, query), first=first)


def _around(board: Board, pairs: Pairs, others: Iterator[Event], *, first: bool) -> None:
    """The four partners; where the source is the first one of the join, its events happen before those of the other."""
    tick = board.tick_us
    for apart, words in (
        (pairs.earliest_us, "at the first instant of a partner"),
        (pairs.earliest_us - tick, "a tick before the first instant of a partner"),
        (pairs.latest_us, "at the last instant of a partner"),
        (pairs.latest_us + tick, "a tick after the last instant of a partner"),
    ):
        other = next((event for event in others if _batch(board, event, -apart if first else apart) is not None), None)
        if other is None or other.time_us is None:
            return
        at = other.time_us + (-apart if first else apart)
        batch = _batch(board, other, -apart if first else apart)
        if batch is not None:
            board.put(batch, Edge(words), time_us=at, values={name: other.values[name] for name in pairs.key})


def _of_others(board: Board, query: Query) -> Iterator[Event]:
    """The ordinary events of the other sources that have all columns of the key, the first ones first."""
    pairs, own = query.pairs, board.around.plan.columns
    if pairs is None or not all(name in own for name in pairs.key):
        return  # a transform makes them
    side = 1 if board.around.name in query.together[0] else 0
    for name in query.together[side]:
        for event in board.around.others.get(name, ()):
            ordinary = event.kind is Kind.OK and event.time_us is not None and event.edge is None
            if ordinary and all(event.values.get(key) is not None for key in pairs.key):
                yield event


def _batch(board: Board, event: Event, apart_us: int) -> int | None:
    """The batch for a partner so far apart: the earliest from that of its event on, in which it is not the newest; None where there is none."""
    if event.time_us is None:
        return None
    at = event.time_us + apart_us
    batches: Sequence[int] = range(event.batch, board.batches)
    return next((batch for batch in batches if board.newest.get(batch, at - 1) > at), None)
