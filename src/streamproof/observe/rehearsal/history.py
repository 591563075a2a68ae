"""The samples of all processes of a scenario as series: what a Prometheus that has scraped them would hold."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from streamproof.observe.metric import QUERY
from streamproof.observe.rehearsal.samples import Labels, Life, labelled

INSTANCE = "instance"
"""The label that Prometheus gives to what it scrapes. Only processes that run at the same time need it here."""


@dataclass
class Samples:
    """One series: its times and its values."""

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, at: float, value: float) -> None:
        self.times.append(at)
        self.values.append(value)

    def between(self, begin: float, end: float) -> list[tuple[float, float]]:
        """The samples after `begin`, up to `end`."""
        part = slice(bisect_right(self.times, begin), bisect_right(self.times, end))
        return list(zip(self.times[part], self.values[part], strict=True))


class Scraped:
    """The samples of several processes, one after another or side by side.

    A series goes on over a restart. Where two processes run at the same time, the second one's series have an `instance` of their own.
    Between two processes there is no sample: whatever is scraped is gone, and so no alert goes on firing.
    """

    def __init__(self, lives: Sequence[Life]) -> None:
        self._lives = [(self._instance(lives, number), life) for number, life in enumerate(lives)]
        self._series: dict[str, dict[Labels, Samples]] = {}
        for instance, life in self._lives:
            for scrape in life:
                for (name, labels), value in scrape.values.items():
                    self._series.setdefault(name, {}).setdefault(_with(labels, instance), Samples()).add(scrape.at, value)

    @staticmethod
    def _instance(lives: Sequence[Life], number: int) -> str:
        mine = lives[number]
        queries = _queries(mine)
        beside = [life for life in lives[:number] if life[-1].at >= mine[0].at and _queries(life) & queries]
        return str(number) if beside else ""

    @property
    def moments(self) -> list[float]:
        """When the rules are evaluated: at each scrape, and once a process is gone."""
        ends = [life[-1].at + 0.001 for _, life in self._lives]
        return sorted({*(scrape.at for _, life in self._lives for scrape in life), *ends})

    def at(self, name: str, moment: float) -> Mapping[Labels, float]:
        """What the series of a metric are at a moment: what the last scrape of each process that lives then has found."""
        found: dict[Labels, float] = {}
        for instance, life in self._lives:
            if life[0].at <= moment <= life[-1].at:
                scrape = life[bisect_right(life, moment, key=lambda one: one.at) - 1]
                found |= {_with(labels, instance): value for (said, labels), value in scrape.values.items() if said == name}
        return found

    def during(self, name: str, begin: float, end: float) -> Iterator[tuple[Labels, list[tuple[float, float]]]]:
        """The samples of the series of a metric after `begin`, up to `end`; no series without any."""
        for labels, samples in self._series.get(name, {}).items():
            if found := samples.between(begin, end):
                yield labels, found

    def whole(self, name: str) -> Iterator[tuple[Labels, Samples]]:
        """All samples of the series of a metric."""
        yield from self._series.get(name, {}).items()


def _with(labels: Labels, instance: str) -> Labels:
    return labelled(**{**dict(labels), INSTANCE: instance}) if instance else labels


def _queries(life: Life) -> set[str]:
    ends = (life[0], life[-1])
    return {value for scrape in ends for _, labels in scrape.values for label, value in labels if label == QUERY}
