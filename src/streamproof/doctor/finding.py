"""What the doctor finds: a mistake at a place, how grave it is, how it was seen, and what mends it."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from streamproof.core.paths import display


class Severity(StrEnum):
    """How grave a finding is; the gravest first.

    `stop`: events are lost or counted twice, or the job stops, sooner or later. `warn`: it goes wrong under load, with time, or in an outage.
    `note`: worth knowing, and right in many jobs.
    """

    STOP = "stop"
    WARN = "warn"
    NOTE = "note"


class Code(StrEnum):
    """What a finding is called by programs."""

    BLOCKING_LOOKUP = "blocking-lookup"
    CHECKPOINT_CHANGES = "checkpoint-changes"
    CHECKPOINT_DELETED = "checkpoint-deleted"
    CHECKPOINT_MISSING = "checkpoint-missing"
    CHECKPOINT_SHARED = "checkpoint-shared"
    CLOCK_SKEW = "clock-skew"
    DATA_LOSS_IGNORED = "data-loss-ignored"
    FEW_KEYS = "few-keys"
    LOCAL_CHECKPOINT = "local-checkpoint"
    MARKED_DONE_FIRST = "marked-done-first"
    MISSED_TRIGGER = "missed-trigger"
    NO_WATERMARK = "no-watermark"
    NOT_IDEMPOTENT = "not-idempotent"
    PARTIAL_READ = "partial-read"
    PARTITIONS = "partitions"
    RETRY_STORM = "retry-storm"
    SHORT_RETENTION = "short-retention"
    SMALL_FILES = "small-files"
    STALE_TABLE = "stale-table"
    STATE_IN_MEMORY = "state-in-memory"
    STATE_OUTSIDE = "state-outside"
    TIMER_IN_THE_PAST = "timer-in-the-past"
    UNBOUNDED_STATE = "unbounded-state"
    WALL_CLOCK = "wall-clock"
    ZERO_DELAY = "zero-delay"


@dataclass(frozen=True)
class Place:
    """Where a finding is.

    Parameters
    ----------
    path
        A file of the job, or the folder of a checkpoint or of data.
    line
        Its line, from 1; 0 where the place has none.
    key
        Of a configuration file the key, "[source.trades] event_time.lag".
    """

    path: Path
    line: int = 0
    key: str = ""

    def __str__(self) -> str:
        return f"{display(self.path)}{f':{self.line}' if self.line else ''}{f' {self.key}' if self.key else ''}"


@dataclass(frozen=True)
class Symptom:
    """One sign of a mistake, as a way of looking finds it.

    Parameters
    ----------
    what
        What is wrong, as a whole sentence.
    remedy
        What to write or do.
    evidence
        How it was seen: what stands in the text, or the numbers of a checkpoint.
    """

    severity: Severity
    what: str
    where: Place
    remedy: str
    evidence: str


@dataclass(frozen=True)
class Finding:
    """A symptom with the mistake that it is a sign of, and why that matters."""

    code: Code
    symptom: Symptom
    why: str

    @property
    def severity(self) -> Severity:
        return self.symptom.severity

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        symptom = self.symptom
        return {
            "code": str(self.code),
            "severity": str(symptom.severity),
            "what": symptom.what,
            "file": display(symptom.where.path),
            "line": symptom.where.line or None,
            "key": symptom.where.key or None,
            "why": self.why,
            "remedy": symptom.remedy,
            "evidence": symptom.evidence,
        }
