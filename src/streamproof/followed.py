"""What a report shows of single events and rows: where an event went, and which events made a row. Few of them, however many a run has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from streamproof.core.verdict import Verdict
from streamproof.errors import StreamproofError
from streamproof.prove.lineage import words as told
from streamproof.prove.lineage.kept import Kept, KeptEvent
from streamproof.prove.lineage.part import Part
from streamproof.prove.lineage.rows import Origin, origin_of
from streamproof.prove.lineage.tracing import FAULT_FREE, Run, Traced
from streamproof.prove.oracle.trace import apart, event_id, record_of
from streamproof.report import explain
from streamproof.report.shape import Report, ScenarioEntry
from streamproof.report.shape_of_causes import Followed, FollowedEvent, FollowedRow

SCENARIOS = 5
"""How many failing scenarios are looked at, worst first."""
NAMED, SAMPLE, ROWS = 45, 40, 30
"""How many events at most are told that findings name, and of the others; how many rows."""
MOST_READ = 400_000
"""Up to so many events times scenarios that differ, each story says how the other scenarios end: it takes some seconds then."""
_OF_EACH = 6
"""How many rows of an output, and events of a place of the account, are taken at most."""
_LOOKED_AT = 200
"""Of so many rows of an output those that tell something wrong are shown first."""
_PARTS_OF_A_ROW = 5
_ENDS = ("published", "left by", "in state", "replaced", "counted", "same id in", "not read", "then")
One = TypeVar("One")


def followed(run: Path, report: Report) -> Followed:
    """The events and rows that a report shows, told as `streamproof trace` tells them.

    Those that findings name come first, each in the worst scenario that names it; the others are a sample of the run without a fault.

    Parameters
    ----------
    run
        The folder of the run, with its lineage.
    report
        What is reported of it; its scenarios and the points of its picture are looked at.
    """
    try:
        return _Telling(run, report).told()
    except StreamproofError as problem:
        return _nothing(problem.message)
    except Exception as problem:  # noqa: BLE001 -- no report is lost for a part of it
        return _nothing(f"{type(problem).__name__}: {problem}")


def story_of(run: Path, scenario: str, event: str | None) -> list[list[str]]:
    """The way of one event through a scenario whose lineage is kept, in lines of (label, text); nothing where that is not known."""
    try:
        found = Run(Kept(run), [], scenario)
        (trace, *_) = (record_of(trace) for trace in apart(event or ""))
        (one,) = found.traced([found.events[trace]], others=False)
        return [list(line) for line in told.event_lines(one, found.setting, found.events)]
    except Exception:  # noqa: BLE001 -- a story is told where it can be
        return []


def _nothing(problem: str) -> Followed:
    return {"events": [], "rows": [], "of_events": 0, "of_rows": 0, "masked": False, "problem": problem}


@dataclass
class _Telling:
    """One report that is told."""

    run: Path
    report: Report
    _kept: Kept = field(init=False)
    _small: bool = field(init=False)
    """Whether all other scenarios are looked at for how they end; of a large run that would take longer than a reader waits."""

    def __post_init__(self) -> None:
        self._kept = Kept(self.run)
        self._small = len(self._kept.events) * len(self._kept.alike()) <= MOST_READ

    def told(self) -> Followed:
        events = self._kept.events
        failing = explain.with_verdict(self.report, Verdict.FAIL)[:SCENARIOS]
        named = dict(_each_once((scenario["id"], _named(scenario, events)) for scenario in failing))
        sound = self._looked_at(FAULT_FREE)
        chosen = list(_rows_of(sound)) if sound is not None else []
        sample = list(dict.fromkeys([*_of_rows(chosen, events), *self._of_each_place(events), *_spread(list(events), SAMPLE)]))
        everything = {event_id(trace) for its in (*named.values(), sample) for trace in its}
        part = Part(self.run, everything)
        stories: list[FollowedEvent] = []
        rows: list[FollowedRow] = []
        for scenario, traces in named.items():
            stories += self._events(part, scenario, traces, named=True)
            rows += self._wrong_rows(part, scenario, traces)
        stories += self._events(part, FAULT_FREE, sample[:SAMPLE], named=False)
        rows += [] if sound is None else [self._row(sound, origin) for origin in chosen]
        return {
            "events": stories,
            "rows": rows[:ROWS],
            "of_events": len(events),
            "of_rows": 0 if sound is None else sum(len(held["rows"]) for _, held in _outputs(sound)),
            "masked": sound is not None and any(held.get("masked") for _, held in _outputs(sound)),
        }

    def _looked_at(self, scenario: str, kept: Kept | None = None) -> Run | None:
        """The run, of which one scenario is looked at; None where nothing is kept of that."""
        looked_at = kept or self._kept
        there = looked_at.scenarios.get(scenario, {}).get("queries")
        return Run(looked_at, self.report["scenarios"], scenario) if there else None

    def _of_each_place(self, events: Mapping[str, KeptEvent]) -> Iterator[str]:
        """A few events of each place of the account, as the picture has them."""
        by_place: dict[str, list[str]] = {}
        for point in self.report["event_time"]["points"]:
            if point["event"] in events:
                by_place.setdefault(point["fate"], []).append(point["event"])
        for traces in by_place.values():
            yield from _spread(traces, _OF_EACH)

    def _events(self, part: Part, scenario: str, traces: Sequence[str], *, named: bool) -> Iterator[FollowedEvent]:
        run = self._looked_at(scenario, part) or self._looked_at(FAULT_FREE, part)
        if run is None:
            return
        for one in run.traced([part.events[trace] for trace in traces], others=self._small):
            yield self._event(run, one, named=named)

    def _event(self, run: Run, one: Traced, *, named: bool) -> FollowedEvent:
        lines = [*told.scenario_lines(run.setting), *told.event_lines(one, run.setting, self._kept.events)]
        return {
            "trace": one.event.trace,
            "called": told.headline(one),
            "scenario": run.scenario,
            "named": named,
            "ends": _end_of(lines),
            "lines": [list(line) for line in lines],
        }

    def _wrong_rows(self, part: Part, scenario: str, traces: Sequence[str]) -> Iterator[FollowedRow]:
        """The rows that events of findings are in, those that the model does not have before others."""
        run, near = self._looked_at(scenario), self._looked_at(scenario, part)
        if run is None or near is None:
            return
        first = {trace: number for number, trace in enumerate(traces)}
        found: list[tuple[bool, int, int, Mapping[str, Any]]] = []
        for place, (follower, held) in enumerate(_outputs(near)):
            for row in [] if held.get("masked") else held["rows"][:_LOOKED_AT]:
                origin = origin_of(follower, held, row)
                of = min((first.get(record_of(trace), NAMED) for trace in origin.traces), default=NAMED)
                if of < NAMED:
                    found.append((not _is_wrong(origin), of, place, row))
        outputs = _outputs(run)
        for _, _, place, row in sorted(found, key=lambda one: one[:3])[:_OF_EACH]:
            yield self._row(run, origin_of(*outputs[place], row))

    def _row(self, run: Run, origin: Origin) -> FollowedRow:
        lines = [*told.scenario_lines(run.setting), *told.row_lines(origin, run.setting, self._kept.events)]
        return {
            "output": origin.output,
            "scenario": run.scenario,
            "called": told.values_in_words(origin.values),
            "wrong": any(label == "WRONG" for label, _ in lines),
            "made_of": [record_of(trace) for trace in origin.traces[:_PARTS_OF_A_ROW]],
            "lines": [list(line) for line in lines],
        }


def _named(scenario: ScenarioEntry, events: Mapping[str, KeptEvent]) -> list[str]:
    """The events that the findings of a scenario name, the most telling first."""
    telling = explain.telling(scenario)
    findings = [telling[1]] if telling is not None and telling[1] is not None else []
    findings += [finding for check in scenario["checks"] if check["verdict"] == "fail" for finding in check["findings"]]
    traces = (record_of(trace) for finding in findings if finding["event"] for trace in apart(finding["event"]))
    return [trace for trace in dict.fromkeys(traces) if trace in events]


def _each_once(of_each: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """By scenario its events without those of the scenarios before it, each with a share of what there is room for."""
    seen: set[str] = set()
    for scenario, traces in of_each:
        its = [trace for trace in traces if trace not in seen][: NAMED // SCENARIOS]
        seen.update(its)
        if its:
            yield scenario, its


def _outputs(run: Run) -> list[tuple[Any, Mapping[str, Any]]]:
    return [(follower, held) for follower in run.followers for held in follower.kept.outputs]


def _rows_of(run: Run) -> Iterator[Origin]:
    """A few rows of each output; none of those whose values are not kept."""
    shown = [(follower, held) for follower, held in _outputs(run) if held["rows"] and not held.get("masked")]
    of_each = min(_OF_EACH, ROWS // max(1, len(shown)))
    for follower, held in shown:
        for row in _spread(held["rows"], of_each):
            yield origin_of(follower, held, row)


def _is_wrong(origin: Origin) -> bool:
    return origin.by is None or origin.doubled or origin.agrees is False


def _of_rows(rows: Sequence[Origin], events: Mapping[str, KeptEvent]) -> list[str]:
    """The first event of each row."""
    found = (record_of(origin.traces[0]) for origin in rows if origin.traces)
    return [trace for trace in found if trace in events]


def _spread(found: Sequence[One], most: int) -> list[One]:
    """So many at most, from the first to the last."""
    return [found[place * len(found) // most] for place in range(most)] if len(found) > most else list(found)


def _end_of(lines: Sequence[tuple[str, str]]) -> str:
    """In a line where the event is at the end; what contradicts the model before anything else."""
    wrong = next((text for label, text in lines if label == "WRONG"), "")
    ends = [f"{label} {text}" for label, text in lines if label in _ENDS]
    return f"WRONG: {wrong}" if wrong else ends[-1] if ends else ""


__all__ = ["followed", "story_of"]
