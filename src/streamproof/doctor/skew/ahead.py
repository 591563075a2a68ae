"""Which events lie so far ahead of the clock that `max_future` rejects them: they do not move the watermark."""

import numpy as np
from numpy.typing import NDArray

from streamproof.doctor.skew.chunks import Chunk, Micros

NEIGHBOURS = 256
"""Where no clock is known it is taken from so many events that arrive together."""
_QUARTER = 3 * NEIGHBOURS // 4


def rejected(chunk: Chunk, max_future_us: int | None, *, clock_known: bool) -> NDArray[np.bool_]:
    """Which events are rejected: those later than the clock and `max_future_us` together; None rejects none.

    Parameters
    ----------
    clock_known
        Whether the order of arrival is a clock. Where it is not, the clock is told by the neighbours: three in four of the 256 events around, or of the
        256 behind them, are not later. An event that is far ahead of its neighbours is seen so, and a gap in the data is none.
    """
    if max_future_us is None:
        return np.zeros(len(chunk), dtype=np.bool_)
    clock = chunk.arrival if clock_known and chunk.arrival is not None else _told_by_neighbours(chunk.times)
    return np.asarray(chunk.times > clock + max_future_us)


def _told_by_neighbours(times: Micros) -> Micros:
    if len(times) < NEIGHBOURS:
        return np.full(len(times), _quartile(times) if len(times) else 0, dtype=np.int64)
    blocks = len(times) // NEIGHBOURS
    whole = np.partition(times[: blocks * NEIGHBOURS].reshape(blocks, NEIGHBOURS), _QUARTER, axis=1)[:, _QUARTER]
    rest = times[blocks * NEIGHBOURS :]
    of_blocks = np.r_[whole, _quartile(times[-NEIGHBOURS:])] if len(rest) else whole
    later = np.maximum(of_blocks, np.r_[of_blocks[1:], of_blocks[-1:]])
    return np.repeat(later, NEIGHBOURS)[: len(times)]


def _quartile(times: Micros) -> int:
    place = len(times) * 3 // 4
    return int(np.partition(times, place)[place])
