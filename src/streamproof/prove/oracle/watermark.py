"""The watermark as Spark moves it: from batch to batch, never back (R13).

Of a query with several sources each has one, and the least of them counts; a restart forgets what each had seen. A source that is idle
reaches what the least of the others has reached.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamproof.prove.oracle.arrived import BatchRead


class Watermark:
    """Predicts the watermark of the next batch from the newest event times read so far.

    A restart changes nothing for a query with one watermark: Spark forgets the maximum of the source, and keeps the global
    value, which it takes from the offset log. A batch that reads nothing leaves it as it is.

    Parameters
    ----------
    delay_us
        Lag + allowed lateness, microseconds; None for a query without a watermark, for which Spark logs 0.
    """

    def __init__(self, delay_us: int | None) -> None:
        self._delay_ms = None if delay_us is None else delay_us // 1_000
        self.predicted_ms = 0

    def begins(self, read: BatchRead) -> None:
        """A batch begins."""

    def saw(self, newest_us: Mapping[str, int], delivered: Collection[str] = (), clock_ms: int = 0) -> None:
        """A batch has read event times up to these, by source; nothing where no record had one."""
        if self._delay_ms is not None and newest_us:
            self.predicted_ms = max(self.predicted_ms, max(newest_us.values()) // 1_000 - self._delay_ms)


@dataclass(frozen=True)
class _Known:
    """The watermark, milliseconds, and that of each source that has been heard of since the last start."""

    watermark_ms: int = 0
    of_source: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        return self.watermark_ms, tuple(sorted(self.of_source.items()))


@dataclass
class AlignedWatermark:
    """Predicts the watermark of the next batch from the newest event times of each source.

    Spark keeps the global value over a restart and forgets those of the sources: one counts as 0 until it is heard of again. Whether the
    batch before a restart ran again in the new start, no log tells. There is then more than one right value: the one that is logged is
    taken, if it is among them.

    Parameters
    ----------
    delays_us
        By source lag + allowed lateness, microseconds.
    idle_after_us
        By source how long it may deliver nothing, by the clocks of the batches, until the least is taken without it.
    """

    delays_us: Mapping[str, int]
    idle_after_us: Mapping[str, int] = field(default_factory=dict)
    _may_be: Sequence[_Known] = (_Known(),)
    _before: Sequence[_Known] = (_Known(),)
    _newest_us: Mapping[str, int] = field(default_factory=dict)
    _heard_ms: dict[str, int] = field(default_factory=dict)
    _idle: frozenset[str] = frozenset()
    _run: str | None = None

    @property
    def predicted_ms(self) -> int:
        return self._may_be[0].watermark_ms

    def begins(self, read: BatchRead) -> None:
        """A batch begins, by another start than the one before where it says so."""
        unknown = not read.run or not self._run
        if self._run is not None and (unknown or read.run != self._run):
            again = [self._after(_Known(known.watermark_ms)) for known in self._before]
            forgotten = [_Known(known.watermark_ms) for known in (*self._may_be, *again)]
            self._may_be = _distinct((*(self._may_be if unknown else ()), *forgotten, *again))
        self._run = read.run
        self._may_be = [known for known in self._may_be if known.watermark_ms == read.watermark_ms] or self._may_be

    def saw(self, newest_us: Mapping[str, int], delivered: Collection[str], clock_ms: int) -> None:
        """A batch has read event times up to these, by source; a source of which it has read none is not among them.

        Parameters
        ----------
        delivered
            The sources of which it has read any record, also one that was rejected.
        clock_ms
            Its own clock, from the offset log.
        """
        for source in self.delays_us:
            if source in delivered:
                self._heard_ms[source] = clock_ms
            self._heard_ms.setdefault(source, clock_ms)
        self._idle = frozenset(
            source
            for source, after_us in self.idle_after_us.items()
            if source not in delivered and (clock_ms - self._heard_ms[source]) * 1_000 >= after_us
        )
        self._before, self._newest_us = self._may_be, newest_us
        self._may_be = _distinct(map(self._after, self._may_be))

    def _after(self, known: _Known) -> _Known:
        """What is known behind the newest batch, by a start that knew this before it."""
        reached = dict(known.of_source)
        for source, newest in self._newest_us.items():
            watermark_ms = newest // 1_000 - self.delays_us[source] // 1_000
            reached[source] = max(watermark_ms, reached.get(source, watermark_ms))
        others = [source for source in self.delays_us if source not in self._idle]
        if others and all(source in reached for source in others):
            of_others = min(reached[source] for source in others)
            reached |= {source: max(of_others, reached.get(source, of_others)) for source in self._idle}
        least = min(reached.get(source, 0) for source in self.delays_us)
        return _Known(max(known.watermark_ms, least), reached)


def _distinct(known: Iterable[_Known]) -> list[_Known]:
    return list({one.key: one for one in known}.values())
