"""From a scenario's disk to its verdict."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.notes import Note
from streamproof.core.verdict import Verdict, worst
from streamproof.errors import ScenarioError, StreamproofError
from streamproof.prove.artifacts.comparing import PublishedRows
from streamproof.prove.checkers import (
    CheckResult,
    Finding,
    Undecided,
    exactly_once,
    expectations,
    pacing,
    side_rows,
    window_contents,
)
from streamproof.prove.faults.on_files import NotMet
from streamproof.prove.plan.planning import ScenarioPlan, in_words
from streamproof.prove.process import machine
from streamproof.prove.process.machine import MachineDid
from streamproof.prove.subjects.subject import Judged, Subject

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult

UNREADABLE = "unreadable"
"""The code of a history that the system cannot read."""


class Code(StrEnum):
    """How a live crash and its image disagree."""

    OTHER_END = "other-end"
    OTHER_ROWS = "other-rows"


@dataclass(frozen=True)
class Outcome:
    """What became of a scenario: whether its fault fired, what the checkers say, the account found, and its batches.

    `evidence`, what the subject has read, is kept of the fault-free run alone; `published` (what the rows sum up to) where two scenarios
    are compared.
    """

    plan: ScenarioPlan
    fired: bool
    checks: Sequence[CheckResult]
    seconds: float
    account: dict[str, int] = field(default_factory=dict)
    batches: list[dict[str, Any]] = field(default_factory=list)
    evidence: Any = None
    published: PublishedRows | None = None
    notes: tuple[Note, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of the checks; a fault that did not fire makes a pass unknown (P5)."""
        verdict = worst(check.verdict for check in self.checks)
        return verdict if self.fired or verdict is Verdict.FAIL else Verdict.UNKNOWN

    @property
    def points(self) -> tuple[str, ...]:
        """The crash points that the verdict is of: the step, and those that leave the same disk."""
        step, image = self.plan.step, self.plan.image
        same = image.names if self.fired and image is not None and self.plan.recording == "default" else ()
        return tuple(dict.fromkeys((*same, *([str(step)] if step is not None else []))))

    @property
    def says(self) -> str:
        """The first thing that is wrong, in words; empty where nothing is."""
        for check in self.checks:
            if check.verdict is not Verdict.PASS:
                said = [finding["what"] for finding in check.as_dict()["findings"]]
                return f"{check.name}: {said[0]}" if said else check.name
        return "" if self.fired else "its fault did not fire"

    def as_dict(self, replay: str, *, sound_without_fault: bool) -> dict[str, Any]:
        """As the report holds it. With `sound_without_fault` the run without a fault is right, so the crash is the cause."""
        step = self.plan.step
        return {
            "id": self.plan.id,
            "fault": self.plan.fault,
            "phase": str(step.phase) if step else "",
            "batch": step.batch if step else 0,
            "step": str(step) if step else "",
            "mode": str(self.plan.mode.value) if self.plan.mode.value != "kill" else "live",
            "fired": self.fired,
            "verdict": str(self.verdict),
            "seconds": round(self.seconds, 3),
            "checks": [check.as_dict() for check in self.checks],
            "replay": replay,
            "crash": in_words(self.plan),
            "account": self.account,
            "batches": self.batches,
            "read_on": _read_on(self.checks, self.plan.fault if sound_without_fault and step is not None else ""),
        }


def judged(
    subject: Subject, plan: ScenarioPlan, folder: Path, *, fired: bool, seconds: float, rerun: Sequence[int] = ()
) -> Outcome:
    """Reads what the scenario left behind and lets every checker look at it."""
    try:
        found = _looked_at(subject, plan, folder, rerun)
        alerts = subject.alerts(folder, plan.fault) if fired else ()
    except MachineDid as did:
        return broken(plan, Undecided.MACHINE, f"what the run left behind could not be looked at: {did}", seconds)
    except ScenarioError:
        raise  # nothing the job did: the scenario's own model
    except (StreamproofError, OSError) as problem:
        code = problem.code if isinstance(problem, StreamproofError) else UNREADABLE
        finding = Finding(code, None, f"what the run left behind cannot be read: {problem}")
        checks = [CheckResult("history", Verdict.FAIL, (finding,), 1)]
        return Outcome(plan, fired, checks, seconds)
    except Exception as problem:  # noqa: BLE001  # a crashed reader or model is unknown, as a crashed checker is (P6)
        why = f"the history could not be judged: {type(problem).__name__}: {problem}"
        checks = [CheckResult("history", Verdict.UNKNOWN, (), 0, why, Undecided.NOT_JUDGED)]
        return Outcome(plan, fired, checks, seconds)
    named = [_called(subject, check) for check in (*found.checks, *alerts)]
    batches = [dict(batch) for batch in found.batches]
    return Outcome(plan, fired, named, seconds, dict(found.account), batches, found.evidence, found.published)


def _looked_at(subject: Subject, plan: ScenarioPlan, folder: Path, rerun: Sequence[int]) -> Judged:
    """What the subject says of the disk; MachineDid where the machine did not let it look, twice."""
    for last in (False, True):
        try:
            return subject.judge(folder, power_failure=plan.fault == "machine-death", rerun=rerun, keep_rows=plan.compared)
        except MachineDid:
            if last:
                raise
        except Exception as problem:
            did = machine.did(problem)
            if did is None:
                raise
            if last:
                raise MachineDid(machine.MACHINE, did) from problem
    raise AssertionError("the last attempt returns or raises")


def stopped(plan: ScenarioPlan, result: "ChildResult", *, fired: bool, seconds: float) -> Outcome:
    """The job did not come back: a failure of liveness, whose code is that of what stopped it."""
    what, found = f"the job did not recover: {result.message}", result.remedy or "it stops"
    finding = Finding(result.code, None, what, expected="it recovers by itself", found=found)
    return Outcome(plan, fired, [CheckResult("recovery", Verdict.FAIL, (finding,), 1)], seconds)


def not_met(plan: ScenarioPlan, why: NotMet, seconds: float) -> Outcome:
    """The job did not do what it must under a fault."""
    finding = Finding(why.code, None, why.what, expected=why.expected, found=why.found)
    return Outcome(plan, True, [CheckResult("recovery", Verdict.FAIL, (finding,), 1)], seconds)


def broken(plan: ScenarioPlan, why: Undecided, message: str, seconds: float) -> Outcome:
    """The harness itself failed: unknown."""
    return Outcome(plan, False, [CheckResult("harness", Verdict.UNKNOWN, (), 0, message, why)], seconds)


def _called(subject: Subject, check: CheckResult) -> CheckResult:
    """The same with every event by the name that people know it by."""
    named = [replace(finding, called=subject.called(finding.event)) if finding.event else finding for finding in check.findings]
    return replace(check, findings=tuple(named))


def agreement(live: Outcome, image: Outcome) -> CheckResult:
    """A live crash and the image of the same step must come to the same end (R16): verdict, account, and published rows."""
    same_end = (live.verdict, live.account) == (image.verdict, image.account)
    if same_end and (live.published == image.published or (live.published and live.published.agrees_with(image.published))):
        return CheckResult("agreement", Verdict.PASS)
    what = "the live crash and the image of the same step disagree"
    if same_end:
        what += " in the rows that are published"
    code = Code.OTHER_ROWS if same_end else Code.OTHER_END
    finding = Finding(code, None, what, None, f"image: {image.verdict}, {image.account}", f"live: {live.verdict}, {live.account}")
    return CheckResult("agreement", Verdict.FAIL, (finding,), 1)


_CHECKPOINTS = ("checkpoint-changes", "checkpoint-missing", "checkpoint-deleted", "checkpoint-shared")
"""Codes of plain PySpark jobs; each has a page of that name."""
_PAGES: Sequence[tuple[str, Collection[str], str]] = (
    *(("intake", {code}, code) for code in _CHECKPOINTS),
    ("exactly-once", {exactly_once.Code.PUBLISHED_AGAIN}, "appends-on-replay"),
    ("exactly-once", {exactly_once.Code.COUNTED_AGAIN, exactly_once.Code.COUNTED_WRONGLY}, "state-outside-the-checkpoint"),
    ("pacing", frozenset(pacing.Code), "retry-storm"),
    ("late-routing", frozenset(side_rows.Code), "late-bound-of-its-own"),
    ("expectations", {expectations.Code.OTHER_TIME}, "processing-time-for-business-time"),
    ("expectations", {expectations.Code.TOO_MANY_LATE}, "zero-watermark-delay"),
    ("expectations", {expectations.Code.TABLE_BEHIND}, "rules-read-once"),
    ("late-rows", {"dropped-as-late"}, "zero-watermark-delay"),
)
"""The page to read on: checker, codes of its finding, name below docs/incidents; the first that fits."""

_PAGES_OF_CRASHES = (
    ("window-contents", {window_contents.Code.OTHER_VALUE}, "state-outside-the-checkpoint"),
    ("exactly-once", {exactly_once.Code.LOST}, "marked-done-before-durable"),
)
"""The same for what is right as long as nothing crashes: the values that a batch gives when it runs again are others, or its rows never come."""
_PAGES_WITHOUT_FAULT = (("exactly-once", {exactly_once.Code.LOST}, "partial-read"),)
"""The same for what is wrong without a fault too: rows that were never read were not lost by a crash."""


_PAGES_OF_FAULTS = {"two-drivers": "two-drivers"}
"""The same by the fault of the scenario: it is the cause where the run without it is sound."""


def _read_on(checks: Sequence[CheckResult], fault: str) -> str | None:
    """The page that names the cause; `fault` is that of a scenario without which the job is sound, else empty."""
    failing = {check.name: check.findings for check in checks if check.verdict is Verdict.FAIL}
    if failing and fault in _PAGES_OF_FAULTS:
        return f"docs/incidents/{_PAGES_OF_FAULTS[fault]}.md"
    known = next((findings[0].page for findings in failing.values() if findings and findings[0].page), "")
    if known:
        return f"docs/incidents/{known}.md"
    for name, codes, page in (*_PAGES, *(_PAGES_OF_CRASHES if fault else _PAGES_WITHOUT_FAULT)):
        if any(finding.code in codes for finding in failing.get(name, ())[:1]):
            return f"docs/incidents/{page}.md"
    return None
