"""What to prove and how much of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamproof.errors import ScenarioError


@dataclass(frozen=True)
class Options:
    """What to prove and how much of it; see `streamproof.prove`."""

    target: str
    seed: int | None = None
    only: str | None = None
    full: bool = False
    quick: bool = False
    max_scenarios: int | None = None
    time_budget: timedelta | None = None
    stop_at_first: bool = False
    events: int | None = None
    batches: int | None = None
    ids: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    brokers: int = 1
    services: Mapping[str, str] = field(default_factory=dict)
    child_python_path: str | None = None
    profile: str | None = None
    brief: bool = False
    """Of a quick plan one crash in each phase."""
    words: tuple[str, ...] = ()
    """What a replay must say beside, such as the samples of a job that was not written for us."""

    def __post_init__(self) -> None:
        if self.quick and self.full:
            raise ScenarioError(
                "A quick plan and the full plan at once.",
                required="They exclude each other: --quick takes one crash for each kind of step, --full adds to the standard plan.",
                remedy="Leave one of them out.",
            )
