"""The claim of [alerts]: a scenario raises the alerts that its fault must raise, and no others; without a fault it raises none but those of its events.

The alerts are worked out over the samples that each run of the job leaves in the scenario's folder (`observe/rehearsal`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from streamproof.config.problems import did_you_mean
from streamproof.core.durations import format_duration
from streamproof.core.notes import Note, NoteCode
from streamproof.core.paths import display
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.observe.metric import Alert, Metric
from streamproof.observe.metrics import ALERTS
from streamproof.observe.rehearsal.history import Samples, Scraped
from streamproof.observe.rehearsal.raised import Looked, Raised, Rules, looked_at, require_library
from streamproof.observe.rehearsal.samples import FOLDER, Labels, lives_in
from streamproof.observe.spans import seconds_of
from streamproof.prove.checkers import CheckResult, Finding, Undecided
from streamproof.prove.faults.catalogue import all_faults
from streamproof.prove.plan.on_files import FAULTS as ON_FILES
from streamproof.prove.plan.planning import FAULT_FREE
from streamproof.prove.scenario.scenario import Scenario

_DEATHS = ("process-death", "machine-death")
_A_MINUTE_HAS = 4
"""So many scrapes: one each 15 seconds, as is common."""
_LEAST_SECONDS = 0.05
_SHOWN = 6
"""So many values of a metric are shown at most."""


class Code(StrEnum):
    """What is found here."""

    NOT_RAISED = "alert-not-raised"
    WITHOUT_FAULT = "alert-raised-without-fault"
    OTHER = "other-alert-raised"


def seconds_between_samples(scenario: Scenario) -> float:
    """How often a run is scraped."""
    return max(scenario.alerts.minute.total_seconds() / _A_MINUTE_HAS, _LEAST_SECONDS)


def require_alerts(scenario: Scenario) -> None:
    """Looks at [alerts] before anything is run.

    Raises
    ------
    MissingExtra
        If what works out alerts is not installed.
    ScenarioError
        If `under` names a fault, or a pattern, that fits none of those that a proof can do.
    """
    if scenario.looks_at_alerts:
        require_library()
    known = list(dict.fromkeys((*_DEATHS, *(fault.name for fault in ON_FILES), *(fault.name for fault in all_faults()))))
    for pattern in scenario.alerts.under:
        if not any(fnmatchcase(name, pattern) for name in known):
            where = f"{display(scenario.file)}: " if scenario.file else ""
            raise ScenarioError(
                f'{where}[alerts.under] names "{pattern}", and no fault is called so.{did_you_mean(pattern, known)}',
                required=f"The faults are {', '.join(known)}.",
                remedy="A pattern fits several: postgres-* are all those on the way to PostgreSQL.",
            )


@dataclass
class AlertsSeen:
    """What the scenarios of one proof have raised, by fault.

    Parameters
    ----------
    scenario
        What it asks.
    rules
        The alerts that are looked at.
    """

    scenario: Scenario
    rules: Rules = ALERTS
    _raised: dict[str, list[frozenset[str]]] = field(default_factory=dict)

    def look(self, folder: Path, fault: str) -> CheckResult | None:
        """What is wrong with the alerts of a scenario; None where its file asks for nothing."""
        if not self.scenario.looks_at_alerts:
            return None
        lives = lives_in(folder / FOLDER)
        if not lives:
            said = f"no run of the scenario has left samples in {FOLDER}"
            return CheckResult("alerts", Verdict.UNKNOWN, problem=said, undecided=Undecided.CANNOT_TELL)
        scraped = Scraped(lives)
        looked = looked_at(scraped, minute=self.scenario.alerts.minute, rules=self.rules)
        self._raised.setdefault(fault, []).append(frozenset(one.alert.name for one in looked.raised))
        findings = tuple(self._wrong(scraped, looked, fault, lives[0][0].at))
        return CheckResult("alerts", Verdict.FAIL if findings else Verdict.PASS, findings, len(findings))

    def note(self) -> Iterator[Note]:
        """What was raised, fault by fault, for the report."""
        if not self._raised:
            return
        parts = []
        for fault, raised in self._raised.items():
            where = "without a fault" if fault == FAULT_FREE.fault else f"under {fault}"
            names = sorted(set().union(*raised))
            counted = [f"{name} in {sum(name in one for one in raised)} of {len(raised)}" for name in names]
            parts.append(f"{where} {', '.join(counted) or 'none'}")
        minute = format_duration(self.scenario.alerts.minute)
        yield Note(NoteCode.ALERTS, f"Alerts raised, with {minute} for a minute of their rules: {'; '.join(parts)}.")

    def _wrong(self, scraped: Scraped, looked: Looked, fault: str, begun: float) -> Iterator[Finding]:
        asked, of_events = self.scenario.alerts.asked_under(fault), self.scenario.alerts.without_fault
        is_faultless = fault == FAULT_FREE.fault
        must = of_events if is_faultless else asked
        if must is None:
            return
        names = [one.alert.name for one in looked.raised]
        for metric, alert in self.rules:
            if alert.name in must and alert.name not in names:
                yield self._not_raised(metric, alert, scraped, looked, fault, begun)
        told = set[str]()
        for one in looked.raised:
            if one.alert.name not in (*must, *of_events) and one.alert.name not in told:
                told.add(one.alert.name)
                yield _raised(one, scraped, fault, begun, faultless=is_faultless)

    def _not_raised(self, metric: Metric, alert: Alert, scraped: Scraped, looked: Looked, fault: str, begun: float) -> Finding:
        minute = self.scenario.alerts.minute
        wait, held = seconds_of(alert.holds_for(minute)), looked.longest.get(alert.name)
        lasting = f" for {wait:g} s" if wait else ""
        seen = values_of(metric, scraped, begun)
        under = "without a fault" if fault == FAULT_FREE.fault else f"under {fault}"
        return Finding(
            Code.NOT_RAISED,
            None,
            f"{alert.name} was not raised {under}",
            expected=f"{alert.condition(minute)}{lasting}",
            found=f"{seen}; the condition never held" if held is None else f"{seen}; the condition held for {held:.1f} s",
            how=f"{metric.full_name} is never set: nothing in the run told of it"
            if held is None and not _is_set(metric, scraped)
            else None,
        )


def _raised(one: Raised, scraped: Scraped, fault: str, begun: float, *, faultless: bool) -> Finding:
    labels = ", ".join(f'{name}="{value}"' for name, value in one.labels if name != "job_name")
    what = "without any fault" if faultless else f"under {fault}, which must not raise it"
    return Finding(
        Code.WITHOUT_FAULT if faultless else Code.OTHER,
        None,
        f"{one.alert.name} was raised {what}, {one.at - begun:.1f} s after the first sample",
        expected="no such alert",
        found=f"{values_of(one.metric, scraped, begun, one.labels)}; {{{labels}}} gave {one.value:g}",
        how=one.alert.todo,
    )


def _is_set(metric: Metric, scraped: Scraped) -> bool:
    return any(True for name in _series_names(metric) for _ in scraped.whole(name))


def _series_names(metric: Metric) -> Sequence[str]:
    return (metric.full_name, f"{metric.full_name}_sum", f"{metric.full_name}_count")


def values_of(metric: Metric, scraped: Scraped, begun: float, of: Labels = ()) -> str:
    """The values of a metric in words: of each series that has the labels `of` those that it took, with the seconds since `begun`."""
    said = []
    for name in _series_names(metric):
        for labels, samples in scraped.whole(name):
            if not {*of} <= {*labels}:
                continue
            shown = ", ".join(f'{key}="{value}"' for key, value in labels if key != "job_name")
            said.append(f"{name}{{{shown}}} {_course(samples, begun)}")
    return "; ".join(said[:_SHOWN]) if said else f"{metric.full_name} has no sample"


def _course(samples: Samples, begun: float) -> str:
    """The values that differ from the one before, the first and the last of them where there are many."""
    turns = [
        (at, value)
        for number, (at, value) in enumerate(zip(samples.times, samples.values, strict=True))
        if number == 0 or value != samples.values[number - 1]
    ]
    shown = [f"{value:g} at {at - begun:.1f} s" for at, value in turns]
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN // 2], "…", *shown[-(_SHOWN // 2) :]]
    return "was " + ", ".join(shown)
