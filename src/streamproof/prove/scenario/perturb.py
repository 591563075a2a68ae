"""A sample as it could also have arrived: out of order, late, twice, cut short, after a gap, in a burst.

Nothing is invented: every record comes once as it is, and what is added are copies of records and of the first part of lines. The place in the
file is the order in which records arrived; how far one is moved is told by a clock that goes along, the newest event time so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import timedelta

from streamproof.core.durations import micros_of
from streamproof.core.randomness import Seeded
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample import Sample
from streamproof.prove.scenario.sample_records import Record

_MINUTE_US = 60_000_000
_SECOND_US = 1_000_000
_SHORT = 0.02
_GAP = 0.01
_BURST = 0.02
_LATE = (0.25, 0.6)
_LEAST_IN_GAP, _LEAST_IN_BURST = 2, 4


@dataclass(frozen=True)
class Perturbation:
    """What happens to a sample on its way; shares are of its records, and one above 0 makes at least one where there is room.

    Where the sample has no event time, a record counts as a second.

    Parameters
    ----------
    disordered, disordered_by
        The share of the records that come later than they should, and by how much at most; 1 minute of event time, or 2 % of the span of the
        sample where that is less.
    late, late_by
        The share that comes far too late, and by how much; a quarter to six tenths of the span.
    duplicates, duplicated_within
        Second copies, and how long after the first they come at most; as `disordered_by`.
    malformed
        Lines that come cut short before they come whole, as from a writer that died; in JSON and CSV.
    gaps, gap_length
        How often nothing arrives for a while; what belongs there comes at once, after as much of what follows. 1 % of the span.
    bursts, burst_length
        How often one of two writers is held up: every second record of a stretch comes at its end, at once. 2 % of the span.
    """

    disordered: float = 0.05
    disordered_by: timedelta | None = None
    late: float = 0.005
    late_by: tuple[timedelta, timedelta] | None = None
    duplicates: float = 0.01
    duplicated_within: timedelta | None = None
    malformed: float = 0.002
    gaps: int = 1
    gap_length: timedelta | None = None
    bursts: int = 1
    burst_length: timedelta | None = None

    def __post_init__(self) -> None:
        for name in ("disordered", "late", "duplicates", "malformed"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise ScenarioError(
                    f"{name} is {share} in the perturbation of a sample.", required="It is a share between 0 and 1."
                )
        for name in ("gaps", "bursts"):
            if getattr(self, name) < 0:
                raise ScenarioError(
                    f"{name} is {getattr(self, name)} in the perturbation of a sample.", required="It is 0 or more."
                )
        durations = [value for field in fields(self) if isinstance(value := getattr(self, field.name), timedelta)]
        if any(duration < timedelta(0) for duration in (*durations, *(self.late_by or ()))):
            raise ScenarioError(
                "A duration in the perturbation of a sample is below 0.", required="Nothing comes before it happens."
            )


UNPERTURBED = Perturbation(disordered=0, late=0, duplicates=0, malformed=0, gaps=0, bursts=0)
"""The sample as it lies in its file."""


@dataclass(frozen=True)
class SampleEvent:
    """One record as it arrives.

    Parameters
    ----------
    trace
        "trades-000017" is the eighteenth record of the sample; "trades-000017+1" what came of it besides: a copy, or its cut line.
    kind
        "plain", "delayed" (after a record that follows it in the sample), "late" (far behind), "duplicate" or "malformed".
    record
        For "malformed" the cut line, without values.
    """

    trace: str
    kind: str
    record: Record

    @property
    def event_id(self) -> str:
        """The trace of the record that it is, or was made of."""
        return self.trace.partition("+")[0]


_Key = tuple[int, int, int]
"""When something arrives: the clock, then the place in the sample (what was moved comes after it), then the order in which it was made."""


def perturb(sample: Sample, perturbation: Perturbation, seed: int) -> list[SampleEvent]:
    """The events of a sample in the order in which they arrive; the same seed gives the same events."""
    return _Arrivals(sample, perturbation, seed).events()


class _Arrivals:
    """The arrivals as they become: each record has one, and is moved at most once."""

    def __init__(self, sample: Sample, perturbation: Perturbation, seed: int) -> None:
        self.sample, self.asked, self.seed = sample, perturbation, seed
        self.count = len(sample.records)
        self.clock = _clock(sample)
        self.span = self.clock[-1] - self.clock[0] if self.clock else 0
        self.keys: list[_Key] = [(instant, place, 0) for place, instant in enumerate(self.clock)]
        self.late: set[int] = set()
        self.moved: set[int] = set()

    def events(self) -> list[SampleEvent]:
        self._be_late()
        self._hold_back()
        self._disorder()
        copies, cut = self._copies(), self._cut_lines()
        order = sorted([*((key, place, "") for place, key in enumerate(self.keys)), *copies, *cut])
        made: dict[int, int] = {}
        events, furthest = [], -1
        for _, place, extra in order:
            record, trace = self.sample.records[place], f"{self.sample.name}-{place:06d}"
            if extra:
                made[place] = made.get(place, 0) + 1
                trace = f"{trace}+{made[place]}"
                events.append(SampleEvent(trace, extra, self._cut(place) if extra == "malformed" else record))
                continue
            behind = place < furthest
            furthest = max(furthest, place)
            events.append(SampleEvent(trace, ("late" if place in self.late else "delayed") if behind else "plain", record))
        return events

    def _chance(self, purpose: str) -> Seeded:
        return Seeded(self.seed, "sample", self.sample.name, purpose)

    def _number(self, share: float) -> int:
        return max(1, round(share * self.count)) if share > 0 and self.count else 0

    def _length(self, given: timedelta | None, share: float) -> int:
        return micros_of(given) if given is not None else int(share * self.span)

    @property
    def _near(self) -> int:
        return min(_MINUTE_US, int(_SHORT * self.span))

    def _move(self, place: int, to_us: int, *, behind: int) -> None:
        """Lets a record arrive when the clock says so, and after another record at the earliest."""
        self.moved.add(place)
        self.keys[place] = (max(to_us, self.clock[behind]), self.count, place)

    def _be_late(self) -> None:
        chance, given = self._chance("late"), self.asked.late_by
        low, high = (micros_of(each) for each in given) if given else (int(share * self.span) for share in _LATE)
        end = self.clock[-1] if self.clock else 0
        able = [place for place in range(self.count - 1) if self.clock[place] + low <= end]
        for place in chance.shuffled(able)[: self._number(self.asked.late)]:
            self.late.add(place)
            self._move(place, min(end, self.clock[place] + int(chance.between(low, high))), behind=place + 1)

    def _hold_back(self) -> None:
        chance = self._chance("gaps")
        length = self._length(self.asked.gap_length, _GAP)
        for start in chance.shuffled(range(self.count))[: self.asked.gaps]:
            stretch = self._stretch(start, length, _LEAST_IN_GAP)
            self._at_once(stretch, self.clock[start] + 2 * length)
        chance = self._chance("bursts")
        length = self._length(self.asked.burst_length, _BURST)
        for start in chance.shuffled(range(self.count))[: self.asked.bursts]:
            stretch = self._stretch(start, length, _LEAST_IN_BURST)
            self._at_once(stretch[::2], self.clock[start] + length)

    def _stretch(self, start: int, length: int, least: int) -> list[int]:
        """The places from `start` on, as far as the clock runs for `length`, and at least `least` of them."""
        end = self.clock[start] + length
        place = start
        while place < self.count - 1 and (self.clock[place] < end or place - start < least):
            place += 1
        return list(range(start, place))

    def _at_once(self, stretch: Sequence[int], to_us: int) -> None:
        if stretch:
            for place in (place for place in stretch if place not in self.moved):
                self._move(place, to_us, behind=stretch[-1] + 1)

    def _disorder(self) -> None:
        chance = self._chance("disorder")
        most = self._near if self.asked.disordered_by is None else micros_of(self.asked.disordered_by)
        able = [place for place in range(self.count - 1) if place not in self.moved]
        for place in chance.shuffled(able)[: self._number(self.asked.disordered)]:
            self._move(place, self.clock[place] + int(chance.uniform() * most), behind=place + 1)

    def _copies(self) -> list[tuple[_Key, int, str]]:
        chance = self._chance("duplicates")
        most = self._near if self.asked.duplicated_within is None else micros_of(self.asked.duplicated_within)
        return [
            (self._behind(place, int(chance.uniform() * most), number), place, "duplicate")
            for number in range(self._number(self.asked.duplicates))
            for place in [chance.below(self.count)]
        ]

    def _cut_lines(self) -> list[tuple[_Key, int, str]]:
        chance = self._chance("malformed")
        able = [place for place in range(self.count) if _cuts(self.sample.records[place], self.sample.format)]
        chosen = chance.shuffled(able)[: self._number(self.asked.malformed)]
        return [((*self.keys[place][:2], -1), place, "malformed") for place in chosen]  # just before the line comes whole

    def _behind(self, place: int, delay_us: int, number: int) -> _Key:
        """Later than the record itself, which comes first."""
        return (self.keys[place][0] + delay_us, self.count + 1, number)

    def _cut(self, place: int) -> Record:
        record = self.sample.records[place]
        return Record((record.raw or b"")[: self._chance(f"cut {place}").choice(_cuts(record, self.sample.format))], {})


def _clock(sample: Sample) -> list[int]:
    """The newest event time up to each record; seconds where the sample has no event time, or one that stands still."""
    clock: list[int] = []
    newest: int | None = None
    instants = sample.instants()
    first = next((instant for instant in instants if instant is not None), 0)
    for instant in instants:
        if instant is not None and (newest is None or instant > newest):
            newest = instant
        clock.append(first if newest is None else newest)
    if clock and clock[0] < clock[-1]:
        return clock
    return [place * _SECOND_US for place in range(len(sample.records))]


def _cuts(record: Record, format_: str) -> range:
    """Where the line can be cut so that no reader takes its first part for a whole record: before its end, in CSV before its last column.

    Empty where the format has no lines.
    """
    line = (record.raw or b"").rstrip()
    end = _last_comma(line) + 1 if format_ == "csv" else len(line)
    return range(len(line) - len(line.lstrip()) + 1, end)


def _last_comma(line: bytes) -> int:
    """Where the last column begins; 0 where there is only one. Quotes in pairs have no part in it."""
    quoted, last = False, 0
    for place, byte in enumerate(line):
        quoted ^= byte == ord('"')
        if byte == ord(",") and not quoted:
            last = place
    return last
