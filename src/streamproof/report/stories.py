"""The stories of events and rows as a page shows them: each has a place in it, which whatever names the event leads to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from streamproof.report import explain, words
from streamproof.report.shape import Report, ScenarioEntry
from streamproof.report.shape_of_causes import FollowedEvent, FollowedRow


@dataclass(frozen=True)
class Cause:
    """The way from the first failure to its cause.

    Parameters
    ----------
    shrinking
        The command that makes the scenario small, where that can be done and was not.
    no_shrinking
        Why it cannot be done, empty where it can.
    story
        The story of its event; None where the page has none.
    tracing
        The command that follows the event; empty where the finding names none.
    """

    shrinking: str
    no_shrinking: str
    story: FollowedEvent | None
    tracing: str


class Stories:
    """Those of one page, by their places: e0, e1, ... for events and r0, r1, ... for rows."""

    def __init__(self, report: Report) -> None:
        found = report.get("followed")
        self.events: list[FollowedEvent] = found["events"] if found else []
        self.rows: list[FollowedRow] = found["rows"] if found else []
        self.of_events, self.of_rows = (found["of_events"], found["of_rows"]) if found else (0, 0)
        self.masked, self.problem = bool(found and found["masked"]), found.get("problem", "") if found else ""
        self.command = f"streamproof trace {explain.named_run(report) or 'RUN'}"
        self._places: dict[tuple[str, str], str] = {}
        for number, event in enumerate(self.events):
            for scenario in (event["scenario"], ""):
                self._places.setdefault((scenario, event["trace"]), f"e{number}")

    @property
    def said(self) -> str:
        """How many of how many are told."""
        parts = [f"{words.number(len(self.events))} of {words.counted(self.of_events, 'event')}"]
        if self.of_rows:
            parts.append(f"{words.number(len(self.rows))} of {words.counted(self.of_rows, 'row')}")
        return ", ".join(parts)

    @property
    def places(self) -> Mapping[str, str]:
        """By trace id the place of an event's story; of several the first."""
        return {trace: place for (scenario, trace), place in self._places.items() if not scenario}

    def place(self, event: str | None, scenario: str = "") -> str:
        """The place of an event's story, that of a scenario before another one; of a row of several events that of the first. Empty if none."""
        for part in (event or "").split("|"):
            trace = re.split("[#!]", part)[0]  # a further row of a record, or one of a timer, is the record's
            for name in (trace, trace.partition("+")[0]):
                found = self._places.get((scenario, name)) or self._places.get(("", name))
                if found:
                    return found
        return ""

    def elsewhere(self, place: str, scenario: str) -> str:
        """The scenario that a story is of, where that is another one; empty if not."""
        of = self.events[int(place[1:])]["scenario"]
        return of if of != scenario else ""


def cause(report: Report, scenario: ScenarioEntry, stories: Stories) -> Cause | None:
    """The way to the cause of a scenario; None where it has not failed."""
    if scenario["verdict"] != "fail":
        return None
    found = explain.telling(scenario)
    finding = found[1] if found else None
    smallest = report.get("smallest")
    possible = explain.can_shrink(report, scenario)
    place = stories.place(finding["event"], scenario["id"]) if finding else ""
    return Cause(
        shrinking=explain.shrinking(report, scenario) if possible and smallest is None else "",
        no_shrinking="" if possible or smallest is not None else explain.why_not_shrunk(report, scenario),
        story=stories.events[int(place[1:])] if place else None,
        tracing=explain.explain(report, scenario).text("trace"),
    )


__all__ = ["Cause", "Stories", "cause"]
