"""Keys that have so large a share of the rows that the task of one partition has more to do than the others (S13).

Tasks find them, each in memory that does not grow (`HotKeys.java`), and report hashes: the driver sees no value of a key.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.watching.events import HotKey
from streamproof.runtime.watching.figures import Times
from streamproof.stream.names import quoted

LEAST_ROWS = 1_000
"""A batch with fewer rows says nothing of a share."""
_LEAST_SHARE, _SURE_SHARE = 0.05, 0.5
_TIMES_ITS_PART = 2
"""A key is hot if it has so many times what a partition would have of rows that are spread evenly."""
_GREW = 1.5
"""So much larger than said before a share has to be, so that it is said again."""


@dataclass(frozen=True)
class Counted:
    """How many rows came to an operator in a batch, and of the keys that have most of them, by their hash, how many each has at least."""

    rows: int
    keys: Mapping[str, int]


@dataclass
class HotKeys:
    """Told each batch of a query.

    Parameters
    ----------
    partitions
        Into how many the rows of a state are divided.
    columns
        By operator, as a checkpoint calls it, the columns of its key.
    """

    query: str
    partitions: int
    columns: Mapping[str, Sequence[str]]
    _said: dict[tuple[str, str], HotKey] = field(init=False, default_factory=dict)

    @property
    def _hot_share(self) -> float:
        return min(_SURE_SHARE, max(_LEAST_SHARE, _TIMES_ITS_PART / self.partitions))

    def saw(self, batch: int, counted: Mapping[str, Counted], times: Callable[[], Times | None]) -> Iterator[HotKey]:
        """The keys that are hot in a batch, and were not before in this run, or less so.

        Parameters
        ----------
        counted
            What the tasks have counted, by operator.
        times
            Asked once, where there is something to say: how long the partitions took.
        """
        hot = [one for operator, found in counted.items() for one in self._hot(operator, found)]
        took = times() if hot else None
        for operator, key, share, rows in hot:
            found = HotKey(
                query=self.query,
                batch=batch,
                operator=operator,
                columns=tuple(self.columns.get(operator, ())),
                key=key,
                share=round(share, 3),
                rows=rows,
                partitions=took,
            )
            self._said[operator, key] = found
            yield found

    def _hot(self, operator: str, found: Counted) -> Iterator[tuple[str, str, float, int]]:
        """Of the keys that came to an operator those to be said: operator, key, share, and how many rows there were."""
        if found.rows < LEAST_ROWS or self.partitions < 2:
            return
        for key, rows in sorted(found.keys.items(), key=lambda entry: -entry[1]):
            share, known = min(1.0, rows / found.rows), self._said.get((operator, key))
            if share >= self._hot_share and (known is None or share >= known.share * _GREW):
                yield operator, key, share, found.rows

    def notes(self) -> Iterator[Note]:
        """A note for each operator that has met hot keys, at the end of a run."""
        by_operator = defaultdict[str, list[HotKey]](list)
        for found in self._said.values():
            by_operator[found.operator].append(found)
        for operator, keys in by_operator.items():
            yield Note(NoteCode.HOT_KEY, _said(max(keys, key=lambda key: key.share), len(keys) - 1), operator)


def _said(hottest: HotKey, others: int) -> str:
    columns = ", ".join(name if name.isidentifier() else quoted(name) for name in hottest.columns)
    said = (
        f"One key has {hottest.share:.0%} of the rows that come to {hottest.operator} of {hottest.query} (batch {hottest.batch}): "
        f"the one for which xxhash64({columns}) = {hottest.key}."
    )
    if others:
        said += f" {others} more {'is' if others == 1 else 'are'} hot too."
    times = hottest.partitions
    if times is not None:
        said += (
            f" In that batch the slowest of {times.tasks} partitions took {times.slowest_ms:,} ms, and the one in the middle {times.median_ms:,} ms; "
            f"the fullest read {times.most_rows:,} rows."
        )
    return said
