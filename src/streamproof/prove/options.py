"""What to prove and how much of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.exactly import Exactly


@dataclass(frozen=True)
class Selection:
    """Which plan it is, and which of its scenarios: by id or glob (`only`), or these ids alone."""

    only: str | None = None
    ids: tuple[str, ...] = ()
    full: bool = False
    quick: bool = False
    brief: bool = False
    """Of a quick plan one crash in each phase."""

    def __post_init__(self) -> None:
        if self.quick and self.full:
            raise ScenarioError(
                "A quick plan and the full plan at once.",
                required="They exclude each other: --quick takes one crash for each kind of step, --full adds to the standard plan.",
                remedy="Leave one of them out.",
            )


@dataclass(frozen=True)
class Limits:
    """What cuts the plan short: a number of scenarios, a time, the first failure."""

    scenarios: int | None = None
    time: timedelta | None = None
    first_failure: bool = False


@dataclass(frozen=True)
class Amount:
    """Which events are made, where they are others than the scenario says: their seed, how many, in how many batches, or each one written out."""

    seed: int | None = None
    events: int | None = None
    batches: int | None = None
    exactly: Exactly | None = None

    def __post_init__(self) -> None:
        if self.exactly is not None and (self.events, self.batches) != (None, None):
            raise ScenarioError(
                "Events are written out one by one, and their number or their batches are given beside.",
                required="The events say in which batches they come.",
                remedy="Leave --events and --batches out.",
            )


@dataclass(frozen=True)
class Surroundings:
    """What the job meets beside its events: hosts that it may reach, how many brokers, by name the URLs of services that run already."""

    allowed_hosts: tuple[str, ...] = ()
    brokers: int = 1
    services: Mapping[str, str] = field(default_factory=dict)
    child_python_path: str | None = None


@dataclass(frozen=True)
class Options:
    """What to prove and how much of it; see `streamproof.prove`."""

    target: str
    profile: str | None = None
    amount: Amount = field(default_factory=Amount)
    selection: Selection = field(default_factory=Selection)
    limits: Limits = field(default_factory=Limits)
    surroundings: Surroundings = field(default_factory=Surroundings)
    words: tuple[str, ...] = ()
    """What a replay must say beside, such as the samples of a job that was not written for us."""
