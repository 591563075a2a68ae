"""Checkers: each looks at a history and says what is wrong with it.

A checker is a generator of findings. None: it passes. Any: it fails. It raises `CannotTell`, or crashes: unknown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from streamproof.core.verdict import Verdict

if TYPE_CHECKING:
    from streamproof.prove.artifacts.history import History, QueryView

KEPT = 20
"""How many findings of one checker are kept; the rest are counted."""

_MODULES = (
    "intake",
    "intent",
    "business_rule",
    "exactly_once",
    "account",
    "publication",
    "window_contents",
    "revisions",
    "newest_facts",
    "row_contents",
    "late_routing",
    "rejected_routing",
    "duplicate_routing",
    "side_routing",
    "table_versions",
    "watermark",
    "state_contents",
    "liveness",
    "pacing",
    "expectations",
)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Parameters
    ----------
    code
        What kind of thing it is, for programs: a member of the `Code` beside its checker, unique within that. The words are for people.
    event
        The trace or event id it is about; None where it is about none.
    what
        What is wrong with it, as the end of a sentence that begins with the event, or a whole one.
    batch
        The batch that it shows in.
    expected, found
        Both sides of the mismatch, in words.
    how
        How it came about, as far as the history shows it.
    key
        The window or key it is about, in words.
    called
        What people call the event, "trade t-003817"; the trace id where nobody has said.
    rounded
        Whether the two sides are apart by so little that rounding alone may be the cause.
    page
        The name of the page below docs/incidents that tells of the cause, where more is known of it than the code says.
    """

    code: str
    event: str | None
    what: str
    batch: int | None = None
    expected: str | None = None
    found: str | None = None
    how: str | None = None
    key: str | None = None
    called: str | None = None
    rounded: bool = False
    page: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As the report holds it."""
        return {
            "code": str(self.code),
            "what": f"{self.called or self.event} {self.what}" if self.event else self.what,
            "event": self.event,
            "batch": self.batch,
            "expected": self.expected,
            "found": self.found,
            "how": self.how,
            **({"rounded": True} if self.rounded else {}),
        }


class Undecided(StrEnum):
    """Why a check is unknown."""

    CANNOT_TELL = "cannot-tell"
    CHECKER_CRASHED = "checker-crashed"
    NOT_JUDGED = "history-not-judged"
    HARNESS_FAILED = "harness-failed"
    JVM_GONE = "jvm-gone"
    DISK_FULL = "disk-full"
    MACHINE = "machine"
    NOT_FIRED = "fault-not-fired"


class CannotTell(Exception):
    """The history does not hold what the checker needs; its verdict is unknown, with this text."""


@dataclass(frozen=True)
class CheckResult:
    """What one checker says: its verdict, the first findings, how many there were, and why it could not tell, in words and as a code."""

    name: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    total: int = 0
    problem: str | None = None
    undecided: Undecided = Undecided.CANNOT_TELL

    def as_dict(self) -> dict[str, Any]:
        """As the report holds it; what a checker could not tell is a finding without an event."""
        findings = [finding.as_dict() for finding in self.findings]
        if self.problem:
            findings.append(Finding(self.undecided, None, self.problem).as_dict())
        return {"name": self.name, "verdict": str(self.verdict), "total": self.total, "findings": findings}


def require_decided(view: "QueryView") -> None:
    """Raise CannotTell if different events share a key of the deduplication within one batch: which of them stays is not promised."""
    if view.model.ambiguous:
        key = ", ".join(str(part) for part in view.model.ambiguous[0])
        raise CannotTell(f"Different events share the key {key} in one batch of {view.name}; which of them stays is not promised.")


def require_read(view: "QueryView") -> None:
    """Raise CannotTell if the state of a query was not read."""
    state = view.left.state
    if state is None or state.unread:
        why = f": {state.unread}" if state is not None else ""
        raise CannotTell(f"The state of {view.name} was not read{why}.")


Check = Callable[["History"], Iterator[Finding]]
_REGISTRY: dict[str, Check] = {}


def checker(name: str) -> Callable[[Check], Check]:
    """Registers a checker under the name that results and reports show."""

    def register(check: Check) -> Check:
        _REGISTRY[name] = check
        return check

    return register


def registry() -> dict[str, Check]:
    """All checkers by name, in the order they are run and shown."""
    for module in _MODULES:
        import_module(f"{__name__}.{module}")
    places = {f"{__name__}.{module}": place for place, module in enumerate(_MODULES)}
    return dict(sorted(_REGISTRY.items(), key=lambda entry: places.get(entry[1].__module__, len(places))))


def run_checkers(history: "History") -> list[CheckResult]:
    """What every checker says; one that crashes is unknown and does not stop the others."""
    return [run_checker(name, check, history) for name, check in registry().items()]


class Readings(Protocol):
    """What a check looks at, as far as all checks are alike: whether one query may be in it several times, each time read otherwise."""

    @property
    def read_again(self) -> bool: ...


Seen = TypeVar("Seen", bound=Readings)


def run_checker(name: str, check: Callable[[Seen], Iterator[Finding]], history: Seen) -> CheckResult:
    """What one checker says: fail if it found anything, else unknown if it could not finish, else pass.

    What is found in several readings of one query alike is one finding.
    """
    findings: list[Finding] = []
    known: set[Finding] = set()
    total, problem, undecided = 0, None, Undecided.CANNOT_TELL
    try:
        for finding in check(history):
            if history.read_again and finding in known:
                continue
            known.add(finding)
            total += 1
            if len(findings) < KEPT:
                findings.append(finding)
    except CannotTell as reason:
        problem = str(reason)
    except Exception as error:  # noqa: BLE001  # whatever breaks in a checker, the others must still be heard
        problem, undecided = f"the checker crashed: {type(error).__name__}: {error}", Undecided.CHECKER_CRASHED
    verdict = Verdict.FAIL if findings else Verdict.UNKNOWN if problem else Verdict.PASS
    return CheckResult(name, verdict, tuple(findings), total, problem, undecided)
