"""From a scenario's disk to its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from streamproof.core.verdict import Verdict, worst
from streamproof.errors import ScenarioError, StreamproofError
from streamproof.prove.artifacts.comparing import PublishedRows
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.faults.on_files import NotMet
from streamproof.prove.plan.planning import ScenarioPlan, in_words
from streamproof.prove.subjects.subject import Subject


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
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of the checks; a fault that did not fire makes a pass unknown (P5)."""
        verdict = worst(check.verdict for check in self.checks)
        return verdict if self.fired or verdict is Verdict.FAIL else Verdict.UNKNOWN

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
        found = subject.judge(folder, power_failure=plan.fault == "machine-death", rerun=rerun, keep_rows=plan.compared)
    except ScenarioError:
        raise  # nothing the job did: the scenario's own model
    except (StreamproofError, OSError) as problem:
        checks = [CheckResult("history", Verdict.FAIL, (Finding(None, f"what the run left behind cannot be read: {problem}"),), 1)]
        return Outcome(plan, fired, checks, seconds)
    except Exception as problem:  # noqa: BLE001  # a crashed reader or model is unknown, as a crashed checker is (P6)
        checks = [
            CheckResult("history", Verdict.UNKNOWN, (), 0, f"the history could not be judged: {type(problem).__name__}: {problem}")
        ]
        return Outcome(plan, fired, checks, seconds)
    named = [_called(subject, check) for check in found.checks]
    batches = [dict(batch) for batch in found.batches]
    return Outcome(plan, fired, named, seconds, dict(found.account), batches, found.evidence, found.published)


def stopped(plan: ScenarioPlan, message: str, remedy: str, *, fired: bool, seconds: float) -> Outcome:
    """The job did not come back: a failure of liveness."""
    finding = Finding(None, f"the job did not recover: {message}", expected="it recovers by itself", found=remedy or "it stops")
    return Outcome(plan, fired, [CheckResult("recovery", Verdict.FAIL, (finding,), 1)], seconds)


def not_met(plan: ScenarioPlan, why: NotMet, seconds: float) -> Outcome:
    """The job did not do what it must under a fault."""
    finding = Finding(None, why.what, expected=why.expected, found=why.found)
    return Outcome(plan, True, [CheckResult("recovery", Verdict.FAIL, (finding,), 1)], seconds)


def broken(plan: ScenarioPlan, message: str, seconds: float) -> Outcome:
    """The harness itself failed: unknown."""
    return Outcome(plan, False, [CheckResult("harness", Verdict.UNKNOWN, (), 0, message)], seconds)


def _called(subject: Subject, check: CheckResult) -> CheckResult:
    """The same with every event by the name that people know it by."""
    named = [replace(finding, called=subject.called(finding.event)) if finding.event else finding for finding in check.findings]
    return replace(check, findings=tuple(named))


_PAGES = (
    ("exactly-once", "was published", "appends-on-replay"),
    ("exactly-once", "is counted", "state-outside-the-checkpoint"),
    ("exactly-once", "is lost", "marked-done-before-durable"),
    ("pacing", "", "retry-storm"),
    ("late-routing", "", "late-bound-of-its-own"),
    ("expectations", "another time", "processing-time-for-business-time"),
    ("expectations", "is late", "zero-watermark-delay"),
)
"""The page to read on: checker, words of the finding, name below docs/incidents; the first that fits."""

_PAGES_OF_CRASHES = (("window-contents", "the value is another", "state-outside-the-checkpoint"),)
"""The same for what is right as long as nothing crashes: the values that a batch gives when it runs again are others."""


_PAGES_OF_FAULTS = {"two-drivers": "two-drivers"}
"""The same by the fault of the scenario: it is the cause where the run without it is sound."""


def _read_on(checks: Sequence[CheckResult], fault: str) -> str | None:
    """The page that names the cause; `fault` is that of a scenario without which the job is sound, else empty."""
    failing = {check.name: check.findings for check in checks if check.verdict is Verdict.FAIL}
    if failing and fault in _PAGES_OF_FAULTS:
        return f"docs/incidents/{_PAGES_OF_FAULTS[fault]}.md"
    for name, said, page in (*_PAGES, *(_PAGES_OF_CRASHES if fault else ())):
        if any(said in f"{finding.what} {finding.how or ''}" for finding in failing.get(name, ())[:1]):
            return f"docs/incidents/{page}.md"
    return None
