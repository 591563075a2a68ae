"""Edges of the watermark: at the late bound of each query, where keys are forgotten, and where windows have given their rows."""

from collections.abc import Mapping

from streamproof.prove.oracle.query import Query
from streamproof.prove.oracle.watermark import AlignedWatermark, Watermark
from streamproof.prove.oracle.windows import PlainWindow
from streamproof.prove.scenario.edges.board import Board
from streamproof.prove.scenario.generate import Edge


def late_bounds(query: Query, newest_of: Mapping[str, Mapping[int, int]]) -> list[int]:
    """The late bound of every batch, microseconds, as it will be in a run without a fault: the watermark of the batch before (R10).

    Parameters
    ----------
    newest_of
        By source of the query, by batch, the newest event time that the watermark sees, microseconds.

    A source that is quiet for a while is left out of a union by the clocks of the batches, which nobody knows before: then no bound moves here.
    """
    batches = max((batch + 1 for newest in newest_of.values() for batch in newest), default=0)
    if len(newest_of) > 1:
        return _of_several(query, newest_of, batches)
    (newest,) = newest_of.values()
    watermark, bounds, last = Watermark(query.delay_us), [], 0
    for batch in range(batches):
        bounds.append(last)
        last = watermark.predicted_ms * 1_000
        watermark.saw({"": newest[batch]} if batch in newest else {})
    return bounds


def _of_several(query: Query, newest_of: Mapping[str, Mapping[int, int]], batches: int) -> list[int]:
    idle = {source: clock.idle_after_us for source, clock in query.clocks.items() if clock.idle_after_us is not None}
    if any(after_us and len(newest_of[source]) < batches for source, after_us in idle.items()):
        return [0] * batches
    at_once = {source: after_us for source, after_us in idle.items() if not after_us}
    watermark = AlignedWatermark({source: clock.delay_us for source, clock in query.clocks.items()}, at_once)
    bounds, last = [], 0
    for batch in range(batches):
        bounds.append(last)
        last = watermark.predicted_ms * 1_000
        seen = {source: newest[batch] for source, newest in newest_of.items() if batch in newest}
        watermark.saw(seen, tuple(seen), 0)
    return bounds


def late_bound(board: Board) -> None:
    """At the late bound of the last batch, a tick above it and a tick below; once for the queries that decide alike."""
    alike: dict[tuple[PlainWindow | None, int], list[str]] = {}
    batch = board.batches - 1
    for query, _, bound in board.moved():
        twin = query.decides(board.around.name)
        alike.setdefault((twin.decides if twin is not None else None, bound), []).append(query.name)
    for (kind, bound), names in alike.items():
        after: bool | None = False
        if kind is not None and not kind.late_by_time:
            last = kind.last_late(bound, board.tick_us)
            after = None if kind.several else False  # where windows overlap it is late for all but the newest
            words = "in the last window that ends at or below the late bound"
        else:
            last, words = bound - bound % board.tick_us, "at the late bound"
        tick = board.tick_us
        for offset, where in ((0, words), (-tick, f"a tick before the one {words}"), (tick, f"a tick after the one {words}")):
            late = True if offset <= 0 else after
            board.put(batch, Edge(where, tuple(names), late=late, bound_us=bound), time_us=last + offset)


def horizon(board: Board) -> None:
    """Copies in the last batch of events in an earlier one: at the bound, where the key is forgotten, and a tick above it."""
    done = set()
    for query, batch, bound in board.moved():
        if not query.any_stays or bound in done:
            continue
        done.add(bound)
        _copies_around(board, query, batch, bound)


def _copies_around(board: Board, query: Query, batch: int, bound: int) -> None:
    at = bound - bound % board.tick_us
    bounds = next(bounds for one, bounds in board.around.queries if one is query)
    earlier = [number for number in range(batch) if bounds[number] < at <= board.newest.get(number, at - 1)]
    if not earlier:
        return
    for time_us, late, words in (
        (at, True, "at the end of the horizon"),
        (at + board.tick_us, False, "a tick before the end of the horizon"),
    ):
        original = board.put(earlier[0], Edge(f"whose copy comes {words}"), time_us=time_us)
        if original is not None:
            board.copy(original, batch, Edge(f"as a copy {words}", (query.name,), late=late, bound_us=bound))


def given_rows(board: Board) -> None:
    """In the last window that has given its rows and can still be corrected, and in the one after it."""
    done = set()
    for query, batch, bound in board.moved():
        kind, fired = query.groupings[0].window if query.groupings else None, bound + query.lateness_us
        if kind is None or not query.revised or (kind, fired) in done:
            continue
        done.add((kind, fired))
        last = kind.last_late(fired, board.tick_us)
        board.put(batch, Edge("in the last window that has given its rows"), time_us=last)
        board.put(batch, Edge("in the first that has not"), time_us=last + board.tick_us)
