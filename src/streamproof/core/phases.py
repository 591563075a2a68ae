"""The named phases of a batch and the names of durable steps, used by fault points, metrics, reports and documentation alike."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """The five phases of a micro-batch, with what lies before the first one and beside them."""

    START = "start"
    PLAN = "plan"
    WORK = "work"
    STAGE = "stage"
    PUBLISH = "publish"
    COMMIT = "commit"
    MAINTENANCE = "maintenance"


class Side(StrEnum):
    """The crash comes before the step became durable, or after."""

    BEFORE = "before"
    AFTER = "after"


_STEP = re.compile(
    r"^(?:(?P<query>[^:/]+):)?(?P<phase>start|plan|work|stage|publish|commit|maintenance)/(?P<kind>[^@#:]+)(?:#(?P<number>\d+))?"
    r"@(?P<batch>\d+):(?P<side>before|after)$"
)


def may_name_steps(pattern: str) -> bool:
    """Whether a scenario's id or a glob can be of any job's plan, as far as can be said without its steps."""
    head, slash, _ = pattern.partition("/")
    if any(sign in head for sign in "*?["):
        return True  # it may reach over a query's name and the signs after it
    if not slash:
        return pattern == "fault-free"
    return head.rpartition(":")[2] in list(Phase)


@dataclass(frozen=True, order=True)
class StepName:
    """`[query:]phase/kind[.operator][.partition][#k]@batch:before|after`, for example `work/state.0.1@3:after`."""

    phase: Phase
    kind: str
    batch: int
    side: Side
    number: int = 1
    query: str | None = None

    def __str__(self) -> str:
        prefix = f"{self.query}:" if self.query else ""
        number = f"#{self.number}" if self.number > 1 else ""
        return f"{prefix}{self.phase}/{self.kind}{number}@{self.batch}:{self.side}"

    @classmethod
    def parse(cls, text: str) -> "StepName":
        """The step that `text` names.

        Raises
        ------
        ValueError
            If the text is not a step name.
        """
        found = _STEP.match(text)
        if found is None:
            raise ValueError(f'"{text}" is not a step; a step looks like publish/exposure@3:after or work/state.0.1@3:before')
        return cls(
            phase=Phase(found["phase"]),
            kind=found["kind"],
            batch=int(found["batch"]),
            side=Side(found["side"]),
            number=int(found["number"] or 1),
            query=found["query"],
        )
