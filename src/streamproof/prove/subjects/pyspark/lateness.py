"""Which rows Spark dropped as late in a run without a fault, and which of these nobody meant to be late."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_time import instant_us, time_columns
from streamproof.prove.subjects.pyspark.before_state import Reached
from streamproof.prove.subjects.pyspark.events import Offered
from streamproof.prove.subjects.pyspark.reading import Batch, input_of
from streamproof.prove.subjects.pyspark.stateful import Stateful

_MEANT = ("late", "duplicate", "malformed")
"""The kinds of events that a disturbed sample may lose: those that come far too late, copies, and lines that were cut."""
_AGGREGATES = ("aggregation",)
"""Operators before which Spark has added several rows to one, so that its count is too low."""


@dataclass(frozen=True)
class Lateness:
    """What a query has dropped as late.

    Parameters
    ----------
    counted
        Spark's own count.
    worked_out
        How many rows were late by the events and the watermarks of the batches; None where that cannot be told, and `why_not` says why.
    own
        How many of them at least were not meant to be late.
    longest_us
        How far such a row was behind the watermark at most; None where it is not known.
    disturbed
        Whether the proof itself has brought the events out of order.
    """

    query: str
    counted: int
    worked_out: int | None = None
    own: int = 0
    delay_ms: int = 0
    longest_us: int | None = None
    why_not: str = ""
    disturbed: bool = False

    @property
    def dropped(self) -> int:
        return self.counted if self.worked_out is None else self.worked_out


def lateness_of(
    query: str,
    states: Sequence[Stateful],
    batches: Sequence[Batch],
    reached: tuple[Reached, Sequence[Batch]] | str,
    offered: Mapping[str, Offered],
) -> Lateness:
    """What a query has dropped.

    Parameters
    ----------
    states
        Its stateful operators.
    batches
        Its batches in the run that is judged.
    reached
        The rows that reached its operator and the batches of the run that kept them, or in words why nobody has kept them.
    """
    counted = sum(one.dropped for one in states)
    meant = sum(event.kind in _MEANT for name in _inputs(batches) for its in offered[name].files.values() for event in its)
    exact = len(states) == 1 and states[0].operator.kind not in _AGGREGATES
    found = _worked_out(query, batches, reached, offered, meant)
    if isinstance(found, Lateness):
        assert found.worked_out is not None, "that is what makes it one"
        if found.worked_out == counted or (not exact and 0 < counted < found.worked_out):
            return replace(found, counted=counted, disturbed=bool(meant))
        found = f"events and watermarks give {found.worked_out:,}, which does not go with the count of Spark"
    own = max(0, counted - meant) if exact or not meant else 0
    return Lateness(query, counted, None, own, why_not=found, disturbed=bool(meant))


def _worked_out(
    query: str,
    batches: Sequence[Batch],
    reached: tuple[Reached, Sequence[Batch]] | str,
    offered: Mapping[str, Offered],
    meant: int,
) -> Lateness | str:
    """What was late by events and watermarks; else in words why that is not known."""
    if isinstance(reached, str) or reached[0].why_not:
        return reached if isinstance(reached, str) else reached[0].why_not
    bounds = _bounds(batches, reached[1])
    if bounds is None:
        return "its batches were others in the run that looked at them"
    late = _late(reached[0], bounds)
    own, longest = _own(late, {number: batch for number, (_, batch) in bounds.items()}, offered, meant)
    return Lateness(query, 0, len(late), own, reached[0].delay_ms, longest)


@dataclass(frozen=True)
class _Late:
    """A row that was late: in which batch of the looking run, the event's own time, and how far it was behind."""

    batch: int
    own_us: int | None
    behind_us: int


def _bounds(batches: Sequence[Batch], looked: Sequence[Batch]) -> dict[int, tuple[int, Batch]] | None:
    """By batch of the looking run what was late in the same batch of the run that is judged; None where the batches are not the same.

    In a batch a row is late that is not after the watermark of the batch before.
    """
    before = {later.number: earlier.watermark_ms * 1_000 for earlier, later in pairwise(batches)}
    data, same = [batch for batch in batches if batch.has_data], [batch for batch in looked if batch.has_data]
    if [batch.files for batch in data] != [batch.files for batch in same]:
        return None
    return {other.number: (before.get(batch.number, 0), batch) for batch, other in zip(data, same, strict=True)}


def _late(reached: Reached, bounds: Mapping[int, tuple[int, Batch]]) -> list[_Late]:
    return [
        _Late(number, own, bounds[number][0] - decides)
        for number, rows in reached.batches
        if number in bounds
        for decides, own in rows
        if decides is not None and decides <= bounds[number][0]
    ]


def _own(
    late: Sequence[_Late], batches: Mapping[int, Batch], offered: Mapping[str, Offered], meant_at_all: int
) -> tuple[int, int | None]:
    """How many of the late rows were not meant to be, and how far the last of them was behind.

    A row is known by its time: which events of its batch have it. Rows of which that cannot be told are the job's own where nothing was
    meant to be late at all.
    """
    times = {name: _times(one.sample) for name, one in offered.items()}
    count, longest = 0, None
    for batch in {one.batch for one in late}:
        own, meant = _by_time(batches[batch], offered, times)
        its = [one for one in late if one.batch == batch]
        for time, rows in Counter(one.own_us for one in its).items():
            mine = own[time] if time is not None else 0
            others = meant[time] if time is not None else 0
            found = rows * mine // (mine + others) if mine + others else 0 if meant_at_all else rows
            if found:
                count += found
                longest = max(longest or 0, *(one.behind_us for one in its if one.own_us == time))
    return count, longest


def _by_time(
    batch: Batch, offered: Mapping[str, Offered], times: Mapping[str, Sequence[frozenset[int]]]
) -> tuple[Counter[int], Counter[int]]:
    """By instant how many events of a batch have it that were not meant to be late, and how many that were."""
    own: Counter[int] = Counter()
    meant: Counter[int] = Counter()
    for source, files in batch.files.items():
        one, instants = offered[input_of(source)], times[input_of(source)]
        for event in (event for file in files for event in one.files.get(file, ())):
            (meant if event.kind in _MEANT else own).update(instants[int(event.event_id.rpartition("-")[2])])
    return own, meant


def _times(sample: Sample) -> list[frozenset[int]]:
    """By record every instant in it, in whichever column: a job may take another one for event time than the sample seems to have.

    Also cut to milliseconds and to seconds, as a job may read it.
    """
    values = {name: [record.values.get(name) for record in sample.records] for name in sample.columns}
    columns = [(column.name, column.unit) for column in time_columns(values)]
    return [
        frozenset(
            time // step * step
            for name, unit in columns
            if (time := instant_us(record.values.get(name), unit)) is not None
            for step in (1, 1_000, 1_000_000)
        )
        for record in sample.records
    ]


def _inputs(batches: Sequence[Batch]) -> set[str]:
    return {input_of(source) for batch in batches if batch.has_data for source in batch.files if any(batch.files.values())}
