"""The skew of a sample as people read it: the bins of its histogram, the delays worth comparing, and the terminal's lines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from streamproof.doctor.skew.skew import GroupSkew, Loss, Skew, written
from streamproof.report import words

_S = 1_000_000
EDGES = (
    1_000,
    10_000,
    100_000,
    _S,
    10 * _S,
    60 * _S,
    600 * _S,
    3_600 * _S,
    21_600 * _S,
    86_400 * _S,
    7 * 86_400 * _S,
    30 * 86_400 * _S,
)
_TARGETS = (0.05, 0.01, 0.001, 0.0001, 0.0)
_BAR = 32
_GROUPS = 5
_LABEL = 20


@dataclass(frozen=True)
class Shown:
    """A sample and its skew, with what is said beside it.

    Parameters
    ----------
    sample
        What it is called.
    time, unit
        The column of the event time, and what its numbers count.
    grouped
        By dimension the column that its groups are taken from.
    arrival
        The column of the order of arrival; None where it is the order of the sample.
    asked_us
        A delay that was asked about.
    """

    sample: str
    skew: Skew
    time: str
    unit: str | None
    grouped: dict[str, str]
    arrival: str | None
    asked_us: int | None
    notes: Sequence[str]

    @property
    def event_time(self) -> str:
        """What stands in the configuration for it."""
        chosen = self.skew.delays.chosen
        unit = "" if self.unit is None else f', unit = "{self.unit}"'
        # A quoted text of JSON is one of TOML too.
        return f'event_time = {{ column = {json.dumps(self.time)}{unit}, lag = "{"" if chosen is None else written(chosen.delay_us)}" }}'

    @property
    def headline(self) -> str:
        of = [words.counted(self.skew.counts.events, "event"), f"event time {self.time}"]
        of += [
            words.counted(len(self.skew.groups[name]), name) for name in ("file", "partition", "key") if name in self.skew.groups
        ]
        return " · ".join([self.sample, *of])

    @property
    def asked(self) -> Loss | None:
        return next((loss for loss in self.skew.delays.losses if loss.delay_us == self.asked_us), None)


@dataclass(frozen=True)
class Bin:
    """One bar: what it is called, how many events, and which share of all."""

    name: str
    events: int
    share: float


def bins(skew: Skew) -> list[Bin]:
    """The histogram: in order, then by how far behind, the empty bins at its end left out."""
    found = [Bin("in order", skew.counts.in_order, skew.counts.in_order / skew.counts.events)]
    below = skew.counts.in_order
    for edge in EDGES:
        up_to = max(below, skew.distribution.at_most(edge))
        found.append(Bin(f"up to {short(edge)}", up_to - below, (up_to - below) / skew.counts.events))
        below = up_to
    rest = skew.distribution.count - below
    found.append(Bin(f"more than {short(EDGES[-1])}", rest, rest / skew.counts.events))
    there = [place for place, one in enumerate(found) if one.events and place]
    return [found[0], *found[there[0] : there[-1] + 1]] if there else found[:1]


def compared(shown: Shown) -> list[Loss]:
    """The delays worth comparing: for each of a few shares the shortest that loses no more, and those that were asked for."""
    skew = shown.skew
    picked = [next((loss for loss in skew.delays.losses if loss.share <= target), None) for target in _TARGETS]
    both = [loss for loss in (*picked, skew.delays.chosen, shown.asked) if loss is not None]
    return sorted(set(both), key=lambda loss: loss.delay_us)


def slowest(groups: Sequence[GroupSkew]) -> list[GroupSkew]:
    """The groups that are furthest behind; none where there is one only."""
    return [group for group in groups[:_GROUPS] if group.longest] if len(groups) > 1 else []


def print_skew(shown: Shown, console: Console) -> None:
    """Print what was measured and which delay it asks for; about a screen."""
    for label, text, style in _lines(shown, console):
        line = Text("  " + label.ljust(_LABEL), style="dim")
        line.append(text, style=style or "not dim")
        console.print(line if label or text else "", soft_wrap=True, highlight=False)


def _lines(shown: Shown, console: Console) -> Iterator[tuple[str, str, str]]:
    skew = shown.skew
    console.print(Text(words.printable(shown.headline), style="bold"), soft_wrap=True)
    found = " · ".join(f"{name} {short(value)}" for name, value in skew.percentiles.items())
    yield "behind the newest", f"{found} · longest {short(skew.longest)}", ""
    yield "", "", ""
    full, half = ("█", "▏") if _has_blocks(console) else ("#", ".")
    for one in bins(skew):
        width = round(one.share * _BAR)
        yield one.name, f"{percent(one.share):>8}  {full * width or (half if one.events else '')}", ""
    yield "", "", ""
    yield "a delay of", f"{'loses':<26}holds in a deduplication", "dim"
    for loss in compared(shown):
        mark = f"   {'←' if full == '█' else '<-'} {_mark(loss, shown)}" if loss in (skew.delays.chosen, shown.asked) else ""
        lost = f"{percent(loss.share):>8} {words.number(loss.events):>12}"
        yield written(loss.delay_us), f"{lost:<26}{words.number(round(loss.held)):>12} events{mark}", "bold" if mark else ""
    if skew.delays.chosen is None:
        yield "", f"no delay up to a year loses at most {wanted(skew)}", "bold"
    yield "", "", ""
    yield from ((*line, "") for line in remarks(shown))
    if skew.delays.chosen is not None:
        yield "next", shown.event_time, ""


def remarks(shown: Shown) -> Iterator[tuple[str, str]]:
    """What is to be said beside the figures, as (label, text)."""
    skew = shown.skew
    for dimension, groups in skew.groups.items():
        told = [
            f"{words.printable(group.name)} (p99 {short(group.percentiles['p99'])}, {_of_its_own(group)} late)"
            for group in slowest(groups)
        ]
        if told:
            yield f"slowest {dimension}s", " · ".join(told)
        if dimension in skew.lumped:
            yield "", f"there are more {dimension}s than are told apart: the others count as one"
    yield "max_future", _max_future(shown)
    yield "batches", _batches(skew)
    if skew.counts.unreadable:
        yield "left out", f"{words.counted(skew.counts.unreadable, 'record')} without a time that can be read: a job rejects them"
    if skew.counts.before_1970:
        yield (
            "before 1970",
            f"{words.counted(skew.counts.before_1970, 'event')}, late whatever the delay: Spark's watermark begins at 1970",
        )
    for note in shown.notes:
        yield "note", note


def _mark(loss: Loss, shown: Shown) -> str:
    if loss == shown.skew.delays.chosen:
        return f"recommended for at most {wanted(shown.skew)} late"
    return "asked for"


def _of_its_own(group: GroupSkew) -> str:
    return percent(group.late / group.events)


def _max_future(shown: Shown) -> str:
    skew = shown.skew
    leap = f"the newest time leaps by {short(skew.leap_us)} at most"
    if skew.judging.max_future_us is None:
        return f"none: no event is too far ahead; {leap}"
    clock = (
        f"by {shown.arrival}, the clock at arrival"
        if skew.judging.clock_known
        else "by the events around, since no arrival is given"
    )
    return f"{written(skew.judging.max_future_us)} rejects {words.counted(skew.counts.ahead, 'event')} ({clock}); {leap}"


def _batches(skew: Skew) -> str:
    if skew.judging.batch == 1:
        return "each event is judged by all before it: the worst case; --batch N judges by whole batches of N"
    return f"of {words.counted(skew.judging.batch, 'event')}: each is judged by the batches before its own"


def short(micros: int) -> str:
    """A duration in a few letters: "340 µs", "12 ms", "1.2 s", "4 min 10 s", "3 h 12 min", "2 d 4 h"."""
    if micros < 1_000:
        return f"{micros} µs" if micros else "0 s"
    if micros < _S:
        return f"{micros / 1_000:.3g} ms" if micros < 999_500 else "1 s"
    seconds = micros / _S
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    if seconds >= 86_400:
        hours = round(seconds / 3_600)
        return f"{hours // 24:,} d {hours % 24} h" if hours % 24 else f"{hours // 24:,} d"
    return words.span(seconds).replace(" h 0 min", " h")


def percent(share: float) -> str:
    """A share of one: "4.61 %", "0.09 %", "0.0003 %", "0 %"."""
    if not share:
        return "0 %"
    hundredths = share * 100
    return f"{hundredths:.2f} %" if hundredths >= 0.01 else f"{hundredths:.1g} %".replace("e-0", "e-")


def wanted(skew: Skew) -> str:
    """The share that may be lost, as it was written: "0.1 %"."""
    return f"{skew.delays.wanted * 100:g} %"


def _has_blocks(console: Console) -> bool:
    try:
        "█▏←".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
