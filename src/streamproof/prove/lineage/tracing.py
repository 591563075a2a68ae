"""One question to a run: the events or rows that it is about, in one scenario, and how the other scenarios end for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.errors import ConfigurationError
from streamproof.prove.lineage.finding import events_called
from streamproof.prove.lineage.following import Follower
from streamproof.prove.lineage.kept import Kept, KeptEvent
from streamproof.prove.lineage.moments import Way
from streamproof.prove.lineage.plain import PlainFollower
from streamproof.prove.lineage.rows import Origin, origins

FAULT_FREE = "fault-free"


@dataclass(frozen=True)
class Setting:
    """The scenario that is looked at.

    Parameters
    ----------
    crash
        In words where it crashes, and whatever else it does; empty without a fault.
    twice
        The batches that ran twice: an attempt that the crash ended, and again after the recovery.
    starts
        By query and batch which start of the job has staged what is published of it, from 1 on.
    """

    scenario: str
    crash: str
    twice: frozenset[int]
    starts: Mapping[str, Mapping[int, int]]

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.scenario,
            "crash": self.crash,
            "batches_that_ran_twice": sorted(self.twice),
            "staged_by_start": self.starts,
        }


@dataclass(frozen=True)
class Elsewhere:
    """How the other scenarios end for an event.

    Parameters
    ----------
    others
        How many other scenarios are known.
    differing
        Those in which it ends elsewhere, by their ids.
    wrong
        Those in which its end contradicts the model.
    """

    others: int
    differing: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Traced:
    """An event, its way through each query that reads it, and how other scenarios end for it; `known` is False where no model tells."""

    event: KeptEvent
    ways: tuple[Way, ...]
    elsewhere: Elsewhere
    known: bool = True

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        event, elsewhere = self.event, self.elsewhere
        return {
            "trace": event.trace,
            "called": event.called,
            "source": event.source or None,
            "event_time_us": event.time_us,
            "model": self.known,
            "ways": [{"query": way.query, "moments": [moment.as_dict() for moment in way.moments]} for way in self.ways],
            "other_scenarios": {"known": elsewhere.others, "differing": elsewhere.differing, "wrong": elsewhere.wrong},
        }


class Run:
    """A run whose lineage is kept.

    Parameters
    ----------
    kept
        What its proof has kept.
    scenarios
        Those of its report, as that holds them.
    wanted
        The scenario to look at; None for the run without a fault.

    Raises
    ------
    ConfigurationError
        If there is no such scenario, or nothing was kept of it.
    """

    def __init__(self, kept: Kept, scenarios: Sequence[Mapping[str, Any]], wanted: str | None = None) -> None:
        self._kept = kept
        self.scenario = wanted or FAULT_FREE
        reported = {scenario["id"]: scenario for scenario in scenarios}
        line = kept.scenarios.get(self.scenario)
        if line is None or not line.get("queries"):
            raise _nothing_of(self.scenario, reported, kept.scenarios, line)
        queries = kept.queries(self.scenario)
        self.followers = [self._follower(query) for query in queries]
        said = reported.get(self.scenario, {})
        twice = frozenset(entry["batch"] for entry in said.get("batches", ()) if entry["attempts"] > 1)
        crash = said.get("crash", "") if self.scenario != FAULT_FREE else ""
        self.setting = Setting(self.scenario, crash, twice, {query.query: query.starts for query in queries})

    @property
    def events(self) -> Mapping[str, KeptEvent]:
        """All events by their traces."""
        return self._kept.events

    def event(self, name: str) -> list[Traced]:
        """The events that a name means, each with its way; ConfigurationError if there is none."""
        return self.traced(events_called(name, self.events))

    def traced(self, found: Sequence[KeptEvent], *, others: bool = True) -> list[Traced]:
        """Events, each with its way; the other scenarios are read once for all of them, without `others` not at all."""
        elsewhere = self._elsewhere(found) if others else {event.trace: Elsewhere(0, (), ()) for event in found}
        known = all(follower.known for follower in self.followers)
        return [Traced(event, self._ways(self.followers, event), elsewhere[event.trace], known) for event in found]

    def rows(self, condition: str, output: str | None = None) -> list[Origin]:
        """The rows for which a condition holds, with the events that made them; ConfigurationError if there is none."""
        return origins(self.followers, condition, output)

    def _follower(self, query: Any) -> Follower:
        return Follower(query, self.events) if query.story["nodes"] else PlainFollower(query, self.events)

    @staticmethod
    def _ways(followers: Sequence[Follower], event: KeptEvent) -> tuple[Way, ...]:
        return tuple(follower.follow(event) for follower in followers if follower.reads(event))

    def _elsewhere(self, events: Sequence[KeptEvent]) -> dict[str, Elsewhere]:
        """How each event ends in the other scenarios: those that left the same are looked at once."""
        groups = list(self._others())
        mine = {event.trace: self._ends(self._ways(self.followers, event)) for event in events}
        differing: dict[str, list[str]] = {event.trace: [] for event in events}
        wrong: dict[str, list[str]] = {event.trace: [] for event in events}
        for names in groups:
            followers = [self._follower(query) for query in self._kept.queries(names[0])]
            for event in events:
                ways = self._ways(followers, event)
                if self._ends(ways) != mine[event.trace]:
                    differing[event.trace] += names
                if any(way.wrong for way in ways):
                    wrong[event.trace] += names
        count = sum(map(len, groups))
        return {trace: Elsewhere(count, tuple(differing[trace]), tuple(wrong[trace])) for trace in mine}

    def _others(self) -> Iterator[list[str]]:
        for names in self._kept.alike():
            others = [name for name in names if name != self.scenario]
            if others:
                yield others

    @staticmethod
    def _ends(ways: Sequence[Way]) -> tuple[Any, ...]:
        return tuple((way.query, way.ends) for way in ways)


def _nothing_of(
    scenario: str, reported: Mapping[str, Any], kept: Mapping[str, Any], line: Mapping[str, Any] | None
) -> ConfigurationError:
    there = [name for name, one in kept.items() if one.get("queries")]
    known = scenario in reported or line is not None
    why = line.get("problem", "the job did not come back, or what it left could not be read") if line is not None else ""
    message = (
        f"Nothing is kept of the scenario {scenario}{f': {why}' if why else ''}."
        if known
        else f'There is no scenario "{scenario}" in this run.'
    )
    few = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
    return ConfigurationError(
        message,
        required=f"An event can be followed in {few}." if there else "An event can be followed in no scenario of this run.",
        remedy="The report says what became of it: streamproof report show",
    )


__all__ = ["FAULT_FREE", "Elsewhere", "Run", "Setting", "Traced"]
