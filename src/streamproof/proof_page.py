"""The live page of a proof: its events folded into a picture, with the grid of crash points that fills up."""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from streamproof.config import secret
from streamproof.core.phases import Phase, StepName
from streamproof.core.verdict import Verdict, worst
from streamproof.errors import StreamproofError
from streamproof.observe.live.board import Clock
from streamproof.observe.live.shown import without_secrets
from streamproof.observe.live.troubles import Trouble, with_trouble
from streamproof.observe.moment import moment
from streamproof.prove import events
from streamproof.prove.events import Event

if TYPE_CHECKING:
    from streamproof.observe.moment import Moment

MOST_POINTS = 2_000
"""Crash points that the page shows; a picture goes to each open page every second."""
UNTRIED = "untried"


@dataclass(frozen=True)
class Scenarios:
    """How far the scenarios are: those with a verdict, by verdict, of how many; one that runs; seconds left, where that can be said."""

    done: int = 0
    total: int = 0
    running: str = ""
    left_seconds: float | None = None
    verdicts: Mapping[Verdict, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ProofPicture:
    """What is known of a proof.

    Parameters
    ----------
    word, since
        How it is in one word, and since when.
    points
        The crash points in their order.
    verdicts
        By crash point the worst verdict of the scenarios that decide it.
    ended
        The sentence that it ended with; empty while it runs.
    """

    job: str
    began: "Moment"
    word: str = "preparing"
    why: str = "The proof starts."
    since: float = 0.0
    seed: int | None = None
    points: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    scenarios: Scenarios = Scenarios()
    failures: tuple[Trouble, ...] = ()
    ended: "Moment | None" = None

    def at(self, word: str, why: str, steady: float) -> "ProofPicture":
        """The picture with a word and a sentence; the time goes on where the word is the same."""
        return replace(self, word=word, why=why, since=self.since if word == self.word else steady)


def after(picture: ProofPicture, event: Event, at: "Moment", again: Callable[[str, int | None], str]) -> ProofPicture:
    """The picture once an event was heard; `again` is the command that repeats a scenario, by its id and the seed."""
    match event:
        case events.Preparing():
            return picture.at("preparing", f"{event.what[:1].upper()}{event.what[1:]}.", at.steady)
        case events.Started():
            said = f"{event.events:,} events, seed {event.seed}, {event.batches} batches; Spark {event.spark} on {event.master}."
            return replace(picture, job=event.job, seed=event.seed).at("preparing", said, at.steady)
        case events.Recording():
            said = f"The job runs without a fault, twice: {event.batch} of {event.batches} batches."
            return picture.at("recording", said, at.steady)
        case events.Planned():
            return replace(picture, points=event.points)
        case events.Proving():
            done = replace(
                picture.scenarios, done=event.done, total=event.total, running=event.scenario, left_seconds=event.seconds_left
            )
            return _proving(replace(picture, scenarios=done), at)
        case events.Judged():
            return _proving(_judged(picture, event, at, again), at)
    return picture


def _judged(picture: ProofPicture, event: events.Judged, at: "Moment", again: Callable[[str, int | None], str]) -> ProofPicture:
    known, counts = dict(picture.verdicts), dict(picture.scenarios.verdicts)
    for point in event.points:
        known[point] = worst([event.verdict, *([known[point]] if point in known else [])])
    counts[event.verdict] = counts.get(event.verdict, 0) + 1
    found = replace(picture, verdicts=known, scenarios=replace(picture.scenarios, verdicts=counts))
    if event.verdict is Verdict.PASS or (picture.failures and event.verdict is Verdict.UNKNOWN):
        return found
    command = again(event.scenario, picture.seed)
    trouble = Trouble(at.wall, str(event.verdict), f"{event.scenario}: {event.says}", command)
    return replace(found, failures=with_trouble(picture.failures, trouble))


def _proving(picture: ProofPicture, at: "Moment") -> ProofPicture:
    done, failed = picture.scenarios, picture.scenarios.verdicts.get(Verdict.FAIL, 0)
    if failed:
        return picture.at("failing", f"{failed:,} of {done.total:,} scenarios failed so far.", at.steady)
    return picture.at("proving", f"{done.done:,} of {done.total:,} scenarios have a verdict, and none has failed.", at.steady)


def shown_proof(picture: ProofPicture, now: "Moment") -> dict[str, Any]:
    """What the page of a proof shows, at this moment."""
    shown = picture.points[:MOST_POINTS]
    states = [str(picture.verdicts.get(point, UNTRIED)) for point in picture.points]
    done = picture.scenarios
    return {
        "of": "proof",
        "job": picture.job,
        "now": now.wall.isoformat(timespec="seconds"),
        "word": picture.word,
        "why": picture.why,
        "for_seconds": round(max(0.0, now.steady - picture.since), 1),
        "doing": picture.why,
        "ended": None if picture.ended is None else picture.ended.wall.isoformat(timespec="seconds"),
        "jump": None,
        "done": done.done,
        "total": done.total,
        "scenario": done.running,
        "left_seconds": None if done.left_seconds is None else round(done.left_seconds, 1),
        "size": len(picture.points),
        "counts": {state: states.count(state) for state in (*map(str, Verdict), UNTRIED)},
        "not_shown": len(picture.points) - len(shown),
        **_grid(shown, picture.verdicts),
        "troubles": [
            {
                "at": each.at.isoformat(timespec="seconds"),
                "code": each.code,
                "query": "",
                "batch": None,
                "what": each.what,
                "todo": each.todo,
                "times": each.times,
            }
            for each in picture.failures
        ],
    }


def _grid(points: tuple[str, ...], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Batches across, phases down (of each query, where there are several), and a cell for each crash point, in the order of the run."""
    cells: dict[tuple[str, str], dict[int, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        with suppress(ValueError):  # a step of a later version; the report has it
            step = StepName.parse(point)
            cells[step.query or "", str(step.phase)][step.batch].append((point, str(verdicts.get(point, UNTRIED))))
    batches = sorted({batch for row in cells.values() for batch in row})
    order = [str(phase) for phase in Phase]
    return {
        "batches": batches,
        "rows": [
            {"query": query, "phase": phase, "groups": [cells[query, phase].get(batch, []) for batch in batches]}
            for query, phase in sorted(cells, key=lambda row: (row[0], order.index(row[1])))
        ],
    }


class ProofBoard:
    """A listener of a proof, whose picture it keeps for the live page.

    Parameters
    ----------
    job
        What is proved, until the proof says its name.
    again
        The command that repeats a scenario, by its id and the seed.
    """

    def __init__(self, job: str, again: Callable[[str, int | None], str], clock: Clock = moment) -> None:
        began = clock()
        self._again, self._clock, self._lock = again, clock, threading.Lock()
        self._picture = ProofPicture(job, began, since=began.steady)
        self._changed: Callable[[], None] | None = None

    def __call__(self, event: Event) -> None:
        """Hears an event; waits for no browser."""
        at = self._clock()
        with self._lock:
            self._picture = after(self._picture, event, at, self._again)
        self._tell()

    def done(self, verdict: Verdict, says: str) -> None:
        """The proof has its verdict; `says` is one sentence, such as where the report is."""
        at = self._clock()
        with self._lock:
            self._picture = replace(self._picture.at(str(verdict), says, at.steady), ended=at)
        self._tell()

    def tell(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def now(self) -> Mapping[str, Any]:
        with self._lock:
            picture = self._picture
        found: Mapping[str, Any] = without_secrets(shown_proof(picture, self._clock()), secret.redact)
        return found

    def close(self, problem: BaseException | None) -> None:
        at = self._clock()
        with self._lock:
            picture = self._picture
            if isinstance(problem, StreamproofError):
                todo = "\n".join(part for part in (problem.required, problem.remedy) if part)
                trouble = Trouble(at.wall, problem.code, problem.message, todo)
                picture = replace(picture, failures=with_trouble(picture.failures, trouble))
            if picture.ended is None:
                said = "The proof was asked to end. The report has what was finished."
                if isinstance(problem, Exception):
                    said = f"The proof stopped: {str(problem).partition(chr(10))[0]}"
                picture = replace(picture.at("stopped", said, at.steady), ended=at)
            self._picture = picture
        self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed()
